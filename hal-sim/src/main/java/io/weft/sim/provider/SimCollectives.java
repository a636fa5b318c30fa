// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.AcceleratorException;
import io.weft.api.CommunicatorOptions;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.CollectiveParts;
import io.weft.spi.CommunicatorDriver;
import io.weft.spi.DeviceDriver;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Makes communicators. Joining does not wait: a rank that never joins is named when somebody waits for a collective that lacks it. All ranks live in this process, on any
 * number of threads.
 */
final class SimCollectives implements CollectiveDriver {
    /** Marks the ids of this provider. */
    private static final long MAGIC = 0x5745_4654_5349_4D31L;

    private final SimPlatform platform;
    private final Map<Long, CommunicatorState> joining = new HashMap<>();
    private long ids;

    SimCollectives(SimPlatform platform) {
        this.platform = platform;
    }

    @Override
    public byte[] newUniqueId() {
        platform.enter("unique id");
        try {
            return ByteBuffer.allocate(2 * Long.BYTES)
                    .putLong(MAGIC)
                    .putLong(++ids)
                    .array();
        } finally {
            platform.leave();
        }
    }

    @Override
    public CommunicatorDriver join(byte[] uniqueId, int size, Map<Integer, ? extends DeviceDriver> localRanks) {
        return join(uniqueId, size, localRanks, CommunicatorOptions.defaults());
    }

    @Override
    public CommunicatorDriver join(
            byte[] uniqueId, int size, Map<Integer, ? extends DeviceDriver> localRanks, CommunicatorOptions options) {
        platform.enter("communicator");
        try {
            long id = number(uniqueId);
            Map<Integer, SimDevice> ranks = new TreeMap<>();
            localRanks.forEach((rank, device) -> ranks.put(rank, (SimDevice) device));
            CommunicatorState state = joining.get(id);
            if (state == null) {
                state = new CommunicatorState(platform, "communicator " + id, size);
                platform.register(state);
                joining.put(id, state);
            }
            if (state.size() != size) {
                throw AcceleratorException.invalid(
                        "communicator",
                        CollectiveParts.ranks(ranks.keySet().stream().toList()) + " joins with a size of " + size
                                + ", others of " + state.name() + " with " + state.size());
            }
            state.agree(options);
            state.join(ranks);
            return new SimCommunicator(platform, state, ranks);
        } finally {
            platform.leave();
        }
    }

    private long number(byte[] uniqueId) {
        if (uniqueId.length == 2 * Long.BYTES) {
            ByteBuffer bytes = ByteBuffer.wrap(uniqueId);
            if (bytes.getLong() == MAGIC) {
                long id = bytes.getLong();
                if (id >= 1 && id <= ids) {
                    return id;
                }
            }
        }
        throw AcceleratorException.invalid("communicator", "this unique id was not made by this platform");
    }
}
