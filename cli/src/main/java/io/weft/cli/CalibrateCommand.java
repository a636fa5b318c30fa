// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Figures;
import io.weft.api.Platform;
import io.weft.runtime.WeftRuntime;
import io.weft.runtime.calibrate.Calibration;
import io.weft.runtime.calibrate.CalibrationReport;
import io.weft.runtime.calibrate.RecordedTimes;
import io.weft.runtime.overlap.ScheduleTimes;
import io.weft.runtime.overlap.ShapesFile;
import io.weft.runtime.report.OutputFile;
import io.weft.runtime.settings.Catalogue;
import io.weft.runtime.settings.EffectiveSettings;
import io.weft.spi.ModelFitter;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code weft calibrate}: micro-benchmarks on a platform, and a machine document fitted to them. */
@Command(
        name = "calibrate",
        mixinStandardHelpOptions = true,
        description = {
            "Measures launches, copies, products and collectives on a platform and writes a machine document whose"
                    + " numbers are fitted to the times, with the residual of every micro-benchmark.",
            "The document opens as sim:file=PATH."
        })
final class CalibrateCommand implements Callable<Integer> {
    /** Any platform of the model does: the fitter does not look at its machine. */
    private static final String MODEL = "sim:ring-4?mode=timing";

    private static final int MEASURED_ROUNDS = 7;

    @ParentCommand
    Weft weft;

    @Spec
    CommandSpec spec;

    @Option(
            names = "--on",
            required = true,
            paramLabel = "URI",
            description = "Platform; a model needs the option mode=timing, as in sim:switch-8?mode=timing.")
    String uri;

    @Option(names = "--out", paramLabel = "FILE", description = "Where to write the machine document.")
    Path out;

    @Option(
            names = "--start",
            paramLabel = "FILE",
            description = "Machine document to start from; what the platform says of itself when left out.")
    Path start;

    @Option(
            names = "--times",
            paramLabel = "FILE",
            description =
                    "Measure nothing: fit to the times that an earlier calibration wrote into this machine document."
                            + " --on is a model with as many devices and compute units.")
    Path times;

    @Option(
            names = "--schedules",
            paramLabel = "FILE",
            description = "With --times: fit to schedules of what 'weft bench overlap --json FILE' wrote, too, where no"
                    + " micro-benchmark tells what they do.")
    Path schedules;

    @Option(
            names = "--shape",
            paramLabel = "M,N,K",
            description = "With --schedules: a shape whose schedules take part in the fit; may be given several times.")
    List<String> shapes = List.of();

    @Option(
            names = "--name",
            paramLabel = "NAME",
            description = "The machine's name in the document; the file's name when left out.")
    String name;

    @Option(
            names = "--dtype",
            paramLabel = "TYPE",
            description = "Element type of the products: bf16 (default), fp16, fp32, fp8, int8, ...")
    String elementType;

    @Option(
            names = "--repetitions",
            paramLabel = "N",
            description = "Counted rounds; 7 on hardware and 1 on a model when left out.")
    Integer repetitions;

    @Option(names = "--json", description = "Print JSON.")
    boolean json;

    @Override
    public Integer call() {
        EffectiveSettings settings = weft.settings();
        PrintWriter console = spec.commandLine().getOut();
        if (repetitions != null && repetitions < 1) {
            throw AcceleratorException.invalid(
                    "calibrate", "--repetitions is " + repetitions + "; accepted is 1 or more");
        }
        if ((schedules != null) != !shapes.isEmpty() || (schedules != null && times == null)) {
            throw AcceleratorException.invalid(
                    "calibrate", "accepted is --times FILE, by itself or with both --schedules FILE and --shape M,N,K");
        }
        Optional<ModelFitter.Document> document = Optional.ofNullable(start).map(CalibrateCommand::read);
        try (WeftRuntime runtime = WeftRuntime.start(settings)) {
            Platform platform = runtime.open(uri);
            ModelFitter fitter = runtime.open(MODEL)
                    .extension(ModelFitter.class)
                    .orElseThrow(() -> new AcceleratorException(
                            ErrorCode.UNSUPPORTED, "calibrate", "the model sim has no fitter; enable the plugin sim"));
            int rounds = repetitions != null ? repetitions : platform.figures() == Figures.MODEL ? 1 : MEASURED_ROUNDS;
            ProgressBar progress = ProgressBar.on(spec.commandLine().getErr(), settings.value(Catalogue.PROGRESS));
            ElementType type =
                    elementType == null ? settings.value(Catalogue.PLAN_ELEMENT_TYPE) : ElementType.parse(elementType);
            CalibrationReport report = times != null
                    ? refit(runtime.calibration(), platform, fitter, document, type)
                    : runtime.calibration()
                            .calibrate(platform, fitter, name(platform), document, type, rounds, progress);
            if (out != null) {
                OutputFile.write(out, report.fit().document());
            }
            if (json) {
                console.print(report.json());
            } else {
                print(report, console);
                if (out == null) {
                    console.println();
                    console.print(report.fit().document());
                }
            }
        }
        return ExitCode.GOOD;
    }

    private CalibrationReport refit(
            Calibration calibration,
            Platform platform,
            ModelFitter fitter,
            Optional<ModelFitter.Document> document,
            ElementType type) {
        RecordedTimes recorded = RecordedTimes.of(read(times));
        List<ModelFitter.Measurement> measured = List.of();
        Map<String, String> provenance = Map.of();
        if (schedules != null) {
            measured = ScheduleTimes.read(schedules, ShapesFile.parse("--shape", shapes), recorded.figures());
            provenance = Map.of(
                    "schedules",
                    measured.size() + " of " + schedules.getFileName() + ", shapes " + String.join("; ", shapes)
                            + ", which say nothing about how well the model predicts");
        }
        return calibration.refit(platform, fitter, name(platform), document, type, recorded, measured, provenance);
    }

    private String name(Platform platform) {
        if (name != null) {
            return name;
        }
        if (out == null || out.getFileName() == null) {
            return platform.properties().machine();
        }
        String file = out.getFileName().toString();
        int dot = file.lastIndexOf('.');
        return dot > 0 ? file.substring(0, dot) : file;
    }

    private static ModelFitter.Document read(Path file) {
        String reason;
        try {
            if (!Files.isDirectory(file)) {
                return new ModelFitter.Document(file.toString(), Files.readString(file));
            }
            reason = "is a directory";
        } catch (NoSuchFileException missing) {
            reason = "does not exist";
        } catch (MalformedInputException wrong) {
            reason = "is not UTF-8 text";
        } catch (IOException failure) {
            reason = "cannot be read: " + failure.getMessage();
        }
        throw new AcceleratorException(
                ErrorCode.BAD_DOCUMENT, "calibrate", file + " " + reason + "; accepted is a machine document (YAML)");
    }

    private void print(CalibrationReport report, PrintWriter console) {
        console.println(report.platform() + ": times are " + report.figures() + ".");
        TextTable errors = new TextTable("benchmark", ">measured", ">median error", ">worst error");
        report.errors()
                .forEach((probe, error) -> errors.row(
                        CalibrationReport.label(probe),
                        Integer.toString(error.count()),
                        Figure.percent(error.median()),
                        Figure.percent(error.worst())));
        errors.print(console);
        console.println();
        TextTable numbers = new TextTable("number", ">start", ">fitted", "");
        for (ModelFitter.FittedNumber number : report.fit().numbers()) {
            numbers.row(
                    number.key(),
                    shortly(number.start()),
                    shortly(number.value()),
                    number.visible() ? "" : "not decided by the measurements");
        }
        numbers.print(console);
        if (out != null) {
            console.println();
            console.println("written to " + out + "; open it as sim:file=" + out);
        }
    }

    private static String shortly(double value) {
        return String.format(Locale.ROOT, "%.5g", value);
    }
}
