// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.AcceleratorException;
import io.weft.sim.engine.VirtualTime;
import io.weft.spi.EventDriver;

/** A point in the order of a stream: the marker of its last record. */
final class SimEvent implements EventDriver {
    private final SimDevice device;
    private Work record;

    SimEvent(SimDevice device) {
        this.device = device;
    }

    @Override
    public SimDevice device() {
        return device;
    }

    /** The marker of the last record, null when there was none. */
    Work lastRecord() {
        return record;
    }

    /** Moves it to a new record; waits that were issued before keep the old one. */
    void moveTo(Work marker) {
        record = marker;
    }

    @Override
    public boolean query() {
        SimPlatform platform = device.platform();
        platform.enter("query event");
        try {
            if (record == null) {
                return true;
            }
            boolean complete = platform.poll(device, record);
            SimStream.throwToWaiter("query event", record.stream(), cause());
            return complete;
        } finally {
            platform.leave();
        }
    }

    @Override
    public void synchronize() {
        SimPlatform platform = device.platform();
        platform.enter("synchronize event");
        try {
            if (record != null) {
                platform.await("synchronize event", device, record);
                SimStream.throwToWaiter("synchronize event", record.stream(), cause());
            }
        } finally {
            platform.leave();
        }
    }

    /** Why the record is not, or will not be, complete as it should; null when nothing is known against it. */
    private AcceleratorException cause() {
        return record.isDone() ? record.failure() : record.stream().failure();
    }

    @Override
    public double timestampNanos() {
        SimPlatform platform = device.platform();
        platform.enter("event time");
        try {
            return VirtualTime.toNs(record.endPs());
        } finally {
            platform.leave();
        }
    }

    @Override
    public void close() {
        SimPlatform platform = device.platform();
        platform.enterToClose();
        try {
            record = null;
        } finally {
            platform.leave();
        }
    }
}
