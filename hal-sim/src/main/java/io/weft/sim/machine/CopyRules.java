// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

import io.weft.api.CopyMethod;

/**
 * A runtime's rules for copies: who carries one out. By default they follow what machine documents say; a vendor's plugin gives its machines the
 * rules of its own runtime, see {@link Machine.Builder#copyRules}.
 *
 * <p>Asked for every copy that is costed, so implementations allocate nothing. Immutable and safe for any thread. Copies over a network are not asked about:
 * network cards carry them.
 */
public interface CopyRules {
    /** In place of a device: pinned host memory. */
    int HOST = -1;

    /**
     * Whether an engine carries a copy out, rather than a kernel.
     *
     * @param machine the machine
     * @param device who copies; it has at least one engine
     * @param from where the data are, a device or {@link #HOST}
     * @param to where they go
     * @param bytes how many, more than 0
     * @param method what the application asks for
     */
    boolean byEngine(Machine machine, int device, int from, int to, long bytes, CopyMethod method);

    /** Which engine of the device carries it, from 0; asked only where {@link #byEngine} said yes. */
    int engine(Machine machine, int device, int from, int to);

    /**
     * What the engine moves at most, bytes/s, whatever the path allows: more than one engine's rate when several share the copy. It lines up at {@link #engine} alone:
     * an engine has several queues, so the others go on with what they have.
     */
    default double bandwidth(Machine machine, int device, int from, int to) {
        return machine.device(device).copyEngines().bandwidth();
    }

    /**
     * Bytes that an engine moves for a contiguous copy, at least as many as were asked for: engines move whole bursts.
     *
     * @param sourceOffset bytes from an aligned address
     * @param destinationOffset bytes from an aligned address
     */
    default long moved(long sourceOffset, long destinationOffset, long bytes) {
        return bytes;
    }
}
