// SPDX-License-Identifier: Apache-2.0
package io.weft.integration;

import java.nio.file.Path;

/** Where the build keeps what these tests look at. The build hands the values in; see the POM. */
final class Checkout {
    private Checkout() {}

    /** The root of the repository. */
    static Path root() {
        return Path.of(property("weft.root")).toAbsolutePath().normalize();
    }

    /** The directory image that {@code package} leaves. */
    static Path image() {
        return root().resolve("dist/target/weft");
    }

    /** A folder of this module's own to write into, which {@code clean} removes. */
    static Path scratch(String name) {
        return root().resolve("integration-tests/target").resolve(name);
    }

    /** The version of this build. */
    static String version() {
        return property("weft.version");
    }

    /** Where the Maven that runs these tests keeps other people's artifacts. */
    static Path localRepository() {
        return Path.of(property("weft.localRepository"));
    }

    /** Whether this build made the jars of sources and Javadoc; {@code -Dfast} does not. */
    static boolean sourcesAndJavadoc() {
        return Boolean.parseBoolean(property("weft.sourcesAndJavadoc"));
    }

    private static String property(String name) {
        String value = System.getProperty(name);
        if (value == null) {
            throw new IllegalStateException(name + " is not set: run these tests by ./mvnw verify");
        }
        return value;
    }
}
