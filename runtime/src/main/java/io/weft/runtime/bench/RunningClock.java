// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.bench;

import io.weft.api.Communicator;
import io.weft.api.Platform;

/** Issues the calls and waits for them, by the platform's clock. */
final class RunningClock implements CollectiveClock {
    private final Communicator communicator;
    private final int warmup;
    private final int iterations;

    RunningClock(Communicator communicator, int warmup, int iterations) {
        this.communicator = communicator;
        this.warmup = warmup;
        this.iterations = iterations;
    }

    @Override
    public double nanos(CollectiveShape shape) {
        Platform platform = communicator.platform();
        try (RankBuffers buffers = new RankBuffers(communicator, shape)) {
            for (int i = 0; i < warmup; i++) {
                buffers.call();
            }
            buffers.synchronize();
            long start = platform.nanoTime();
            for (int i = 0; i < iterations; i++) {
                buffers.call();
            }
            buffers.synchronize();
            return (double) (platform.nanoTime() - start) / iterations;
        }
    }
}
