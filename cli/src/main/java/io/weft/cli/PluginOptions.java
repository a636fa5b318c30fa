// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.api.Accelerators;
import io.weft.runtime.WeftRuntime;
import io.weft.runtime.settings.EffectiveSettings;
import io.weft.runtime.settings.SettingsSources;
import io.weft.spi.EnvironmentCheck;
import io.weft.spi.ToolInput;
import io.weft.spi.TopologyReader;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Options that plugins bring: their readers' inputs become options of {@code topo}, the provider ids with an environment check become flags of {@code doctor}, and what such a check
 * reads beside the machine becomes options there. So the command names no vendor, and a plugin that is dropped in is in the help and in the completion too.
 *
 * <p>Options must be known before arguments are read, so plugins are looked for first, but only for those commands that show such options.
 */
final class PluginOptions {
    private static final Set<String> COMMANDS = Set.of("topo", "doctor", "completion", "help");

    private PluginOptions() {}

    /** Takes {@code -D} and passes over everything else. */
    @CommandLine.Command
    static final class SettingsOnly {
        @CommandLine.Option(names = "-D", mapFallbackValue = "")
        Map<String, String> settings = new LinkedHashMap<>();
    }

    static void add(CommandLine command, String... arguments) {
        boolean wanted = List.of(arguments).stream()
                .filter(argument -> command.getSubcommands().containsKey(argument))
                .limit(1)
                .anyMatch(COMMANDS::contains);
        if (!wanted) {
            return;
        }
        try (WeftRuntime runtime = WeftRuntime.start(settings(arguments))) {
            Accelerators found = runtime.accelerators();
            addReaders(command, found.extensions(TopologyReader.class));
            addChecks(command, found.extensions(EnvironmentCheck.class));
        }
    }

    private static EffectiveSettings settings(String... arguments) {
        SettingsOnly given = new SettingsOnly();
        try {
            new CommandLine(given)
                    .setUnmatchedArgumentsAllowed(true)
                    .setUnmatchedOptionsArePositionalParams(true)
                    .parseArgs(arguments);
        } catch (CommandLine.ParameterException wrong) {
            // The command itself says so in a moment.
            given.settings.clear();
        }
        return EffectiveSettings.load(SettingsSources.ofProcess(given.settings));
    }

    private static void addReaders(CommandLine command, Map<String, TopologyReader> readers) {
        TopoCommand topo = command.getSubcommands().get("topo").getCommand();
        CommandSpec spec = command.getSubcommands().get("topo").getCommandSpec();
        readers.forEach((provider, reader) -> {
            List<ToolInput> taken = addInputs(spec, provider, reader::inputs, command.getErr());
            topo.readers.add(new TopoCommand.Reader(provider, reader, taken));
        });
    }

    /** Makes options of a plugin's inputs; gives those that were free. */
    private static List<ToolInput> addInputs(
            CommandSpec spec, String provider, Supplier<List<ToolInput>> inputs, PrintWriter err) {
        List<ToolInput> taken = new ArrayList<>();
        for (ToolInput input : inputs(provider, inputs, err)) {
            if (isFree(spec, input.option(), provider, err)) {
                spec.addOption(OptionSpec.builder(input.option())
                        .type(List.class)
                        .auxiliaryTypes(Path.class)
                        .arity("1")
                        .paramLabel(input.form() == ToolInput.Form.FILE ? "FILE" : "DIR")
                        .description(escaped(input.description()))
                        .build());
                taken.add(input);
            }
        }
        return taken;
    }

    private static List<ToolInput> inputs(String provider, Supplier<List<ToolInput>> inputs, PrintWriter err) {
        try {
            return inputs.get();
        } catch (RuntimeException | LinkageError broken) {
            // One broken plugin never hurts another.
            err.println(
                    "weft: plugin '" + provider + "' cannot say what it reads: " + Failures.oneLine(broken.toString()));
            return List.of();
        }
    }

    private static void addChecks(CommandLine command, Map<String, EnvironmentCheck> checks) {
        DoctorCommand doctor = command.getSubcommands().get("doctor").getCommand();
        CommandSpec spec = command.getSubcommands().get("doctor").getCommandSpec();
        checks.forEach((provider, check) -> {
            if (isFree(spec, "--" + provider, provider, command.getErr())) {
                spec.addOption(OptionSpec.builder("--" + provider)
                        .type(boolean.class)
                        .arity("0")
                        .description(escaped(check.description()))
                        .build());
                doctor.checks.put(
                        provider,
                        new DoctorCommand.Check(check, addInputs(spec, provider, check::inputs, command.getErr())));
            }
        });
    }

    /** Picocli would take a percent sign in a plugin's words for a format. */
    private static String escaped(String text) {
        return text.replace("%", "%%");
    }

    private static boolean isFree(CommandSpec spec, String option, String provider, PrintWriter err) {
        if (spec.findOption(option) == null) {
            return true;
        }
        err.println("weft: the option " + option + " of plugin '" + provider + "' is left out: it is taken");
        return false;
    }

    /** What was given for an option; empty when it was not. */
    static List<Path> paths(CommandSpec spec, String option) {
        OptionSpec found = spec.findOption(option);
        List<Path> paths = new ArrayList<>();
        if (found != null && found.getValue() instanceof List<?> values) {
            values.forEach(value -> paths.add((Path) value));
        }
        return paths;
    }

    /** Whether a flag was given. */
    static boolean isSet(CommandSpec spec, String option) {
        OptionSpec found = spec.findOption(option);
        return found != null && Boolean.TRUE.equals(found.getValue());
    }
}
