// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.spi.input.PciAddress;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NamesAndNumbersTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "0000:0c:00.0",
                "0c:00.0",
                "0000:0c:00",
                "0C:00.0",
                "00000000:0C:00.0",
                "0000_0c_00_0",
                " 0000:0c:00.0 "
            })
    void anAddressIsReadInEverySpelling(String text) {
        assertEquals("0000:0c:00.0", PciAddress.parse(text).orElseThrow().toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "GPU0",
                "0000:0c",
                "0000:0g:00.0",
                "0000:0c:20.0",
                "0000:0c:00.8",
                "0000:0c:00.0.0",
                "ffffffff:00:00.0"
            })
    void whatIsNoAddressIsNotTakenForOne(String text) {
        assertTrue(PciAddress.parse(text).isEmpty(), text);
    }

    @Test
    void anAddressSurvivesEveryNumberAndBack() {
        long seed = 20261129;
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        for (int i = 0; i < 1000; i++) {
            PciAddress address =
                    new PciAddress(random.nextInt(0x10000), random.nextInt(256), random.nextInt(32), random.nextInt(8));
            assertEquals(address, PciAddress.ofLocation(address.domain(), address.location()));
            assertEquals(address, Bdf.ofBdfId(Bdf.bdfId(address)));
            assertEquals(address, Bdf.ofRcclBusId(Bdf.rcclBusId(address)));
            assertEquals(address, PciAddress.parse(address.toString()).orElseThrow());
        }
    }

    @Test
    void realLocationsAreRead() {
        assertEquals("0000:47:00.0", PciAddress.ofLocation(0, 18176).toString());
        assertEquals("0000:65:00.0", PciAddress.ofLocation(0, 25856).toString());
        assertEquals("0000:c1:00.0", Bdf.ofRcclBusId(0xc1000).toString());
    }

    @Test
    void theSameWordHasAnotherNumberInEveryInterface() {
        assertEquals(11, KfdLinkType.XGMI.value());
        assertEquals(4, HsaLinkType.XGMI.value());
        assertEquals(2, RsmiLinkType.XGMI.value());
        assertEquals(2, AmdSmiIoLinkType.XGMI.value());
        assertEquals(1, AmdSmiLinkType.XGMI.value());
        assertEquals(2, KfdLinkType.PCIE.value());
        assertEquals(2, HsaLinkType.PCIE.value());
        assertEquals(1, RsmiLinkType.PCIE.value());
        assertEquals(1, AmdSmiIoLinkType.PCIE.value());
        assertEquals(2, AmdSmiLinkType.PCIE.value());
    }

    @Test
    void aNumberMeansWhatItsInterfaceSays() {
        // The two enums of AMD SMI swap these: mixing them once made xGMI PCIe.
        assertEquals(LinkClass.XGMI, AmdSmiIoLinkType.of(2).linkClass());
        assertEquals(LinkClass.PCIE, AmdSmiLinkType.of(2).linkClass());
        assertEquals(LinkClass.XGMI, AmdSmiLinkType.of(1).linkClass());
        assertEquals(LinkClass.PCIE, AmdSmiIoLinkType.of(1).linkClass());
        assertEquals(LinkClass.XGMI, KfdLinkType.of(11).linkClass());
        assertEquals(LinkClass.PCIE, KfdLinkType.of(2).linkClass());
        assertNull(KfdLinkType.of(99));
        assertNull(HsaLinkType.of(-1));
        assertNull(RsmiLinkType.of(3));
    }

    @ParameterizedTest
    @CsvSource({"90402, gfx942", "90500, gfx950", "90010, gfx90a", "90008, gfx908", "100300, gfx1030", "0, ''"})
    void kfdsNumberNamesTheArchitecture(long version, String name) {
        assertEquals(name, Chip.ofTargetVersion(version));
    }

    @ParameterizedTest
    @CsvSource({
        "906, gfx906",
        "908, gfx908",
        "910, gfx90a",
        "940, gfx942",
        "gfx942:sramecc+:xnack-, gfx942",
        "gfx950, gfx950",
        "'', ''"
    })
    void rcclsGcnNamesTheArchitectureInOldAndNewFiles(String gcn, String name) {
        assertEquals(name, Chip.ofGcn(gcn));
    }
}
