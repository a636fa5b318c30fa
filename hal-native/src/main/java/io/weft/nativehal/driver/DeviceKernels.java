// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.driver;

import io.weft.api.graph.Command;

/** What one device computes without a vendor's library: reductions, copies by compute units, and products of any types. Issuing is in the order of a stream; the device is current. Safe for any thread. */
public interface DeviceKernels {
    /** Copies a rectangle of bytes that this device can address, by compute units. */
    void copy(
            long destination, long destinationPitch, long source, long sourcePitch, long width, long rows, long stream);

    /**
     * A reduction of buffers, added up in fp32 and rounded once.
     *
     * @throws io.weft.api.AcceleratorException UNSUPPORTED for more inputs than it takes
     */
    void reduce(Command.Reduce command, long stream);

    /** A product of buffers, slowly but of any types, layouts and alignment. */
    void gemm(Command.Gemm command, long stream);

    /** Releases them. The device is current. */
    void close();
}
