// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.hip;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.weft.api.Platform;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Both layouts of a device's properties, by offsets. */
class HipPropertiesTest {
    private static void put(MemorySegment out, long at, int value) {
        out.set(ValueLayout.JAVA_INT, at, value);
    }

    @Test
    void theLayoutOfHip6IsReadByItsOffsets() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(HipProperties.R0600_BYTES, 8);
            out.setString(0, "AMD Instinct MI300X");
            out.set(ValueLayout.JAVA_LONG, 288, 192L << 30);
            put(out, 348, 2_100_000);
            put(out, 608, 1_300_000);
            put(out, 612, 8192);
            put(out, 388, 304);
            put(out, 616, 4 << 20);
            put(out, 584, 0x0c);
            put(out, 588, 1);
            put(out, 592, 2);
            put(out, 580, 1);
            out.setString(1160, "gfx942:sramecc+:xnack-");
            HipProperties read = HipProperties.ofR0600(out);
            assertEquals(
                    new HipProperties(
                            "AMD Instinct MI300X",
                            192L << 30,
                            2_100_000,
                            1_300_000,
                            8192,
                            304,
                            4 << 20,
                            "gfx942:sramecc+:xnack-",
                            2,
                            0x0c,
                            1,
                            true),
                    read);
            assertEquals("gfx942", read.architecture());
        }
    }

    @Test
    void theOlderLayoutIsReadByItsOwn() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(HipProperties.R0000_BYTES, 8);
            out.setString(0, "AMD Instinct MI210");
            out.set(ValueLayout.JAVA_LONG, 256, 64L << 30);
            put(out, 308, 1_700_000);
            put(out, 312, 1_600_000);
            put(out, 316, 4096);
            put(out, 336, 104);
            put(out, 340, 8 << 20);
            put(out, 364, 0);
            put(out, 368, 0x83);
            put(out, 372, 0);
            put(out, 740, 1);
            out.setString(396, "gfx90a");
            HipProperties read = HipProperties.ofR0000(out);
            assertEquals(104, read.computeUnits());
            assertEquals(64L << 30, read.memoryBytes());
            assertEquals("gfx90a", read.architecture());
            assertEquals(0x83, read.bus());
        }
    }

    /** The trap: by its plain name the function fills the older layout in every version, so a newer one is asked by the new name. */
    @ParameterizedTest
    @CsvSource({"5", "6"})
    void eachGenerationIsAskedByTheNameThatFitsItsLayout(int major) {
        try (Platform platform = HipStandIn.of(major, "generation").open()) {
            assertEquals(
                    "AMD Instinct stand-in", platform.device(1).properties().name());
            assertEquals(4, platform.device(1).properties().computeUnits());
            assertEquals(4096L << 20, platform.device(1).properties().memoryBytes());
            assertEquals("gfx942", platform.device(1).properties().architecture());
        }
    }
}
