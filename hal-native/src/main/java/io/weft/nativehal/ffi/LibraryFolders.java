// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.ffi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Where vendors' libraries may lie: settings, environment, and the packages of the user's Python. What does not exist is left out by whoever looks into them. */
public final class LibraryFolders {
    private LibraryFolders() {}

    /** Folders of a system property, or of an environment variable where that is not set; separated by colons. */
    public static List<Path> ofSetting(String property, String variable) {
        return NativeLibrary.folders(
                System.getProperty(property, System.getenv().getOrDefault(variable, "")));
    }

    /** Folders of an environment variable, separated by colons, each with something below it; empty for themselves. */
    public static List<Path> ofVariable(String variable, String below) {
        return NativeLibrary.folders(System.getenv().getOrDefault(variable, "")).stream()
                .map(folder -> below.isEmpty() ? folder : folder.resolve(below))
                .toList();
    }

    /** The folders {@code site-packages} and {@code dist-packages} of the Pythons that the user has chosen, as that is where machines of machine-learning people have vendors' libraries. */
    public static List<Path> pythonPackages() {
        List<Path> folders = new ArrayList<>();
        Map<String, String> environment = System.getenv();
        List<Path> places = new ArrayList<>();
        for (String name : List.of("VIRTUAL_ENV", "CONDA_PREFIX")) {
            places.addAll(NativeLibrary.folders(environment.getOrDefault(name, "")));
        }
        for (Path binary : NativeLibrary.folders(environment.getOrDefault("PATH", ""))) {
            if (binary.getParent() != null && Files.exists(binary.resolve("python3"))) {
                places.add(binary.getParent());
            }
        }
        for (Path place : places) {
            for (Path python : children(place.resolve("lib"))) {
                if (python.getFileName().toString().startsWith("python3")) {
                    folders.add(python.resolve("site-packages"));
                    folders.add(python.resolve("dist-packages"));
                }
            }
        }
        return folders;
    }

    /** The folders in a folder, in order; none when it cannot be read. */
    public static List<Path> children(Path folder) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> list = Files.list(folder)) {
            return list.filter(Files::isDirectory).sorted().toList();
        } catch (IOException unreadable) {
            return List.of();
        }
    }
}
