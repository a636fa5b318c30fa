// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.AcceleratorException;
import io.weft.api.CopyMethod;
import java.util.Locale;

/** What moves a schedule's data between devices. */
public enum TransferEngine {
    /** Copy engines, which leave the compute units alone. */
    COPY_ENGINE("copy-engine"),
    /** Kernels, which take compute units. */
    KERNEL("kernel"),
    /** The backend's own collective operation. */
    COLLECTIVE("collective");

    private static final TransferEngine[] VALUES = values();

    private final String label;

    TransferEngine(String label) {
        this.label = label;
    }

    /** The name used in commands and JSON. */
    public String label() {
        return label;
    }

    /** How single copies are carried out. */
    CopyMethod copyMethod() {
        return this == KERNEL ? CopyMethod.KERNEL : CopyMethod.ENGINE;
    }

    /**
     * Finds an engine by its label.
     *
     * @throws AcceleratorException INVALID_ARGUMENT which lists the labels
     */
    public static TransferEngine parse(String text) {
        String key = text.strip().toLowerCase(Locale.ROOT).replace('_', '-');
        for (TransferEngine engine : VALUES) {
            if (engine.label.equals(key)) {
                return engine;
            }
        }
        throw AcceleratorException.invalid(
                "engine", "'" + text + "' is not an engine; known are copy-engine, kernel, collective");
    }

    @Override
    public String toString() {
        return label;
    }
}
