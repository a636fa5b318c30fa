// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.replay;

import io.weft.api.AcceleratorException;
import io.weft.api.Figures;
import io.weft.api.Platform;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What is to be replayed.
 *
 * @param file a trace in any form that {@link io.weft.runtime.traces.TraceFile} reads
 * @param device of a trace with several devices, the one to take; empty for the first that is not the host
 * @param pools names of what it is replayed through; the first one's answer counts
 * @param limit bytes that the device has
 * @param passes how often, 3 or more
 * @param on the platform on whose first device's memory it is replayed; empty for memory that is mere numbers
 * @param curves whether use over time and memory at the peak are kept, for a page
 */
public record ReplayRequest(
        Path file,
        Optional<String> device,
        List<String> pools,
        long limit,
        int passes,
        Optional<Platform> on,
        boolean curves) {
    /** More than any device has; stands for no limit. */
    public static final long NO_LIMIT = 1L << 40;

    private static final int LEAST_PASSES = 3;
    private static final int MOST_PASSES = 100_000;

    public ReplayRequest {
        pools = pools.stream().distinct().toList();
        if (pools.isEmpty()) {
            throw AcceleratorException.invalid("replay", "no pool is named; accepted are " + names(on));
        }
        if (limit < 1) {
            throw AcceleratorException.invalid(
                    "replay", "a limit of " + limit + " bytes holds nothing; accepted is 1 or more");
        }
        if (passes < LEAST_PASSES || passes > MOST_PASSES) {
            throw AcceleratorException.invalid(
                    "replay", passes + " passes; accepted are " + LEAST_PASSES + " to " + MOST_PASSES);
        }
        on.filter(platform -> platform.figures() == Figures.MODEL).ifPresent(model -> {
            throw AcceleratorException.invalid(
                    "replay",
                    model.uri() + " is a model, whose allocator takes no time; accepted is a platform whose figures are"
                            + " measured, such as cuda:native");
        });
    }

    /** Names of the pools that there are for it. */
    String names() {
        return names(on);
    }

    private static String names(Optional<Platform> on) {
        return on.isPresent() ? ReplayService.DEVICE_POOLS : ReplayService.POOLS;
    }
}
