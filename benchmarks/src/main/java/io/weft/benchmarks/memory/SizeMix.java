// SPDX-License-Identifier: Apache-2.0
package io.weft.benchmarks.memory;

import java.util.SplittableRandom;

/** Size mixes of host-allocator comparisons, drawn before the clock starts. */
public enum SizeMix {
    /** 64 bytes. */
    FIXED_64,
    /** Log-uniform 64 B to 1 MiB. */
    CLASSES,
    /** Log-uniform 16 B to 16 MiB. */
    LOG,
    /** Half log-uniform 512 B to 1 MiB, 30 % 1 to 8 MiB, 20 % 8 to 64 MiB, in units of 512 B, as tensors are. */
    TENSORS;

    long draw(SplittableRandom random) {
        double u = random.nextDouble();
        return switch (this) {
            case FIXED_64 -> 64;
            case CLASSES -> (long) (64 * Math.pow(2, 14 * u));
            case LOG -> (long) (16 * Math.pow(2, 20 * u));
            case TENSORS -> {
                int kind = random.nextInt(10);
                double bytes = kind < 5
                        ? 512 * Math.pow(2, 11 * u)
                        : kind < 8 ? (1 + 7 * u) * (1 << 20) : (8 + 56 * u) * (1 << 20);
                yield ((long) bytes + 511) & -512;
            }
        };
    }

    /** Live blocks of one thread. */
    int slots() {
        return this == TENSORS ? 200 : 1000;
    }
}
