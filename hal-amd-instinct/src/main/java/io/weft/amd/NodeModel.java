// SPDX-License-Identifier: Apache-2.0
package io.weft.amd;

import io.weft.amd.rccl.RcclWays;
import io.weft.amd.rccl.RingSearch;
import io.weft.amd.sdma.EngineMap;
import io.weft.amd.sdma.SdmaRules;
import io.weft.amd.setting.AmdSettings;
import io.weft.amd.setting.Setting;
import io.weft.sim.machine.CopyEngineModel;
import io.weft.sim.machine.DeviceModel;
import io.weft.sim.machine.KernelModel;
import io.weft.sim.machine.Machine;
import java.util.ArrayList;
import java.util.List;

/** Gives a machine AMD's runtimes: SDMA's rules, hardware queues, RCCL's rings and ways, all under the settings of the node. */
final class NodeModel {
    /** Engines that serve the host, while there are so many. */
    private static final int HOST_ENGINES = 2;

    private NodeModel() {}

    /** The machine under settings, engines dealt out as its shape has it. */
    static Machine of(Machine machine, AmdSettings settings) {
        return of(machine, settings, EngineMap::of);
    }

    /**
     * The machine under settings.
     *
     * @param recommended the engines that its driver recommends
     */
    static Machine of(
            Machine machine, AmdSettings settings, java.util.function.Function<Machine, EngineMap> recommended) {
        boolean engines = !settings.isOff(Setting.HSA_ENABLE_SDMA);
        List<DeviceModel> devices = new ArrayList<>();
        for (DeviceModel device : machine.devices()) {
            int count = engines ? settings.engines().orElse(device.copyEngines().count()) : 0;
            devices.add(
                    device.with(engines(device.copyEngines(), count, settings), queues(device.kernels(), settings)));
        }
        Machine.Builder builder = machine.with(devices, RcclWays.under(settings, machine));
        RingSearch.rings(machine).forEach(builder::ring);
        Machine shaped = builder.build();
        EngineMap map = settings.isOff(Setting.HSA_ENABLE_SDMA_RECOMMENDED_ENG)
                ? EngineMap.inOrder(shaped)
                : recommended.apply(shaped);
        Machine.Builder ruled = shaped.with(devices, shaped.collectiveModels());
        return ruled.copyRules(new SdmaRules(shaped, map, settings)).build();
    }

    private static CopyEngineModel engines(CopyEngineModel model, int count, AmdSettings settings) {
        long kernelUpTo =
                1024L * settings.number(Setting.ROC_P2P_SDMA_SIZE, (int) (SdmaRules.PEER_KERNEL_BYTES / 1024));
        return new CopyEngineModel(
                count,
                Math.min(HOST_ENGINES, count),
                model.bandwidth(),
                model.setupNanos(),
                kernelUpTo + 1,
                model.rowOverheadBytes(),
                List.of());
    }

    private static KernelModel queues(KernelModel model, AmdSettings settings) {
        return model.withHardwareQueues(settings.number(Setting.GPU_MAX_HW_QUEUES, model.hardwareQueues()));
    }
}
