// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.PlatformUri;
import io.weft.sim.machine.MachineReader;
import io.weft.sim.provider.MachinePlatform;
import io.weft.spi.AcceleratorProvider;
import io.weft.spi.PlatformDriver;
import io.weft.spi.Probe;
import io.weft.spi.ProviderDescriptor;
import io.weft.spi.SpiVersion;
import io.weft.spi.Target;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The provider {@code cuda}. Its models need no hardware, so it is always there; {@code cuda:native} says what is missing when it is opened. */
public final class CudaProvider implements AcceleratorProvider {
    static final String NATIVE = "native";

    private static final ProviderDescriptor DESCRIPTOR = new ProviderDescriptor(
            "cuda",
            "NVIDIA",
            "NVIDIA GPUs by CUDA, cuBLASLt and NCCL, and models of machines that have them",
            "0.1.0",
            new SpiVersion(1, 0));

    private static final List<Target> TARGETS = List.of(
            new Target(NATIVE, "the GPUs of this machine"),
            new Target("h200-2", "model: 2 NVIDIA H200 joined by 18 NVLinks"));

    /** For the service loader; no side effect. */
    public CudaProvider() {}

    @Override
    public ProviderDescriptor descriptor() {
        return DESCRIPTOR;
    }

    @Override
    public Probe probe() {
        return new Probe.Available("machine models; native: " + hardware());
    }

    /** What can be said about this machine without loading a library. */
    private static String hardware() {
        if (Files.exists(Path.of("/dev/nvidiactl")) || Files.exists(Path.of("/dev/dxg"))) {
            return "a driver is loaded";
        }
        return "no NVIDIA driver is loaded here";
    }

    @Override
    public List<Target> targets() {
        return TARGETS;
    }

    @Override
    public PlatformDriver open(PlatformUri uri) {
        String target = uri.target();
        if (target.equals(NATIVE)) {
            return CudaNative.open(uri);
        }
        if (TARGETS.stream().noneMatch(known -> known.name().equals(target))) {
            throw new AcceleratorException(
                    ErrorCode.NOT_FOUND,
                    "open " + uri,
                    "there is no target '" + target + "'; known are "
                            + String.join(
                                    ", ", TARGETS.stream().map(Target::name).toList()));
        }
        return MachinePlatform.open(uri, MachineReader.read(target + ".yaml", document(target)));
    }

    /** The document of a machine model that ships with this plugin. */
    static String document(String name) {
        String resource = "/io/weft/cuda/machines/" + name + ".yaml";
        try (InputStream in = CudaProvider.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new AcceleratorException(ErrorCode.INTERNAL, "machine", resource + " is not in the module");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
