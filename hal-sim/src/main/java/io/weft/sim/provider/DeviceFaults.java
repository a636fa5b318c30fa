// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.AcceleratorException;
import java.util.TreeMap;

/** The faults that await one device. Confined to the platform's lock. */
final class DeviceFaults {
    private final TreeMap<Long, AcceleratorException> planned = new TreeMap<>();
    private long started;
    private AcceleratorException lost;

    /** Plans a fault for the nth command from now. */
    void plan(int nth, AcceleratorException cause) {
        planned.put(started + nth, cause);
    }

    /** A command starts: why it is going to fail, or null. */
    AcceleratorException onStart() {
        started++;
        AcceleratorException cause = planned.isEmpty() ? null : planned.remove(started);
        return lost != null ? lost : cause;
    }

    /** The device is gone. */
    void lose(AcceleratorException cause) {
        lost = cause;
    }

    /** Why the device is gone, or null while it is there. */
    AcceleratorException lost() {
        return lost;
    }

    /** Checks that the device is there. */
    void requireAlive(String operation) {
        if (lost != null) {
            throw new AcceleratorException(lost.code(), operation, lost.detail(), lost);
        }
    }
}
