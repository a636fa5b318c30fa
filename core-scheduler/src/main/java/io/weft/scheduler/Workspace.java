// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.Buffer;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.Stream;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.GraphBindings;
import io.weft.api.graph.Slot;
import io.weft.memory.DevicePool;
import io.weft.memory.PoolOptions;
import io.weft.memory.PoolRecording;
import io.weft.memory.PoolRole;
import io.weft.memory.PoolUse;
import java.util.List;

/**
 * Workspace that all plans of an engine share, as they run one after the other: on each device one block for communication and one for compute, from pools of their own, as large as the largest plan needs. A plan's
 * slots are parts of the blocks. A block that grows moves, and plans notice by the {@link #generation()}. Not for several threads at once.
 */
final class Workspace implements AutoCloseable {
    /** Slots inside a block start at multiples of this, which is also the least alignment of device allocations that vendors promise for large blocks. */
    private static final long ALIGNMENT = 512;

    private static final int ROLES = 2;

    private final List<Stream> streams;
    private final DevicePool[] pools;
    private final Buffer[] blocks;
    private long generation = 1;

    /**
     * @param devices the device of each rank
     * @param streams a stream of each rank's device, in whose order blocks are taken and given back
     */
    Workspace(List<Device> devices, List<Stream> streams) {
        this.streams = List.copyOf(streams);
        this.pools = new DevicePool[devices.size() * ROLES];
        this.blocks = new Buffer[pools.length];
        for (int rank = 0; rank < devices.size(); rank++) {
            PoolOptions options = PoolOptions.defaults();
            pools[rank * ROLES] = DevicePool.open(
                    devices.get(rank), options.withName("overlap communication").withRole(PoolRole.COMMUNICATION));
            pools[rank * ROLES + 1] = DevicePool.open(
                    devices.get(rank), options.withName("overlap compute").withRole(PoolRole.COMPUTE));
        }
    }

    /** Records the pools of a rank from now on. */
    void record(int rank, PoolRecording to) {
        for (int role = 0; role < ROLES; role++) {
            pools[rank * ROLES + role].startRecording(to);
        }
    }

    /** What a rank's pools have done, communication first. */
    List<PoolUse> use(int rank) {
        return List.of(pools[rank * ROLES].use(), pools[rank * ROLES + 1].use());
    }

    /** Changes whenever a block has moved. */
    long generation() {
        return generation;
    }

    /** Makes sure that the blocks are large enough for a graph. A block is only replaced in stream order, behind the plans issued before. */
    void reserve(CommandGraph graph) {
        long[] needed = new long[pools.length];
        for (Slot slot : graph.slots()) {
            if (slot.role().isWorkspace()) {
                needed[block(slot)] += align(slot.bytes());
            }
        }
        for (int i = 0; i < blocks.length; i++) {
            if (needed[i] > 0 && (blocks[i] == null || blocks[i].bytes() < needed[i])) {
                Stream stream = streams.get(i / ROLES);
                if (blocks[i] != null) {
                    pools[i].free(blocks[i], stream);
                    blocks[i] = null;
                }
                blocks[i] = pools[i].allocate(needed[i], stream);
                generation++;
            }
        }
    }

    /** Binds every workspace slot of a graph. */
    void bind(CommandGraph graph, GraphBindings bindings) {
        reserve(graph);
        long[] next = new long[pools.length];
        for (Slot slot : graph.slots()) {
            if (slot.role().isWorkspace()) {
                int block = block(slot);
                // Parts go back with their block.
                bindings.bind(slot, blocks[block].suballocate(next[block], slot.bytes(), part -> {}));
                next[block] += align(slot.bytes());
            }
        }
    }

    private static int block(Slot slot) {
        return slot.device() * ROLES + (slot.role() == Slot.Role.COMMUNICATION ? 0 : 1);
    }

    /** At least one unit, so that an empty slot has a place, too. */
    private static long align(long bytes) {
        return Math.max(1, (bytes + ALIGNMENT - 1) / ALIGNMENT) * ALIGNMENT;
    }

    /** Fills every block with a byte, in stream order. */
    void fill(int pattern) {
        for (int i = 0; i < blocks.length; i++) {
            if (blocks[i] != null) {
                streams.get(i / ROLES).fill(blocks[i].vector(blocks[i].bytes(), ElementType.INT8), pattern);
            }
        }
    }

    /** Bytes held now, over all ranks. */
    long bytes() {
        long sum = 0;
        for (Buffer block : blocks) {
            sum += block == null ? 0 : block.bytes();
        }
        return sum;
    }

    @Override
    public void close() {
        for (int i = 0; i < blocks.length; i++) {
            if (blocks[i] != null) {
                pools[i].free(blocks[i], streams.get(i / ROLES));
                blocks[i] = null;
            }
            pools[i].close();
        }
    }
}
