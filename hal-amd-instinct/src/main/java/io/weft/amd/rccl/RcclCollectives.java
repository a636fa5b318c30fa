// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.rccl;

import io.weft.api.AcceleratorException;
import io.weft.api.CommunicatorOptions;
import io.weft.api.ErrorCode;
import io.weft.sim.machine.Machine;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.CommunicatorDriver;
import io.weft.spi.DeviceDriver;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * RCCL's communicators on a modelled node: the simulator's, with RCCL's unique ids, refusals and result codes. {@code ncclUniqueId} is {@value #ID_BYTES} bytes. Safe for
 * any thread.
 */
public final class RcclCollectives implements CollectiveDriver {
    /** NCCL_UNIQUE_ID_BYTES. */
    public static final int ID_BYTES = 128;

    private final CollectiveDriver simulator;
    private final int simulatorBytes;
    private final Machine machine;

    /**
     * Over the simulator's communicators.
     *
     * @param machine whose ways they take
     */
    public RcclCollectives(CollectiveDriver simulator, Machine machine) {
        this.simulator = simulator;
        this.machine = machine;
        simulatorBytes = simulator.newUniqueId().length;
    }

    @Override
    public byte[] newUniqueId() {
        return Arrays.copyOf(simulator.newUniqueId(), ID_BYTES);
    }

    @Override
    public CommunicatorDriver join(byte[] uniqueId, int size, Map<Integer, ? extends DeviceDriver> localRanks) {
        return join(uniqueId, size, localRanks, CommunicatorOptions.defaults());
    }

    @Override
    public CommunicatorDriver join(
            byte[] uniqueId, int size, Map<Integer, ? extends DeviceDriver> localRanks, CommunicatorOptions options) {
        if (uniqueId.length != ID_BYTES) {
            throw new AcceleratorException(
                    ErrorCode.INVALID_ARGUMENT,
                    "communicator",
                    "a unique id has " + uniqueId.length + " bytes; RCCL's have " + ID_BYTES,
                    "",
                    RcclResult.INVALID_ARGUMENT.word(),
                    null);
        }
        Set<String> encodings = new HashSet<>();
        localRanks.values().forEach(device -> encodings.add(RcclCommunicator.encoding(device)));
        return RcclResults.of(
                "communicator",
                () -> new RcclCommunicator(
                        simulator.join(Arrays.copyOf(uniqueId, simulatorBytes), size, localRanks, options),
                        machine,
                        size,
                        encodings));
    }

    @Override
    public boolean multiProcess() {
        return simulator.multiProcess();
    }
}
