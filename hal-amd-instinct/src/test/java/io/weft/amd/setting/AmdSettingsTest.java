// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.setting;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.amd.Nodes;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.api.PlatformUri;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AmdSettingsTest {
    private static AmdSettings of(String uri, Map<String, String> environment) {
        return AmdSettings.of(PlatformUri.parse(uri), environment::get);
    }

    @Test
    void theProcessesVariablesCountOnlyWhenTheyAreAskedFor() {
        Map<String, String> environment = Map.of("HSA_ENABLE_SDMA", "0", "NCCL_PROTO", "LL");
        assertTrue(of("amd:mi300x-8", environment).values().isEmpty());
        AmdSettings inherited = of("amd:mi300x-8?environment=inherit&NCCL_PROTO=Simple", environment);
        assertTrue(inherited.isOff(Setting.HSA_ENABLE_SDMA));
        assertEquals("Simple", inherited.values().get(Setting.NCCL_PROTO));
    }

    @Test
    void whatIsSetStandsAmongThePlatformsVersions() {
        try (Platform platform = Nodes.open("amd:mi300x-8?mode=timing&GPU_MAX_HW_QUEUES=2")) {
            assertEquals("2", platform.properties().versions().get("GPU_MAX_HW_QUEUES"));
            assertEquals(2, platform.device(0).properties().hardwareQueues());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HSA_ENABLE_SDMA=off|HSA_ENABLE_SDMA is 'off'; it must be 0 or 1",
                "GPU_MAX_HW_QUEUES=0|from 1 to 256",
                "ROC_P2P_SDMA_SIZE=1M|a whole number from 0",
                "sdma-engines=65|from 0 to 64",
                "environment=all|inherit or ignore",
                "NCCL_ALGO=Ring,,Tree|names with commas",
                "NCCL_ALGO=Tango|it must name some of ring, tree, direct",
                "NCCL_PROTO=^LL,LL128,Simple|leave no way on mi300x-8",
                "NCCL_MIN_NCHANNELS=32&NCCL_MAX_NCHANNELS=8|give fewer as the least",
                "NCCL_DEBUGGING=1|there is no option 'NCCL_DEBUGGING'; known are mode=functional|timing"
            })
    void aBadSettingGetsOneLineThatSaysWhatIsAccepted(String text) {
        int bar = text.indexOf('|');
        String option = text.substring(0, bar);
        Nodes.refused(
                ErrorCode.INVALID_ARGUMENT,
                () -> Nodes.open("amd:mi300x-8?" + option).close(),
                text.substring(bar + 1));
    }
}
