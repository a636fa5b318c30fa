// SPDX-License-Identifier: Apache-2.0
package io.weft.spi.decorator;

import io.weft.api.graph.Command;
import io.weft.spi.DeviceDriver;
import io.weft.spi.GemmTuningDriver;
import java.util.List;
import java.util.Optional;

/** Hands the backend its own devices; a choice of kernel is nothing to observe. */
final class ObservedGemmTuning implements GemmTuningDriver {
    private final GemmTuningDriver backend;

    ObservedGemmTuning(GemmTuningDriver backend) {
        this.backend = backend;
    }

    @Override
    public List<Kernel> kernels(DeviceDriver device, Command.Gemm gemm) {
        return backend.kernels(ObservedPlatform.unwrap(device), gemm);
    }

    @Override
    public Optional<String> chosen(DeviceDriver device, Command.Gemm gemm) {
        return backend.chosen(ObservedPlatform.unwrap(device), gemm);
    }

    @Override
    public boolean choose(DeviceDriver device, Command.Gemm gemm, String id) {
        return backend.choose(ObservedPlatform.unwrap(device), gemm, id);
    }

    @Override
    public void chooseDefault(DeviceDriver device, Command.Gemm gemm) {
        backend.chooseDefault(ObservedPlatform.unwrap(device), gemm);
    }
}
