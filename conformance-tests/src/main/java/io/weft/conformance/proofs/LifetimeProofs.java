// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.Buffer;
import io.weft.api.Device;
import io.weft.api.MemoryKind;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;

/** Proofs of the rules about lifetimes. */
final class LifetimeProofs {
    @Proves("LIF-003")
    void freedMemoryIsFree(Bench bench) {
        Device device = bench.device();
        long before = device.memoryInfo().freeBytes();
        Buffer buffer = bench.raw(device, MemoryKind.DEVICE, 1 << 20);
        buffer.close();
        bench.equal(
                "free bytes after the memory was freed",
                before,
                device.memoryInfo().freeBytes());
    }
}
