// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

/** A point in the order of a stream. */
public interface EventDriver {
    /** Its device. */
    DeviceDriver device();

    /** Whether the last record is complete; true when it was never recorded. Throws the failure of the stream it was recorded on. */
    boolean query();

    /** Waits for the last record; returns at once when it was never recorded. Throws the failure of the stream it was recorded on. */
    void synchronize();

    /** Time stamp of the last record in ns of the platform's clock. Called only on complete, timed events. */
    double timestampNanos();

    /** Releases it. Called once. */
    void close();
}
