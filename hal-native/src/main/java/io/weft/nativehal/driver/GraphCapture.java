// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.driver;

/** Streams captured into graphs that are launched as one. Handles are numbers. */
public interface GraphCapture {
    /** Starts to capture a stream's work into a graph. Streams that wait for events of a captured one join it. Other threads may call what they like meanwhile. */
    void beginCapture(long stream);

    /** Ends a capture and gives its graph. */
    long endCapture(long stream);

    /** Ends a capture that went wrong and drops what it has. */
    void dropCapture(long stream);

    /** Whether time stamps can be nodes of a graph. */
    boolean hasTimedGraphs();

    /** While a graph is captured: makes the record a node of the graph, which later launches carry out. */
    void recordAsNode(long event, long stream);

    /** Makes a graph ready to be launched. */
    long instantiate(long graph);

    /** Takes over the parameters of a graph of the same shape. Whether that was possible. */
    boolean update(long executable, long graph);

    /** Launches a graph on a stream. */
    void launch(long executable, long stream);

    /** Releases a graph that was made ready. */
    void destroyExecutable(long executable);

    /** Releases a captured graph. */
    void destroyGraph(long graph);
}
