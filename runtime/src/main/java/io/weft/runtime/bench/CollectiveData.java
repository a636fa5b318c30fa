// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.bench;

import io.weft.api.ElementType;
import io.weft.api.numeric.Elements;
import io.weft.api.numeric.RandomData;
import io.weft.api.numeric.Ulp;
import java.lang.foreign.MemorySegment;
import java.util.stream.LongStream;

/**
 * What ranks send and what they must get, element by element, from a seed alone: neither needs the other ranks' memory.
 *
 * <p>Numbers that are reduced have no cancellation, or a tolerance in units of the last place would mean nothing: floats lie in [0.25, 0.5), so that a sum over
 * hundreds of ranks fits the narrowest type; in products all but about eight ranks give 1, the others between 0.75 and 1.25; whole numbers are odd in products,
 * since an even factor would hide others.
 */
final class CollectiveData {
    private static final int CHUNK = 1 << 15;

    /** Ranks that take part in a product with another number than 1. */
    private static final int FACTORS = 8;

    private final CollectiveShape shape;
    private final ElementType type;
    private final BenchReduction reduction;
    private final int ranks;
    private final boolean reduces;
    private final long seed;
    private final long tolerance;

    CollectiveData(CollectiveShape shape, long seed) {
        this.shape = shape;
        this.type = shape.type();
        this.reduction = shape.reduction();
        this.ranks = shape.ranks();
        this.reduces = shape.operation().kind().reduces();
        this.seed = seed;
        this.tolerance = reduces ? BenchTypes.tolerance(type, reduction, ranks) : 0;
    }

    /** The bits of an element that a rank sends. */
    int sent(int rank, long index) {
        int bits = RandomData.bits(type, seed, rank, index);
        if (!reduces) {
            return bits;
        }
        boolean product = reduction == BenchReduction.PROD;
        if (!type.isFloating()) {
            return product ? bits | 1 : bits;
        }
        float share = Math.abs(type.decode(bits));
        if (product) {
            int apart = Math.max(1, ranks / FACTORS);
            return type.encode((index + rank) % apart == 0 ? 0.75f + share / 2 : 1);
        }
        return type.encode(0.25f + share / 4);
    }

    /** Writes what a rank sends to host memory, in parallel when there is much. */
    void fill(MemorySegment host, int rank) {
        long count = host.byteSize() / type.bytes();
        chunks(count).forEach(chunk -> {
            for (long i = chunk * CHUNK; i < Math.min(count, (chunk + 1) * CHUNK); i++) {
                Elements.put(host, i * type.bytes(), type, sent(rank, i));
            }
        });
    }

    /** How many elements that a rank got are wrong. */
    long wrong(MemorySegment got, int rank) {
        long count = got.byteSize() / type.bytes();
        return chunks(count)
                .map(chunk -> {
                    long wrong = 0;
                    for (long i = chunk * CHUNK; i < Math.min(count, (chunk + 1) * CHUNK); i++) {
                        int bits = Elements.bits(got, i * type.bytes(), type);
                        if (Ulp.distance(type, expected(rank, i), bits) > tolerance) {
                            wrong++;
                        }
                    }
                    return wrong;
                })
                .sum();
    }

    private static LongStream chunks(long count) {
        return LongStream.range(0, (count + CHUNK - 1) / CHUNK).parallel();
    }

    /** The bits that a rank must get, up to the tolerance. */
    int expected(int rank, long index) {
        long count = shape.count();
        return switch (shape.operation()) {
            case ALL_REDUCE, REDUCE -> reduced(index);
            case REDUCE_SCATTER -> reduced(rank * count + index);
            case ALL_GATHER, GATHER -> sent((int) (index / count), index % count);
            case BROADCAST -> sent(shape.root(), index);
            case SCATTER -> sent(shape.root(), rank * count + index);
            case ALLTOALL -> sent((int) (index / count), rank * count + index % count);
            case ALLTOALLV -> uneven(rank, index);
            case SENDRECV -> sent((rank + ranks - 1) % ranks, index);
        };
    }

    private int uneven(int rank, long index) {
        long left = index;
        int from = 0;
        for (long block = block(from, rank); left >= block; block = block(from, rank)) {
            left -= block;
            from++;
        }
        long before = 0;
        for (int peer = 0; peer < rank; peer++) {
            before += block(from, peer);
        }
        return sent(from, before + left);
    }

    private long block(int from, int to) {
        return CollectiveOperation.uneven(shape.count(), ranks, from, to);
    }

    private int reduced(long index) {
        return type.isFloating() ? reducedFloat(index) : reducedWhole(index);
    }

    private int reducedFloat(long index) {
        double part = reduction == BenchReduction.AVG ? Elements.value(type, Elements.nearest(type, 1.0 / ranks)) : 1;
        double result = 0;
        for (int rank = 0; rank < ranks; rank++) {
            double factor = reduction == BenchReduction.MULSUM ? BenchReduction.factor(rank) : part;
            double value = factor * type.decode(sent(rank, index));
            result = rank == 0
                    ? value
                    : switch (reduction) {
                        case SUM, AVG, MULSUM -> result + value;
                        case PROD -> result * value;
                        case MAX -> Math.max(result, value);
                        case MIN -> Math.min(result, value);
                    };
        }
        return Elements.nearest(type, result);
    }

    private int reducedWhole(long index) {
        boolean narrow = type == ElementType.INT8;
        int result = 0;
        for (int rank = 0; rank < ranks; rank++) {
            int bits = sent(rank, index);
            int value = (narrow ? (byte) bits : bits)
                    * (reduction == BenchReduction.MULSUM ? BenchReduction.factor(rank) : 1);
            result = rank == 0
                    ? value
                    : switch (reduction) {
                        case SUM, AVG, MULSUM -> result + value;
                        case PROD -> result * value;
                        case MAX -> Math.max(result, value);
                        case MIN -> Math.min(result, value);
                    };
            result = narrow ? (byte) result : result;
        }
        result = reduction == BenchReduction.AVG ? result / ranks : result;
        return narrow ? result & 0xFF : result;
    }
}
