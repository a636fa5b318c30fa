// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import java.util.Objects;

/**
 * What one pool has done, for reports.
 *
 * @param pool its name
 * @param role what its memory is for
 * @param statistics its figures
 */
public record PoolUse(String pool, PoolRole role, PoolStatistics statistics) {
    public PoolUse {
        Objects.requireNonNull(pool);
        Objects.requireNonNull(role);
        Objects.requireNonNull(statistics);
    }
}
