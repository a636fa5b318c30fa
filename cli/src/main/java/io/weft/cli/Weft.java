// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.api.AcceleratorException;
import io.weft.runtime.settings.EffectiveSettings;
import io.weft.runtime.settings.SettingsSources;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The {@code weft} command: the root of its sub-commands, and the options that all of them share. */
@Command(
        name = "weft",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        description = {
            "Sees, before you buy or rewrite anything, where a model's time goes on a machine, and what overlapping"
                    + " communication with compute gains.",
            "Predicted figures are labelled 'model', measured ones 'measured'."
        },
        subcommands = {
            PlanCommand.class,
            RunCommand.class,
            CalibrateCommand.class,
            BackendsCommand.class,
            TopoCommand.class,
            SweepCommand.class,
            DoctorCommand.class,
            BenchCommand.class,
            ConformCommand.class,
            PoolCommand.class,
            ConfigCommand.class,
            CompletionCommand.class
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:it worked and the answer is good",
            "1:it ran and the answer is bad (wrong data, a broken rule, a failed check)",
            "2:the input cannot be used; one line says why"
        },
        synopsisSubcommandLabel = "COMMAND")
public final class Weft implements Runnable {
    @Spec
    CommandSpec spec;

    @Option(
            names = "-D",
            paramLabel = "KEY=VALUE",
            mapFallbackValue = "",
            scope = ScopeType.INHERIT,
            description = "Set a setting; 'weft config' lists them.")
    Map<String, String> settings = new LinkedHashMap<>();

    @Option(names = "--debug", scope = ScopeType.INHERIT, description = "Show stack traces of failures.")
    boolean debug;

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }

    /** The settings that hold for this call. */
    EffectiveSettings settings() {
        return EffectiveSettings.load(SettingsSources.ofProcess(settings));
    }

    static boolean isDebug(CommandLine command) {
        return ((Weft) command.getCommandSpec().root().userObject()).debug;
    }

    /** The command with its handlers in place, writing where it is told. */
    static CommandLine commandLine(PrintWriter out, PrintWriter err) {
        Failures failures = new Failures();
        return new CommandLine(new Weft())
                .setOut(out)
                .setErr(err)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .registerConverter(Path.class, new FileName())
                .setUsageHelpAutoWidth(false)
                .setColorScheme(CommandLine.Help.defaultColorScheme(CommandLine.Help.Ansi.OFF))
                .setParameterExceptionHandler(failures)
                .setExecutionExceptionHandler(failures);
    }

    /** Runs one command and gives its exit code. */
    static int execute(PrintWriter out, PrintWriter err, String... arguments) {
        int code;
        try {
            CommandLine command = commandLine(out, err);
            PluginOptions.add(command, arguments);
            code = command.execute(arguments);
        } catch (AcceleratorException refusal) {
            code = Failures.report(refusal, err);
        } catch (OutOfMemoryError | StackOverflowError | LinkageError failure) {
            code = Failures.report(failure, err);
        }
        out.flush();
        err.flush();
        return code;
    }

    /**
     * Runs one command and ends the process with its exit code.
     *
     * @param arguments as typed
     */
    public static void main(String[] arguments) {
        PrintWriter out = new PrintWriter(System.out, false, StandardCharsets.UTF_8);
        PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
        int code = execute(out, err, arguments);
        // A reader that went away (as 'head' does) is no fault; a full disk is.
        if (out.checkError() && code == ExitCode.GOOD && !StandardOutput.isBrokenPipe()) {
            err.println("weft: standard output cannot be written");
            code = ExitCode.UNUSABLE_INPUT;
        }
        System.exit(code);
    }
}
