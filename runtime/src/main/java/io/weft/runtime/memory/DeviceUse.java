// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.memory;

import io.weft.memory.PoolUse;
import java.util.List;

/**
 * What the pools of one device have done.
 *
 * @param device its rank
 * @param pools one entry for each pool
 */
public record DeviceUse(int device, List<PoolUse> pools) {
    public DeviceUse {
        pools = List.copyOf(pools);
    }
}
