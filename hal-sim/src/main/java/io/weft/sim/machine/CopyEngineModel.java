// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

import java.util.List;

/**
 * A device's copy engines. Each carries out one copy at a time; further copies wait in order.
 *
 * @param count engines; 0 when all copies use compute units
 * @param hostEngines how many of them, from number 0 on, serve copies to and from the host (0: those share the others)
 * @param bandwidth bytes/s of one engine
 * @param setupNanos ns that an engine spends on a copy before data flow
 * @param autoFromBytes peer copies of at least this size go by engine, smaller ones by kernel, when the method is left open
 * @param rowOverheadBytes bytes of bandwidth that each row of a strided copy wastes
 * @param map engine by destination device's ordinal; empty means one engine for each peer, round robin when there are fewer
 */
public record CopyEngineModel(
        int count,
        int hostEngines,
        double bandwidth,
        double setupNanos,
        long autoFromBytes,
        int rowOverheadBytes,
        List<Integer> map) {
    public CopyEngineModel {
        map = List.copyOf(map);
    }
}
