// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.rccl;

import io.weft.api.AcceleratorException;
import java.util.function.Supplier;

/** Adds to a failure what RCCL says to it. */
final class RcclResults {
    private RcclResults() {}

    static <T> T of(String operation, Supplier<T> call) {
        try {
            return call.get();
        } catch (AcceleratorException failure) {
            throw said(operation, failure);
        }
    }

    static void run(String operation, Runnable call) {
        of(operation, () -> {
            call.run();
            return null;
        });
    }

    /** The same failure with RCCL's result. */
    static AcceleratorException said(String operation, AcceleratorException failure) {
        if (failure.vendorError().isPresent()) {
            return failure;
        }
        // RCCL tells two ranks on one GPU apart from other bad arguments: "Duplicate GPU detected".
        boolean duplicate =
                operation.equals("communicator") && failure.detail().contains("a device can be one rank only");
        RcclResult result = duplicate ? RcclResult.INVALID_USAGE : RcclResult.of(failure.code());
        return new AcceleratorException(
                failure.code(),
                failure.operation(),
                duplicate ? "duplicate GPU: " + failure.detail() : failure.detail(),
                failure.nextStep(),
                result.word(),
                failure.getCause());
    }
}
