// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.hccl;

import io.weft.api.Platform;
import io.weft.api.PlatformUri;
import io.weft.ascend.AscendMetrics;
import io.weft.sim.machine.Machine;
import io.weft.sim.machine.MachineCatalog;

/** Platforms for tests: a neutral machine under the rules of a family. */
public final class Models {
    private Models() {}

    /** Eight devices in a mesh. */
    public static Platform open(HcclFamily family, String options) {
        Machine machine = MachineCatalog.open("mesh-8");
        PlatformUri uri = PlatformUri.parse("ascend:mesh-8" + (options.isEmpty() ? "" : "?" + options));
        return new Platform(uri, HcclPlatform.open(uri, machine, family, new AscendMetrics()));
    }
}
