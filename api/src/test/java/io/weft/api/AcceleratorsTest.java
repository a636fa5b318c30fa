// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AcceleratorsTest {
    private static final String AVAILABLE = "return new Probe.Available(\"one device\");";

    @TempDir
    Path plugins;

    @Test
    void goodPluginsLoadBesideEveryKindOfBrokenOne() throws IOException {
        modular("a-good.jar", "test.good", "good", "good", "1, 0", "", AVAILABLE);
        PluginJar.plain(
                plugins.resolve("b-plain.jar"), "plain", PluginJar.provider("plain", "plain", "1, 0", "", AVAILABLE));
        modular(
                "c-throws.jar",
                "test.thrower",
                "thrower",
                "thrower",
                "1, 0",
                "throw new IllegalStateException(\"no luck\");",
                AVAILABLE);
        Files.writeString(plugins.resolve("d-text.jar"), "this is no jar");
        modular(
                "e-absent.jar",
                "test.absent",
                "absent",
                "absent",
                "1, 0",
                "",
                "return new Probe.Absent(\"no such device\");");
        modular("f-newer.jar", "test.newer", "newer", "newer", "2, 0", "", AVAILABLE);
        modular("g-twin.jar", "test.twin", "twin", "good", "1, 0", "", AVAILABLE);
        modular(
                "h-probe.jar",
                "test.probe",
                "probe",
                "probe",
                "1, 0",
                "",
                "throw new UnsatisfiedLinkError(\"libx.so\");");
        Files.createDirectory(plugins.resolve("i-empty"));
        modular("j-denied.jar", "test.denied", "denied", "denied", "1, 0", "System.exit(3);", AVAILABLE);
        modular("k-refused.jar", "test.refused", "refused", "refused-id", "1, 0", "", AVAILABLE);

        Accelerators found = Accelerators.discover(DiscoveryOptions.defaults()
                .pluginDirectory(plugins)
                .deny("j-denied.jar")
                .deny("refused-id"));

        assertEquals(ProviderVerdict.State.LOADED, of(found, "a-good.jar").state());
        assertEquals(ProviderVerdict.State.LOADED, of(found, "b-plain.jar").state());
        failed(found, "c-throws.jar", "no luck");
        failed(found, "d-text.jar", "zip");
        assertEquals(ProviderVerdict.State.ABSENT, of(found, "e-absent.jar").state());
        assertEquals("no such device", of(found, "e-absent.jar").detail());
        assertEquals(
                ProviderVerdict.State.INCOMPATIBLE, of(found, "f-newer.jar").state());
        assertTrue(of(found, "f-newer.jar").detail().contains("2.0"));
        failed(found, "g-twin.jar", "a-good.jar");
        failed(found, "h-probe.jar", "libx.so");
        failed(found, "i-empty", "provides no");
        assertEquals(ProviderVerdict.State.DISABLED, of(found, "j-denied.jar").state());
        assertEquals(ProviderVerdict.State.DISABLED, of(found, "k-refused.jar").state());
        assertEquals(List.of("good:one", "plain:one"), found.knownUris());

        refused(found, "absent:one", ErrorCode.UNAVAILABLE, "no such device");
        refused(found, "thrower.Provider:one", ErrorCode.INVALID_ARGUMENT, "provider:target");
        refused(found, "nobody:one", ErrorCode.NOT_FOUND, "good:one");
        refused(found, "good:one", ErrorCode.INTERNAL, "open is broken");
        refused(found, "newer:one", ErrorCode.UNAVAILABLE, "INCOMPATIBLE");
    }

    @Test
    void aPluginGetsTheJdkModuleThatItWouldLikeAlthoughTheJvmStartedWithoutIt() {
        assertTrue(
                ModuleLayer.boot().findModule("jdk.incubator.vector").isEmpty(), "the test JVM must start without it");
        PluginJar.modular(
                plugins.resolve("likes.jar"),
                "test.likes",
                "likes",
                PluginJar.provider(
                        "likes",
                        "likes",
                        "1, 0",
                        "",
                        "return new Probe.Available(jdk.incubator.vector.FloatVector.class.getSimpleName());"),
                "requires static jdk.incubator.vector;");
        Accelerators found = Accelerators.discover(DiscoveryOptions.defaults().pluginDirectory(plugins));
        assertEquals("FloatVector", of(found, "likes.jar").detail());
    }

    @Test
    void aPluginBuildsOnAnotherOneOfAnyFolderAndSharesItsClasses() throws IOException {
        twoFoldersOfWhichTheFirstNeedsTheSecond();
        Accelerators found = Accelerators.discover(DiscoveryOptions.defaults()
                .pluginDirectory(plugins.resolve("one"))
                .pluginDirectory(plugins.resolve("two")));
        assertEquals(ProviderVerdict.State.LOADED, of(found, "base.jar").state());
        assertEquals("same class", of(found, "vendor.jar").detail());
        assertEquals(List.of("vendor:one", "base:one"), found.knownUris(), "each is offered once");
    }

    @Test
    void aPluginWhoseBaseIsTurnedOffOrMissingSaysSo() throws IOException {
        twoFoldersOfWhichTheFirstNeedsTheSecond();
        Accelerators off = Accelerators.discover(DiscoveryOptions.defaults()
                .pluginDirectory(plugins.resolve("one"))
                .pluginDirectory(plugins.resolve("two"))
                .deny("base.jar"));
        failed(off, "vendor.jar", "needs test.base of the plugin 'base.jar', which is turned off");
        Accelerators missing =
                Accelerators.discover(DiscoveryOptions.defaults().pluginDirectory(plugins.resolve("one")));
        failed(missing, "vendor.jar", "test.base");
    }

    /** The vendor's probe compares the class that it sees with the one that the base's constructor left. */
    private void twoFoldersOfWhichTheFirstNeedsTheSecond() throws IOException {
        Path one = Files.createDirectory(plugins.resolve("one"));
        Path base = Files.createDirectory(plugins.resolve("two")).resolve("base.jar");
        PluginJar.modular(
                base,
                "test.base",
                "base",
                PluginJar.provider(
                        "base", "base", "1, 0", "System.getProperties().put(\"test.base\", getClass());", AVAILABLE),
                "exports base;");
        PluginJar.modular(
                one.resolve("vendor.jar"),
                "test.vendor",
                "vendor",
                PluginJar.provider(
                        "vendor",
                        "vendor",
                        "1, 0",
                        "",
                        "new base.Provider(); return new Probe.Available(System.getProperties().get(\"test.base\")"
                                + " == base.Provider.class ? \"same class\" : \"another class\");"),
                "requires test.base;",
                base);
    }

    @Test
    void aFolderThatIsMissingHoldsNoPlugins() {
        Accelerators found =
                Accelerators.discover(DiscoveryOptions.defaults().pluginDirectory(plugins.resolve("none")));
        assertTrue(found.knownUris().isEmpty());
    }

    @Test
    void anUnknownDecoratorNamesTheKnownOnes() {
        AcceleratorException refusal = assertThrows(
                AcceleratorException.class,
                () -> Accelerators.discover(DiscoveryOptions.defaults().decorator("validate")));
        assertTrue(refusal.getMessage().contains("validation, leaks, tracing"), refusal.getMessage());
    }

    private void modular(
            String jar, String module, String packageName, String id, String spi, String constructor, String probe) {
        PluginJar.modular(
                plugins.resolve(jar),
                module,
                packageName,
                PluginJar.provider(packageName, id, spi, constructor, probe));
    }

    private static ProviderVerdict of(Accelerators found, String origin) {
        return found.verdicts().stream()
                .filter(verdict -> verdict.origin().equals(origin))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no verdict for " + origin + " in " + found.verdicts()));
    }

    private static void failed(Accelerators found, String origin, String word) {
        ProviderVerdict verdict = of(found, origin);
        assertEquals(ProviderVerdict.State.FAILED, verdict.state(), origin);
        assertTrue(verdict.detail().contains(word), verdict.detail());
        assertEquals(1, verdict.detail().lines().count(), verdict.detail());
    }

    private static void refused(Accelerators found, String uri, ErrorCode code, String word) {
        AcceleratorException refusal = assertThrows(AcceleratorException.class, () -> found.open(uri));
        assertEquals(code, refusal.code(), refusal.getMessage());
        assertTrue(refusal.getMessage().contains(word), refusal.getMessage());
    }
}
