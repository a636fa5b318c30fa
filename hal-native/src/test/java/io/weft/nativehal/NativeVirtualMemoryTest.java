// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NativeVirtualMemoryTest {
    @ParameterizedTest
    @CsvSource({
        "2, 1, 2",
        "2, 16, 2",
        "2, 24, 2",
        "2, 80, 8",
        "2, 141, 16",
        "512, 141, 512",
    })
    void aDevicesMemoryHasNoMorePagesThanAreMappedInASecond(long granularityMiB, long memoryGiB, long pageMiB) {
        assertEquals(pageMiB << 20, NativeVirtualMemory.pageBytes(granularityMiB << 20, memoryGiB << 30));
    }
}
