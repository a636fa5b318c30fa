// SPDX-License-Identifier: Apache-2.0
package io.weft.spi.decorator;

import io.weft.api.CommunicatorOptions;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.CommunicatorDriver;
import io.weft.spi.DeviceDriver;
import java.util.LinkedHashMap;
import java.util.Map;

/** Collectives whose communicators an observer sees. */
final class ObservedCollectives implements CollectiveDriver {
    private final CollectiveDriver backend;
    private final DriverObserver observer;

    ObservedCollectives(CollectiveDriver backend, DriverObserver observer) {
        this.backend = backend;
        this.observer = observer;
    }

    @Override
    public byte[] newUniqueId() {
        return backend.newUniqueId();
    }

    @Override
    public CommunicatorDriver join(byte[] uniqueId, int size, Map<Integer, ? extends DeviceDriver> localRanks) {
        return join(uniqueId, size, localRanks, CommunicatorOptions.defaults());
    }

    @Override
    public CommunicatorDriver join(
            byte[] uniqueId, int size, Map<Integer, ? extends DeviceDriver> localRanks, CommunicatorOptions options) {
        Map<Integer, DeviceDriver> own = new LinkedHashMap<>();
        localRanks.forEach((rank, device) -> own.put(rank, ObservedPlatform.unwrap(device)));
        CommunicatorDriver communicator = backend.join(uniqueId, size, own, options);
        observer.communicatorCreated(communicator, size);
        return new ObservedCommunicator(communicator, observer);
    }

    @Override
    public boolean multiProcess() {
        return backend.multiProcess();
    }
}
