// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.driver;

/** Where commands are issued to: a stream of the runtime, live or captured into a graph, with workspace of its own. */
public interface IssuePlace {
    /** The runtime's stream. */
    long handle();

    /**
     * Workspace for one product at a time.
     *
     * @return address of at least so many bytes, 0 for none
     */
    long workspace(long bytes);
}
