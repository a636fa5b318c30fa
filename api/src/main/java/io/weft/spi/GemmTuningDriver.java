// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import io.weft.api.graph.Command;
import java.util.List;
import java.util.Optional;

/**
 * Extension: the kernels that a backend's library offers for a product, and the choice among them. A backend without choice lacks it. Safe for any thread.
 *
 * <p>A choice holds for all products that are carried out alike: equal types, shapes, pitches, layouts, transposes, factors, batches and alignment. It does not outlive the platform; whoever wants to keep it stores the
 * kernel's id beside the versions of the platform's libraries, and chooses it again. The operands of a product that is asked about may be slots or buffers.
 */
public interface GemmTuningDriver {
    /**
     * One kernel.
     *
     * @param id its name, stable for one device and one version of the libraries
     * @param waves how often the product's tiles fill the device; 0 when unknown
     * @param workspaceBytes device memory that it needs while it runs
     */
    record Kernel(String id, double waves, long workspaceBytes) {}

    /** The kernels for a product, the backend's favourite first; empty when it has no choice. */
    List<Kernel> kernels(DeviceDriver device, Command.Gemm gemm);

    /** The id of the kernel in use; empty when it has none of these. */
    Optional<String> chosen(DeviceDriver device, Command.Gemm gemm);

    /** Uses a kernel from now on. False when it is not among those offered, and then nothing changes. */
    boolean choose(DeviceDriver device, Command.Gemm gemm, String id);

    /** Goes back to the backend's favourite. */
    void chooseDefault(DeviceDriver device, Command.Gemm gemm);
}
