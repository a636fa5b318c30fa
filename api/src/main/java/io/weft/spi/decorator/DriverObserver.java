// SPDX-License-Identifier: Apache-2.0
package io.weft.spi.decorator;

import io.weft.api.EventOptions;
import io.weft.api.MemoryKind;
import io.weft.api.StreamOptions;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.CommunicatorDriver;
import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import io.weft.spi.Enqueue;
import io.weft.spi.EventDriver;
import io.weft.spi.GraphExecutable;
import io.weft.spi.PlatformDriver;
import io.weft.spi.StreamDriver;
import java.util.List;

/**
 * Sees every call to the drivers of one platform. Methods named {@code before...} may throw, and the call does not reach the backend then; that is how validation
 * refuses and fault injection fails. Drivers passed in are the backend's own, never wrappers. Methods may be called by several threads at once.
 */
public interface DriverObserver {
    /** The platform was opened. */
    default void opened(PlatformDriver platform) {}

    /** Memory is about to be allocated. */
    default void beforeAllocate(DeviceDriver device, MemoryKind kind, long bytes) {}

    /** Memory was allocated. */
    default void allocated(DeviceDriver device, DeviceMemory memory) {}

    /** Memory is about to be freed. */
    default void beforeFree(DeviceDriver device, DeviceMemory memory) {}

    /** Bytes are about to be written by the host. */
    default void beforeWrite(DeviceDriver device, DeviceMemory destination, long offset, long bytes) {}

    /** Bytes are about to be read by the host. */
    default void beforeRead(DeviceDriver device, DeviceMemory source, long offset, long bytes) {}

    /** A stream was created. */
    default void streamCreated(StreamDriver stream, StreamOptions options) {}

    /** A stream is about to be closed. */
    default void beforeStreamClose(StreamDriver stream) {}

    /** An event was created. */
    default void eventCreated(EventDriver event, EventOptions options) {}

    /** An event is about to be closed. */
    default void beforeEventClose(EventDriver event) {}

    /** A command is about to be offered. */
    default void beforeEnqueue(StreamDriver stream, Command command) {}

    /** A command was offered. */
    default void enqueued(StreamDriver stream, Command command, Enqueue result) {}

    /** An event is about to be recorded. */
    default void beforeRecord(StreamDriver stream, EventDriver event) {}

    /** A stream is about to wait for an event. */
    default void beforeWait(StreamDriver stream, EventDriver event) {}

    /** A stream was synchronized. */
    default void synchronizedStream(StreamDriver stream) {}

    /** A communicator was joined or made by a split. */
    default void communicatorCreated(CommunicatorDriver communicator, int size) {}

    /** A communicator is about to be closed. */
    default void beforeCommunicatorClose(CommunicatorDriver communicator) {}

    /** A group of collective parts is about to be issued. */
    default void beforeCollective(CommunicatorDriver communicator, List<CollectiveDriver.Part> group) {}

    /** A graph was prepared. */
    default void graphInstantiated(
            GraphExecutable executable, CommandGraph graph, List<? extends DeviceDriver> devices) {}

    /** A prepared graph is about to be released. */
    default void beforeGraphClose(GraphExecutable executable) {}

    /** A graph is about to be launched. */
    default void beforeLaunch(CommandGraph graph) {}

    /** The platform is about to be closed. */
    default void beforeClose(PlatformDriver platform) {}
}
