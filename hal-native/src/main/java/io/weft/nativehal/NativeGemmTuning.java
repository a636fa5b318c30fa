// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import io.weft.api.graph.Command;
import io.weft.nativehal.driver.GemmPlan;
import io.weft.spi.DeviceDriver;
import io.weft.spi.GemmTuningDriver;
import java.util.List;
import java.util.Optional;

/** The kernels that the library offers for a product, and the choice among them. */
final class NativeGemmTuning implements GemmTuningDriver {
    private final NativePlatform platform;

    NativeGemmTuning(NativePlatform platform) {
        this.platform = platform;
    }

    private GemmPlan plan(DeviceDriver device, Command.Gemm gemm) {
        NativeDevice own = platform.own("tune gemm", device);
        own.makeCurrent();
        return own.gemms().plan(gemm);
    }

    @Override
    public List<Kernel> kernels(DeviceDriver device, Command.Gemm gemm) {
        return plan(device, gemm).kernels();
    }

    @Override
    public Optional<String> chosen(DeviceDriver device, Command.Gemm gemm) {
        return plan(device, gemm).chosen();
    }

    @Override
    public boolean choose(DeviceDriver device, Command.Gemm gemm, String id) {
        GemmPlan plan = plan(device, gemm);
        boolean known = plan.choose(id);
        if (known) {
            ((NativeDevice) device).gemms().changed();
        }
        return known;
    }

    @Override
    public void chooseDefault(DeviceDriver device, Command.Gemm gemm) {
        plan(device, gemm).chooseDefault();
        ((NativeDevice) device).gemms().changed();
    }
}
