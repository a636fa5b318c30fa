// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.sdma;

import io.weft.sim.machine.CopyEngineModel;
import io.weft.sim.machine.Machine;
import java.util.function.IntBinaryOperator;

/**
 * Which SDMA engine a device takes for which peer. Engines 0 and 1 serve the host while there are more than two; the others serve peers. Immutable.
 *
 * <p>The driver recommends engines as a mask for each pair, of which ROCr follows only those with one bit; elsewhere, and for pairs without one, engines are
 * dealt out in the order of the peers.
 */
public final class EngineMap {
    /** No engine is recommended. */
    public static final int NONE = -1;

    /** Engines 0 and 1 are for the host. */
    private static final int HOST_ENGINES = 2;

    private static final int RECOMMENDED_ENGINES = 16;

    /**
     * The driver's recommendation for eight GPUs that are joined each with each and have 2 + 14 engines (MI300X and its successors), by source and destination:
     * recommended_sdma_engine_id_mask of the kernel driver, amd-gfx list. Each peer has an engine of its own; the way back is not always the same one. Not given under SR-IOV.
     */
    private static final int[][] MESH = {
        {NONE, 14, 12, 2, 4, 8, 10, 6},
        {14, NONE, 2, 10, 8, 4, 6, 12},
        {10, 2, NONE, 12, 14, 6, 4, 8},
        {2, 12, 10, NONE, 6, 14, 8, 4},
        {4, 8, 14, 6, NONE, 10, 12, 2},
        {8, 4, 6, 14, 12, NONE, 2, 10},
        {10, 6, 4, 8, 12, 2, NONE, 14},
        {6, 12, 8, 4, 2, 10, 14, NONE},
    };

    private final int[][] engines;
    private final boolean recommended;

    private EngineMap(int[][] engines, boolean recommended) {
        this.engines = engines;
        this.recommended = recommended;
    }

    /** The engine that the driver recommends within a mesh of eight, {@link #NONE} for a device itself. */
    public static int recommendedInMesh(int source, int destination) {
        return MESH[source][destination];
    }

    /**
     * The engine of a mask.
     *
     * @return {@link #NONE} unless it has exactly one bit: ROCr follows no other
     */
    public static int ofMask(long mask) {
        return Long.bitCount(mask) == 1 ? Long.numberOfTrailingZeros(mask) : NONE;
    }

    /** The map of a machine whose driver gives no masks: the published recommendation where the machine is such a mesh, else engines in order. */
    public static EngineMap of(Machine machine) {
        return isRecommendedMesh(machine) ? of(machine, EngineMap::recommendedInMesh) : inOrder(machine);
    }

    /** Engines in the order of the peers, as without any recommendation. */
    public static EngineMap inOrder(Machine machine) {
        return of(machine, (from, to) -> NONE);
    }

    /**
     * The map of a machine.
     *
     * @param recommendation the engine for a source and a destination, {@link #NONE} where there is none; one that a device does not have is not followed
     */
    public static EngineMap of(Machine machine, IntBinaryOperator recommendation) {
        int n = machine.deviceCount();
        int[][] engines = new int[n][n];
        boolean any = false;
        for (int from = 0; from < n; from++) {
            int count = machine.device(from).copyEngines().count();
            for (int to = 0; to < n; to++) {
                int wanted = from == to ? NONE : recommendation.applyAsInt(from, to);
                boolean there = wanted >= 0 && wanted < count;
                any |= there;
                engines[from][to] = there ? wanted : dealt(count, from, to, n);
            }
        }
        return new EngineMap(engines, any);
    }

    private static int dealt(int count, int from, int to, int devices) {
        if (count == 0) {
            return NONE;
        }
        // A device's own place comes after all its peers, so that a local copy disturbs none while engines last.
        int peer = to == from ? devices - 1 : to < from ? to : to - 1;
        return count <= HOST_ENGINES ? peer % count : HOST_ENGINES + peer % (count - HOST_ENGINES);
    }

    private static boolean isRecommendedMesh(Machine machine) {
        if (machine.deviceCount() != MESH.length) {
            return false;
        }
        for (int from = 0; from < MESH.length; from++) {
            CopyEngineModel model = machine.device(from).copyEngines();
            if (model.count() != RECOMMENDED_ENGINES) {
                return false;
            }
            for (int to = 0; to < MESH.length; to++) {
                if (from != to && machine.route(from, to).length() != 1) {
                    return false;
                }
            }
        }
        return true;
    }

    /** The engine of {@code device} for copies with {@code peer}, {@link #NONE} when the device has none. */
    public int engine(int device, int peer) {
        return engines[device][peer];
    }

    /** Whether any of it is the driver's recommendation. */
    public boolean isRecommended() {
        return recommended;
    }

    /** Number of devices. */
    public int devices() {
        return engines.length;
    }
}
