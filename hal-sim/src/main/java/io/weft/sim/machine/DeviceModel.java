// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

import io.weft.api.ElementType;
import java.util.Map;

/**
 * One device. Devices of a machine may all differ.
 *
 * @param name product name
 * @param architecture architecture id
 * @param node the server that it sits in, from 0
 * @param numaNode host NUMA node, -1 when unknown
 * @param busId bus address, empty when unknown
 * @param computeUnits compute units over which tiles are spread
 * @param clockGhz GHz, for people
 * @param gemm matrix products
 * @param memory device memory
 * @param copyEngines copy engines
 * @param kernels other kernels
 * @param launch launch costs
 * @param hostLink way to host memory
 * @param fp8 8-bit float encoding
 * @param extra further facts for people
 */
public record DeviceModel(
        String name,
        String architecture,
        int node,
        int numaNode,
        String busId,
        int computeUnits,
        double clockGhz,
        GemmModel gemm,
        MemoryModel memory,
        CopyEngineModel copyEngines,
        KernelModel kernels,
        LaunchModel launch,
        HostLinkModel hostLink,
        Fp8Encoding fp8,
        Map<String, String> extra) {
    public DeviceModel {
        extra = java.util.Collections.unmodifiableMap(new java.util.LinkedHashMap<>(extra));
    }

    /** The same with other copy engines and kernels. */
    public DeviceModel with(CopyEngineModel otherEngines, KernelModel otherKernels) {
        return new DeviceModel(
                name,
                architecture,
                node,
                numaNode,
                busId,
                computeUnits,
                clockGhz,
                gemm,
                memory,
                otherEngines,
                otherKernels,
                launch,
                hostLink,
                fp8,
                extra);
    }

    /** Whether the GEMM takes this input type. */
    public boolean multiplies(ElementType type) {
        return gemm.peakFlops().containsKey(type);
    }
}
