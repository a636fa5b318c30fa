// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

/** In which order rules are judged. */
public enum Order {
    /** As the catalogue has them. */
    CATALOGUE,
    /** Shuffled by the seed. */
    RANDOM
}
