// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.bench;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import java.util.ArrayList;
import java.util.List;

/**
 * What is to be timed: every operation over every number of ranks, with every type and reduction, at every size.
 *
 * @param operations at least one
 * @param ranks numbers of ranks, each on the first devices; at least one
 * @param types at least one
 * @param reductions of operations that reduce; at least one
 * @param root of operations that have one
 * @param sizes of the message; at least one
 * @param iterations calls that are timed together, 1 or more
 * @param warmup calls before those, where times are measured; a model knows no cold start
 * @param checkBytes bytes of all ranks' buffers together up to which data are checked; 0 checks nothing
 * @param seed of the data
 * @param explain whether rows say which algorithm the platform takes
 */
public record CollectiveRequest(
        List<CollectiveOperation> operations,
        List<Integer> ranks,
        List<ElementType> types,
        List<BenchReduction> reductions,
        int root,
        Sizes sizes,
        int iterations,
        int warmup,
        long checkBytes,
        long seed,
        boolean explain) {
    /** More rows than anybody reads; a step that is forgotten to be large makes many millions. */
    private static final int MOST_SIZES = 100_000;

    /**
     * Sizes of messages, bytes.
     *
     * @param first 1 or more
     * @param last the first or more
     * @param step added to each size, 0 when they are multiplied
     * @param factor with which each size is multiplied, 2 or more, when {@code step} is 0
     */
    public record Sizes(long first, long last, long step, int factor) {
        public Sizes {
            if (first < 1 || last < first) {
                throw AcceleratorException.invalid(
                        "sizes",
                        "from " + first + " to " + last + " bytes there is no size; accepted is 1 <= -b <= -e");
            }
            if (step < 0 || (step == 0 && factor < 2)) {
                throw AcceleratorException.invalid(
                        "sizes",
                        step < 0
                                ? "a step of " + step + " bytes leads nowhere; accepted is 1 or more"
                                : "a factor of " + factor + " leads nowhere; accepted is 2 or more");
            }
            if (step > 0 && (last - first) / step >= MOST_SIZES) {
                throw AcceleratorException.invalid(
                        "sizes",
                        "a step of " + step + " bytes makes " + ((last - first) / step + 1) + " sizes; accepted are "
                                + MOST_SIZES);
            }
        }

        /** Every size, ascending. */
        public List<Long> all() {
            List<Long> sizes = new ArrayList<>();
            for (long size = first; size <= last; ) {
                sizes.add(size);
                if (step == 0 && size > last / factor) {
                    break;
                }
                size = step > 0 ? size + step : size * factor;
            }
            return sizes;
        }
    }

    public CollectiveRequest {
        operations = List.copyOf(operations);
        ranks = List.copyOf(ranks);
        types = List.copyOf(types);
        reductions = List.copyOf(reductions);
        if (operations.isEmpty() || ranks.isEmpty() || types.isEmpty() || reductions.isEmpty()) {
            throw AcceleratorException.invalid(
                    "bench",
                    "there is nothing to time; at least one operation, rank count, type and reduction is needed");
        }
        if (iterations < 1 || warmup < 0) {
            throw AcceleratorException.invalid(
                    "bench",
                    iterations < 1
                            ? iterations + " iterations cannot be timed; accepted is 1 or more"
                            : warmup + " warm-up iterations cannot be run; accepted is 0 or more");
        }
    }
}
