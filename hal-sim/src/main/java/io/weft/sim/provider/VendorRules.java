// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.AcceleratorException;
import java.util.Map;

/**
 * What a vendor's libraries add to a machine model: what they keep for themselves, what they refuse, and how long they wait in virtual time. A plugin gives its own to {@link
 * MachinePlatform#open(io.weft.api.PlatformUri, io.weft.sim.machine.Machine, VendorRules)}; without it a model has no such limits.
 *
 * <p>All methods are called under the platform's lock, so one at a time and in the order of issue. They must not call the platform.
 */
public interface VendorRules {
    /** No limits. */
    VendorRules NONE = new VendorRules() {};

    /** Bytes to which symmetric windows are aligned, a power of two. */
    default long windowAlignment() {
        return SimSymmetricMemory.WINDOW_ALIGNMENT;
    }

    /** Device memory that the library keeps on each rank's device for one communicator, bytes. */
    default long communicatorBytes() {
        return 0;
    }

    /** Whether one communicator may be used by one rank from streams that nothing orders. */
    default boolean allowsUnorderedStreams() {
        return true;
    }

    /** Virtual time between the first and the last rank's joining of a communicator that is allowed, ns; infinite for no limit. */
    default double connectNanos() {
        return Double.POSITIVE_INFINITY;
    }

    /** Virtual time for which a rank in a collective waits for the others, ns; infinite for no limit. */
    default double executeNanos() {
        return Double.POSITIVE_INFINITY;
    }

    /**
     * Some ranks are about to join a communicator.
     *
     * @param communicator number of the communicator, unique on the platform
     * @param devices ordinal of the device of each rank that joins
     * @throws AcceleratorException to refuse
     */
    default void joining(long communicator, String name, int size, Map<Integer, Integer> devices) {}

    /** Some ranks have left a communicator for good. */
    default void left(long communicator, Map<Integer, Integer> devices) {}

    /**
     * A rank is about to issue the parts of one group call on one stream.
     *
     * @param stream identifies the stream while it lives
     * @param bytes that the rank gives or gets in these parts, the larger of the two for each
     * @return whether there is room; without room the host waits until something that the rank has in flight on this communicator ends, and asks again
     * @throws AcceleratorException to refuse
     */
    default boolean issuing(long communicator, int rank, int device, Object stream, long bytes) {
        return true;
    }

    /** What {@link #issuing} said yes to has ended, well or not. */
    default void ended(long communicator, int rank, int device, Object stream) {}

    /** Puts the library's own words and code to a failure of a collective. */
    default AcceleratorException told(AcceleratorException failure) {
        return failure;
    }

    /** Puts the library's own words and code to a time limit that was passed. */
    default AcceleratorException late(AcceleratorException failure, boolean whileConnecting) {
        return failure;
    }
}
