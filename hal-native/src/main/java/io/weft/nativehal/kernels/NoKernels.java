// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.kernels;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.graph.Command;
import io.weft.nativehal.driver.DeviceKernels;

/** A device without kernels of our own, because what compiles them is not here: copies by engines, products and collectives by libraries still work. */
public final class NoKernels implements DeviceKernels {
    private final String reason;
    private final String nextStep;

    /**
     * @param reason what is missing
     * @param nextStep what to do about it
     */
    public NoKernels(String reason, String nextStep) {
        this.reason = reason;
        this.nextStep = nextStep;
    }

    private AcceleratorException refuse(String operation) {
        return new AcceleratorException(ErrorCode.UNSUPPORTED, operation, reason, nextStep, null, null);
    }

    @Override
    public void copy(
            long destination,
            long destinationPitch,
            long source,
            long sourcePitch,
            long width,
            long rows,
            long stream) {
        throw refuse("copy by compute units");
    }

    @Override
    public void reduce(Command.Reduce command, long stream) {
        throw refuse("reduce");
    }

    @Override
    public void gemm(Command.Gemm command, long stream) {
        throw refuse("gemm");
    }

    @Override
    public void close() {
        // Nothing was loaded.
    }
}
