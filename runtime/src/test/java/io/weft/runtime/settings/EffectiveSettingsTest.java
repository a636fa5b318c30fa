// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class EffectiveSettingsTest {
    @TempDir
    private Path folder;

    private Path system;
    private Path user;
    private Path work;
    private Path project;

    @BeforeEach
    void layOut() throws IOException {
        system = folder.resolve("etc.properties");
        user = folder.resolve("home/weft.properties");
        project = folder.resolve("project/weft.properties");
        work = folder.resolve("project/deep/inside");
        Files.createDirectories(user.getParent());
        Files.createDirectories(work);
    }

    private EffectiveSettings load(Map<String, String> environment, Map<String, String> commandLine) {
        return EffectiveSettings.load(new SettingsSources(system, false, user, work, environment, commandLine));
    }

    private String refusal() {
        return refusal(Map.of(), Map.of());
    }

    private String refusal(Map<String, String> environment, Map<String, String> commandLine) {
        AcceleratorException refusal = assertThrows(AcceleratorException.class, () -> load(environment, commandLine));
        assertEquals(ErrorCode.BAD_DOCUMENT, refusal.code());
        assertEquals(1, refusal.getMessage().lines().count(), refusal.getMessage());
        return refusal.detail();
    }

    @Test
    void everySettingHasItsDefaultWhenNothingIsGiven() {
        EffectiveSettings settings = load(Map.of(), Map.of());
        assertEquals(Catalogue.all().size(), settings.entries().size());
        for (EffectiveSettings.Entry<?> entry : settings.entries()) {
            assertEquals(entry.setting().defaultValue(), entry.value());
            assertEquals(Origin.BUILT_IN, entry.origin());
        }
        assertEquals(ElementType.BF16, settings.value(Catalogue.PLAN_ELEMENT_TYPE));
    }

    @Test
    void aStrongerLayerWinsAndNamesItsPlace() throws IOException {
        Files.writeString(
                system, "run.seed = 1\nplan.select=all\nprogress=never\nplan.threads=2\nschedule.chunks=2,4\n");
        Files.writeString(user, "# mine\n\nrun.seed = 2\nplan.select=heuristic\nprogress=always\nplan.threads=3\n");
        Files.writeString(project, "run.seed=3\nplan.select=model\nprogress = auto\n");
        EffectiveSettings settings =
                load(Map.of("WEFT_RUN_SEED", "4", "WEFT_PLAN_SELECT", "all"), Map.of("run.seed", "5"));

        assertEquals(5, settings.value(Catalogue.RUN_SEED));
        assertEquals(
                new Origin(Layer.COMMAND_LINE, "-D run.seed"),
                settings.entry(Catalogue.RUN_SEED).origin());
        assertEquals("all", settings.value(Catalogue.PLAN_SELECT));
        assertEquals(
                new Origin(Layer.ENVIRONMENT, "WEFT_PLAN_SELECT"),
                settings.entry(Catalogue.PLAN_SELECT).origin());
        assertEquals("auto", settings.value(Catalogue.PROGRESS));
        assertEquals(
                new Origin(Layer.PROJECT, project + ":3"),
                settings.entry(Catalogue.PROGRESS).origin());
        assertEquals(3, settings.value(Catalogue.PLAN_THREADS));
        assertEquals(
                new Origin(Layer.USER, user + ":6"),
                settings.entry(Catalogue.PLAN_THREADS).origin());
        assertEquals(List.of(2, 4), settings.value(Catalogue.SCHEDULE_CHUNKS));
        assertEquals(
                new Origin(Layer.SYSTEM, system + ":5"),
                settings.entry(Catalogue.SCHEDULE_CHUNKS).origin());
    }

    @Test
    void aContinuedValueIsPlacedWhereItStarts() throws IOException {
        Files.writeString(user, "\n# list\nschedule.chunks = 2,\\\n   4,\\\n   8\nrun.seed=9\n");
        EffectiveSettings settings = load(Map.of(), Map.of());
        assertEquals(List.of(2, 4, 8), settings.value(Catalogue.SCHEDULE_CHUNKS));
        assertEquals(
                user + ":3", settings.entry(Catalogue.SCHEDULE_CHUNKS).origin().place());
        assertEquals(user + ":6", settings.entry(Catalogue.RUN_SEED).origin().place());
    }

    @Test
    void anEmptyListOverridesALongerOne() throws IOException {
        Files.writeString(user, "providers.deny = sim, other\n");
        assertEquals(List.of("sim", "other"), load(Map.of(), Map.of()).value(Catalogue.PROVIDERS_DENY));
        assertEquals(
                List.of(), load(Map.of("WEFT_PROVIDERS_DENY", ""), Map.of()).value(Catalogue.PROVIDERS_DENY));
    }

    @Test
    void anUnknownKeyNamesTheNearestKnownOneAndItsPlace() throws IOException {
        Files.writeString(project, "# ours\nplan.slect = model\n");
        assertEquals(project + ":2: there is no setting 'plan.slect'; did you mean 'plan.select'?", refusal());
    }

    @Test
    void anUnknownVariableNamesTheNearestKnownOne() {
        assertEquals(
                "environment: there is no setting 'WEFT_RUN_SEDE'; did you mean 'WEFT_RUN_SEED'?",
                refusal(Map.of("WEFT_RUN_SEDE", "1"), Map.of()));
    }

    @Test
    void aKeyLikeNoOtherListsTheKnownOnes() {
        String text = refusal(Map.of(), Map.of("colour-of-the-sky", "blue"));
        assertTrue(
                text.startsWith("command line: there is no setting 'colour-of-the-sky'; known are decorators, "), text);
    }

    @Test
    void variablesOfTheLauncherAndOfOthersAreNoSettings() {
        EffectiveSettings settings = load(Map.of("WEFT_HOME", "/opt/weft", "PATH", "/bin"), Map.of());
        assertTrue(settings.entries().stream().allMatch(entry -> entry.origin().equals(Origin.BUILT_IN)));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            plan.select       | fastest | one of 'heuristic', 'model', 'all'
            plan.element-type | bf17    | one of fp32, fp16, bf16, fp8, fp8-e5m2, fp8-fnuz, fp8-e5m2-fnuz, int8, int32
            run.seed          | -1      | a whole number from 0
            run.seed          | 1.5     | a whole number from 0
            plan.threads      | 5000    | a whole number from 0 to 1024
            schedule.chunks   | 2,2     | whole numbers from 1 to 4096 between commas, each once
            schedule.chunks   | 2,,4    | whole numbers from 1 to 4096 between commas, each once
            schedule.streams  | many    | whole numbers from 1 to 64 between commas, each once
            providers.deny    | sim,    | names between commas, each once
            """)
    void aBadValueSaysWhatWouldBeAccepted(String key, String value, String accepted) throws IOException {
        Files.writeString(user, key + "=" + value + "\n");
        assertEquals(user + ":1: '" + key + "' cannot be '" + value + "'; accepted is " + accepted, refusal());
    }

    @Test
    void aBadValueOfAVariableNamesTheVariableOnce() {
        assertEquals(
                "WEFT_PROGRESS: cannot be 'loud'; accepted is one of 'auto', 'always', 'never'",
                refusal(Map.of("WEFT_PROGRESS", "loud"), Map.of()));
    }

    @Test
    void aBadValueIsRefusedEvenWhereAStrongerLayerOverridesIt() throws IOException {
        Files.writeString(user, "run.seed=none\n");
        assertTrue(refusal(Map.of(), Map.of("run.seed", "1")).startsWith(user + ":1: 'run.seed' cannot be 'none'"));
    }

    @Test
    void aKeyGivenTwiceInOneFileIsRefused() throws IOException {
        Files.writeString(user, "run.seed=1\n\nrun.seed=2\n");
        assertEquals(user + ":3: 'run.seed' was given before, in line 1", refusal());
    }

    @Test
    void aProjectFileCannotMakeWeftLoadCode() throws IOException {
        Files.writeString(project, "plugins.path=" + work + "\n");
        assertTrue(refusal().startsWith(project + ":1: 'plugins.path' is not accepted from a project file"));
    }

    @Test
    void foldersCountFromTheFileThatNamesThem() throws IOException {
        Files.createDirectories(user.getParent().resolve("more"));
        Files.writeString(user, "plugins.path = more\n");
        assertEquals(
                List.of(user.getParent().resolve("more")),
                load(Map.of(), Map.of()).value(Catalogue.PLUGINS_PATH));
    }

    @Test
    void aPluginFolderThatIsNotThereIsRefused() {
        String text = refusal(Map.of("WEFT_PLUGINS_PATH", "/no/such/folder"), Map.of());
        assertTrue(
                text.startsWith("WEFT_PLUGINS_PATH: cannot be '/no/such/folder'; accepted is existing folders"), text);
    }

    @Test
    void aDirectoryInPlaceOfAFileIsRefused() throws IOException {
        Files.createDirectories(project);
        assertEquals(project + " is a directory; accepted is a file with lines 'key = value'", refusal());
    }

    @Test
    void aFileInAnotherEncodingIsRefused() throws IOException {
        Files.write(user, "progress=n\u00e9ver\n".getBytes(StandardCharsets.ISO_8859_1));
        assertEquals(user + " is not UTF-8 text; accepted are lines 'key = value' in UTF-8", refusal());
    }

    @Test
    void binaryJunkIsRefused() throws IOException {
        Files.write(user, new byte[] {'a', '=', 'b', '\n', 0, 1, 2});
        assertEquals(user + ":2 is not text (character 0x00); accepted are lines 'key = value' in UTF-8", refusal());
    }

    @Test
    void aBrokenEscapeIsRefused() throws IOException {
        Files.writeString(user, "progress=\\u12zz\n");
        assertTrue(refusal().startsWith(user + " cannot be read as lines 'key = value'"), refusal());
    }

    @Test
    void aHugeFileIsRefusedUnread() throws IOException {
        Files.write(user, new byte[(1 << 20) + 1]);
        assertEquals(user + " has 1048577 bytes; a settings file may have 1048576", refusal());
    }

    @Test
    void aFileThatMayNotBeReadIsRefused() throws IOException {
        Files.writeString(user, "run.seed=1\n");
        Files.setPosixFilePermissions(user, PosixFilePermissions.fromString("---------"));
        Assumptions.assumeFalse(Files.isReadable(user), "this user reads every file");
        assertEquals(user + " cannot be read: permission denied", refusal());
    }

    @Test
    void aNamedSystemFileMustExist() {
        AcceleratorException refusal = assertThrows(
                AcceleratorException.class,
                () -> EffectiveSettings.load(new SettingsSources(system, true, user, work, Map.of(), Map.of())));
        assertEquals(system + " does not exist; it was named by -Dweft.settings.system", refusal.detail());
    }

    @Test
    void aByteOrderMarkIsNoPartOfTheFirstKey() throws IOException {
        Files.writeString(user, "\uFEFFrun.seed=7\n");
        assertEquals(7, load(Map.of(), Map.of()).value(Catalogue.RUN_SEED));
    }

    @ParameterizedTest
    @ValueSource(strings = {"include=other.properties\n", "includeOptional=other.properties\n"})
    void anIncludeIsAnUnknownKeyAndNotFollowed(String text) throws IOException {
        Files.writeString(user, text);
        Files.writeString(user.resolveSibling("other.properties"), "run.seed=7\n");
        assertTrue(refusal().contains("there is no setting 'include"), refusal());
    }

    @Test
    void nothingIsInterpolated() throws IOException {
        Files.writeString(user, "providers.deny=${env:HOME}\n");
        assertEquals(List.of("${env:HOME}"), load(Map.of(), Map.of()).value(Catalogue.PROVIDERS_DENY));
    }

    @Test
    void theUsersFileIsReadOnceWhenItIsTheProjectsToo() throws IOException {
        Files.writeString(user, "run.seed=7\n");
        EffectiveSettings settings =
                EffectiveSettings.load(new SettingsSources(system, false, user, user.getParent(), Map.of(), Map.of()));
        assertEquals(Layer.USER, settings.entry(Catalogue.RUN_SEED).origin().layer());
    }

    @Test
    void theUserFileFollowsTheXdgRules() {
        Path home = Path.of("/home/ada");
        assertEquals(
                Path.of("/conf/weft/weft.properties"),
                SettingsSources.userFile(Map.of("XDG_CONFIG_HOME", "/conf"), home));
        assertEquals(
                Path.of("/home/ada/.config/weft/weft.properties"),
                SettingsSources.userFile(Map.of("XDG_CONFIG_HOME", "relative"), home));
        assertEquals(Path.of("/home/ada/.config/weft/weft.properties"), SettingsSources.userFile(Map.of(), home));
    }

    @Test
    void everyDefaultIsAcceptedByItsOwnType() {
        for (Setting<?> setting : Catalogue.all()) {
            assertEquals(setting.defaultValue(), setting.type().parse(setting.defaultText(), folder));
            assertTrue(setting.doc().endsWith("."), setting.key());
            assertFalse(setting.accepted().isBlank());
        }
    }
}
