// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.Buffer;
import io.weft.api.Device;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;
import io.weft.spi.DeviceMemory;
import io.weft.spi.SymmetricMemoryDriver;
import java.util.List;

/** Proofs of the rules about symmetric memory. */
final class SymmetricMemoryProofs {
    @Proves("SYM-001")
    void everyDeviceGetsAnAllocation(Bench bench) {
        SymmetricMemoryDriver symmetric = bench.extension(SymmetricMemoryDriver.class);
        long bytes = symmetric.windowAlignment();
        List<Device> devices = bench.platform().devices();
        List<? extends DeviceMemory> memories =
                symmetric.reserve(devices.stream().map(Device::driver).toList(), bytes);
        bench.equal("the number of allocations", devices.size(), memories.size());
        for (int i = 0; i < devices.size(); i++) {
            Device device = devices.get(i);
            DeviceMemory memory = memories.get(i);
            bench.closing(
                    "a window",
                    device.adopt(memory, (Buffer closed) -> device.driver().free(memory)));
            bench.equal("the size on " + device, bytes, memory.bytes());
        }
    }
}
