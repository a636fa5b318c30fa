// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda;

import io.weft.api.graph.Command;
import io.weft.cuda.ffi.CublasLt;
import io.weft.spi.DeviceDriver;
import io.weft.spi.GemmTuningDriver;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The kernels that cuBLASLt offers for a product, and the choice among them. */
final class CudaGemmTuning implements GemmTuningDriver {
    private final CudaPlatform platform;

    CudaGemmTuning(CudaPlatform platform) {
        this.platform = platform;
    }

    private GemmPlan plan(DeviceDriver device, Command.Gemm gemm) {
        CudaDevice own = platform.own("tune gemm", device);
        own.makeCurrent();
        return own.gemms().plan(gemm);
    }

    @Override
    public List<Kernel> kernels(DeviceDriver device, Command.Gemm gemm) {
        List<Kernel> kernels = new ArrayList<>();
        for (MemorySegment kernel : plan(device, gemm).kernels()) {
            kernels.add(new Kernel(GemmPlan.id(kernel), CublasLt.waves(kernel), CublasLt.workspaceBytes(kernel)));
        }
        return kernels;
    }

    @Override
    public Optional<String> chosen(DeviceDriver device, Command.Gemm gemm) {
        return Optional.ofNullable(plan(device, gemm).chosen()).map(GemmPlan::id);
    }

    @Override
    public boolean choose(DeviceDriver device, Command.Gemm gemm, String id) {
        GemmPlan plan = plan(device, gemm);
        boolean known = plan.choose(id);
        if (known) {
            ((CudaDevice) device).gemms().changed();
        }
        return known;
    }

    @Override
    public void chooseDefault(DeviceDriver device, Command.Gemm gemm) {
        plan(device, gemm).chooseDefault();
        ((CudaDevice) device).gemms().changed();
    }
}
