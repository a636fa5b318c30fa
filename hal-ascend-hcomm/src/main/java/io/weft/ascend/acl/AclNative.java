// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.PlatformUri;
import io.weft.nativehal.NativeOptions;
import io.weft.nativehal.NativePlatform;
import io.weft.nativehal.driver.CollectiveLibrary;
import io.weft.nativehal.driver.GemmLibrary;
import io.weft.nativehal.driver.NativeMachine;
import io.weft.nativehal.driver.Vendor;
import io.weft.nativehal.ffi.Scratch;
import io.weft.spi.PlatformDriver;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The devices of this machine through the vendor's own libraries. */
public final class AclNative {
    private AclNative() {}

    /**
     * Opens the platform.
     *
     * @throws AcceleratorException UNAVAILABLE saying what is missing; NOT_FOUND for a device that is not there; INVALID_ARGUMENT for an option
     */
    public static PlatformDriver open(PlatformUri uri) {
        NativeOptions options = NativeOptions.of(uri);
        List<Path> folders = new ArrayList<>(options.libraries());
        folders.addAll(AclLibraries.usualFolders(System.getenv()));
        AclLibraries libraries = new AclLibraries(folders);
        if (libraries.find(AclFunction.ACL_INIT).isEmpty()) {
            throw absent(
                    uri,
                    libraries.refusals().isEmpty()
                            ? "the runtime is not here (" + AclLibrary.ASCENDCL.file() + ")"
                            : "the runtime cannot be used: " + String.join("; ", libraries.refusals()),
                    "install CANN and source its set_env.sh, or name the folder with libraries=");
        }
        AclCalls calls = new AclCalls(libraries);
        boolean opened = false;
        try {
            calls.start();
            int count = count(calls);
            if (count == 0) {
                throw absent(uri, "the runtime lists no device", "check npu-smi info and ASCEND_RT_VISIBLE_DEVICES");
            }
            PlatformDriver platform = open(uri, options, calls, NativePlatform.ordinals(uri, options, count));
            opened = true;
            return platform;
        } finally {
            if (!opened) {
                calls.close();
            }
        }
    }

    private static PlatformDriver open(PlatformUri uri, NativeOptions options, AclCalls calls, List<Integer> ordinals) {
        AclRuntime runtime = new AclRuntime(calls);
        NativeMachine machine = AclMachine.read(runtime, ordinals);
        AclOperators operators = new AclOperators(runtime);
        HcclLibrary collectives = new HcclLibrary(runtime, operators);
        AclProducts products = new AclProducts(runtime, operators);
        Vendor vendor = new Vendor(
                "Huawei",
                runtime,
                device -> new AclKernels(runtime, operators),
                products.isComplete() ? Optional.<GemmLibrary>of(products) : Optional.empty(),
                collectives.isComplete() ? Optional.<CollectiveLibrary>of(collectives) : Optional.empty(),
                Optional.empty(),
                versions(calls));
        return new NativePlatform(uri, options, vendor, machine);
    }

    private static int count(AclCalls calls) {
        Scratch out = Scratch.mine();
        out.integer(0, 0);
        int code = calls.direct(AclFunction.GET_DEVICE_COUNT, out.address());
        if (code != 0) {
            throw calls.failure("count devices", code);
        }
        return out.integer(0);
    }

    private static Map<String, String> versions(AclCalls calls) {
        Map<String, String> versions = new LinkedHashMap<>();
        if (calls.libraries().find(AclFunction.GET_VERSION).isPresent()) {
            Scratch out = Scratch.mine();
            long at = out.address();
            if (calls.direct(AclFunction.GET_VERSION, at, at + 8, at + 16) == 0) {
                versions.put("runtime", out.integer(0) + "." + out.integer(8) + "." + out.integer(16));
            }
        }
        return versions;
    }

    private static AcceleratorException absent(PlatformUri uri, String reason, String next) {
        return new AcceleratorException(ErrorCode.UNAVAILABLE, "open " + uri, reason, next, null, null);
    }
}
