// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Mutants that break a rule about memory. */
final class MemoryMutants {
    static final List<Mutant> ALL =
            List.of(Mutant.of("MEM-002", "a host write loses its last byte", () -> new Mutation() {
                @Override
                void write(DeviceDriver device, DeviceMemory destination, long offset, MemorySegment source) {
                    device.write(destination, offset, source.asSlice(0, source.byteSize() - 1));
                }
            }));

    private MemoryMutants() {}
}
