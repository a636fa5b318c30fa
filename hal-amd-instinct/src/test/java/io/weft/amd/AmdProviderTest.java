// SPDX-License-Identifier: Apache-2.0
package io.weft.amd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.weft.api.AcceleratorException;
import io.weft.api.Accelerators;
import io.weft.api.ErrorCode;
import io.weft.api.ProviderVerdict;
import org.junit.jupiter.api.Test;

class AmdProviderTest {
    @Test
    void discoveryFindsTheProviderAndNeedsNoHardwareForIt() {
        ProviderVerdict verdict = Accelerators.discover().verdicts().stream()
                .filter(candidate -> candidate.id().equals("amd"))
                .findFirst()
                .orElseThrow();
        assertEquals(ProviderVerdict.State.LOADED, verdict.state(), verdict.detail());
    }

    @Test
    void anUnknownMachineIsRefusedByName() {
        AcceleratorException refusal = assertThrows(
                AcceleratorException.class, () -> Accelerators.discover().open("amd:no-such-machine"));
        assertEquals(ErrorCode.NOT_FOUND, refusal.code());
    }
}
