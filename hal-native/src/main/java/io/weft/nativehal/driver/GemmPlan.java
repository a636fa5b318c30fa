// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.driver;

import io.weft.api.graph.Command;
import io.weft.spi.GemmTuningDriver;
import java.util.List;
import java.util.Optional;

/** How one shape of product is carried out by a library. Issuing by it writes nothing of it. Safe for any thread. */
public interface GemmPlan {
    /** Whether the library carries it out; otherwise our own slow kernel does. */
    boolean isNative();

    /** Kernels that the library offers, its own favourite first; empty when it gives no choice. */
    List<GemmTuningDriver.Kernel> kernels();

    /** The kernel in use, if it is among {@link #kernels()}. */
    Optional<String> chosen();

    /** Uses a kernel from now on. Whether the library offers it. */
    boolean choose(String id);

    /** Goes back to the library's favourite. */
    void chooseDefault();

    /** Workspace that the kernel in use needs, bytes. */
    long workspaceBytes();

    /** Issues a product of buffers. The device is current. */
    void issue(Command.Gemm gemm, IssuePlace place);

    /** Releases it. */
    void close();
}
