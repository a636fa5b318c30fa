// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.calibrate;

import io.weft.sim.machine.Machine;
import java.util.function.ToDoubleFunction;

/**
 * A number of a machine that may be fitted.
 *
 * @param key where it stands in the document
 * @param unit base units in one unit of the document
 * @param smooth whether predictions follow small changes; numbers that are rounded do not
 * @param low least value, base units
 * @param high greatest value, base units
 * @param scale a change that is worth noticing where the number is zero, base units
 * @param read its value, base units
 * @param write a machine with another value
 */
record FreeNumber(
        String key,
        double unit,
        boolean smooth,
        double low,
        double high,
        double scale,
        ToDoubleFunction<Machine> read,
        Writer write) {
    /** Makes a machine with another value. */
    interface Writer {
        Machine with(Machine machine, double value);
    }

    double value(Machine machine) {
        return read.applyAsDouble(machine);
    }

    Machine with(Machine machine, double value) {
        return write.with(machine, Math.clamp(value, low, high));
    }

    /** A step that is small against the number and large against rounding. */
    double step(Machine machine) {
        return Math.max(Math.abs(value(machine)), scale) * 1e-3;
    }
}
