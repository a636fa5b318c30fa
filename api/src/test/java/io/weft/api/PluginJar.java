// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Compiles a one-class plugin to a real jar, so that discovery is tested on what plugin authors ship. */
final class PluginJar {
    private PluginJar() {}

    /** Source of a provider class with the given id, SPI version and bodies. */
    static String provider(String packageName, String id, String spi, String constructor, String probe) {
        return """
                package %s;
                import io.weft.api.*;
                import io.weft.spi.*;
                import java.util.List;
                public class Provider implements AcceleratorProvider {
                    public Provider() { %s }
                    public ProviderDescriptor descriptor() {
                        return new ProviderDescriptor("%s", "Test", "A test provider.", "1", new SpiVersion(%s));
                    }
                    public Probe probe() { %s }
                    public List<Target> targets() { return List.of(new Target("one", "The only one.")); }
                    public PlatformDriver open(PlatformUri uri) { throw new IllegalStateException("open is broken"); }
                }
                """.formatted(packageName, constructor, id, spi, probe);
    }

    /** A modular plugin jar. */
    static void modular(Path jar, String module, String packageName, String source) {
        modular(jar, module, packageName, source, "");
    }

    /** A modular plugin jar whose descriptor says more, and which may build on other jars. */
    static void modular(Path jar, String module, String packageName, String source, String directives, Path... bases) {
        build(
                jar,
                source,
                packageName,
                "module " + module + " { requires io.weft.api; " + directives
                        + " provides io.weft.spi.AcceleratorProvider with " + packageName + ".Provider; }",
                bases);
    }

    /** A plain jar with a service file. */
    static void plain(Path jar, String packageName, String source) {
        build(jar, source, packageName, null);
    }

    private static void build(Path jar, String source, String packageName, String moduleInfo, Path... bases) {
        try {
            Path work = Files.createTempDirectory(jar.getParent(), ".build");
            Path file = work.resolve("src/" + packageName.replace('.', '/') + "/Provider.java");
            Files.createDirectories(file.getParent());
            Files.writeString(file, source);
            List<String> arguments = new ArrayList<>(
                    List.of("-Xlint:-incubating", "-d", work.resolve("out").toString()));
            String api = Path.of(Accelerators.class
                            .getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .getPath())
                    .toString();
            if (moduleInfo == null) {
                arguments.addAll(List.of("-cp", api));
            } else {
                Path info = work.resolve("src/module-info.java");
                Files.writeString(info, moduleInfo);
                String modulePath = Stream.concat(
                                Stream.of(api), Stream.of(bases).map(Path::toString))
                        .collect(Collectors.joining(File.pathSeparator));
                arguments.addAll(List.of("-p", modulePath, info.toString()));
            }
            arguments.add(file.toString());
            ToolProvider compiler = ToolProvider.findFirst("javac").orElseThrow();
            if (compiler.run(System.out, System.err, arguments.toArray(String[]::new)) != 0) {
                throw new IllegalStateException("the test plugin does not compile");
            }
            try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
                if (moduleInfo == null) {
                    out.putNextEntry(new JarEntry("META-INF/services/io.weft.spi.AcceleratorProvider"));
                    out.write((packageName + ".Provider\n").getBytes(java.nio.charset.StandardCharsets.UTF_8));
                }
                Path classes = work.resolve("out");
                try (Stream<Path> files = Files.walk(classes)) {
                    for (Path compiled :
                            files.filter(Files::isRegularFile).sorted().toList()) {
                        out.putNextEntry(
                                new JarEntry(classes.relativize(compiled).toString()));
                        Files.copy(compiled, out);
                    }
                }
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
