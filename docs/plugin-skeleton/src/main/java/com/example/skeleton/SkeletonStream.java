// SPDX-License-Identifier: Apache-2.0
package com.example.skeleton;

import io.weft.api.Priority;
import io.weft.api.graph.Command;
import io.weft.spi.DeviceDriver;
import io.weft.spi.Enqueue;
import io.weft.spi.EventDriver;
import io.weft.spi.StreamDriver;

/** A queue of work in order. */
final class SkeletonStream implements StreamDriver {
    private final DeviceDriver device;

    SkeletonStream(DeviceDriver device) {
        this.device = device;
    }

    @Override
    public DeviceDriver device() {
        return device;
    }

    @Override
    public Enqueue enqueue(Command command) {
        throw NotYet.written(
                switch (command) {
                    case Command.Copy copy -> "copy";
                    case Command.CopyStrided copy -> "strided copy";
                    case Command.Fill fill -> "fill";
                    case Command.Gemm gemm -> "gemm";
                    case Command.Reduce reduce -> "reduce";
                    case Command.Collective collective -> "collective"; // comes by a communicator, never here
                });
    }

    @Override
    public void record(EventDriver event) {
        throw NotYet.written("record event");
    }

    @Override
    public void waitFor(EventDriver event) {
        throw NotYet.written("wait for event");
    }

    @Override
    public boolean query() {
        throw NotYet.written("query stream");
    }

    @Override
    public void synchronize() {
        throw NotYet.written("synchronize stream");
    }

    @Override
    public Priority effectivePriority() {
        return Priority.NORMAL;
    }

    @Override
    public void close() {
        // Complete what was issued, then release the queue.
    }
}
