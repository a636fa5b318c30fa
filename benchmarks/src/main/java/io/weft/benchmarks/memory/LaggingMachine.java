// SPDX-License-Identifier: Apache-2.0
package io.weft.benchmarks.memory;

import io.weft.api.Platform;
import io.weft.api.PlatformUri;
import io.weft.sim.machine.MachineReader;
import io.weft.sim.provider.MachinePlatform;
import io.weft.spi.PlatformDriver;

/**
 * A simulated device whose memory is slow and whose host is fast: streams lag far behind what was issued to them, each by another time, so that memory given out too
 * early is still being used. Its link to the host carries 1 MB/s, so that writing bytes is a way to let virtual time pass.
 */
final class LaggingMachine {
    /** Bytes which the host writes in one second. */
    static final long HOST_BYTES_PER_SECOND = 1_000_000;

    private static final String DOCUMENT = """
            machine: lagging
            description: One device with slow memory
            devices:
              - count: 1
                name: Lagging accelerator
                architecture: lagging
                fp8: none
                numa_node: 1
                compute:
                  units: 64
                  clock_ghz: 1
                  peak_tflops: {fp32: 1, fp16: 1, bf16: 1, int8: 1}
                  tiles:
                    - {rows: 64, columns: 64, efficiency: 0.5}
                  prologue_k: 128
                  max_split_k: 1
                  concurrency_efficiency: 1
                memory:
                  size_gib: 1
                  bandwidth_gb_per_s: 1
                  efficiency: 0.8
                  last_level_cache_mib: 1
                  allocation_alignment_bytes: 256
                copy_engines:
                  count: 2
                  host_engines: 1
                  bandwidth_gb_per_s: 1
                  setup_ns: 500
                  auto_from_bytes: 1048577
                  strided_row_overhead_bytes: 64
                kernels:
                  hardware_queues: 4
                  priorities: 1
                  start_ns: 1500
                  bandwidth_gb_per_s_per_unit: 1
                  bytes_per_unit: 65536
                  max_units: 64
                  peer_copy_units: 12
                  strided_row_overhead_bytes: 64
                launch:
                  graph_ns: 5000
                  eager_ns: 4000
                  signal_ns: 500
                  issue_kernel_ns: 300
                  issue_copy_ns: 300
                  issue_event_ns: 100
                host_link:
                  to_device_gb_per_s: 0.001
                  from_device_gb_per_s: 1
                  latency_ns: 1000
            collectives:
              - ranges:
                  - {algorithm: direct, base_ns: 8000, step_ns: 2000, compute_units: 16, efficiency: 0.9}
            """;

    private LaggingMachine() {}

    /** Opens it; the caller closes it. */
    static Platform open() {
        return new Platform(uri(), driver());
    }

    /** Opens it as {@link LyingEvents} show it. */
    static Platform openWithLyingEvents() {
        return new Platform(uri(), LyingEvents.of(driver()));
    }

    private static PlatformUri uri() {
        return PlatformUri.parse("sim:lagging");
    }

    private static PlatformDriver driver() {
        return MachinePlatform.open(uri(), MachineReader.read("lagging", DOCUMENT));
    }
}
