// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import io.weft.api.AcceleratorException;

/**
 * Extension: faults on demand. What an application, a decorator or the conformance suite does when hardware fails can only be tested when something fails. Safe for
 * any thread.
 */
public interface FaultDriver {
    /**
     * Makes one command fail: it writes nothing, and its stream fails with the cause.
     *
     * @param device ordinal of the device
     * @param nth which of the commands that the device starts from now on, 1 being the next
     * @param cause what the stream fails with
     */
    void failCommand(int device, int nth, AcceleratorException cause);

    /**
     * Takes a device away at this instant: its streams fail with DEVICE_LOST, and so does every later call to it. Memory can still be freed.
     *
     * @param device ordinal of the device
     */
    void loseDevice(int device);
}
