// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.calibrate;

import io.weft.api.AcceleratorException;
import io.weft.api.CollectiveKind;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.sim.machine.DeviceModel;
import io.weft.sim.machine.LaunchModel;
import io.weft.sim.machine.Machine;
import io.weft.sim.machine.MachineReader;
import io.weft.sim.machine.MachineWriter;
import io.weft.spi.ModelFitter;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Fits machine models stage by stage: what a stage's measurements decide is known before the next one needs it. Stateless. */
public final class MachineFitter implements ModelFitter {
    /** Later stages move times of earlier ones a little (a roof of memory over a copy); the second pass settles that. */
    private static final int PASSES = 2;

    /** A fitter. */
    public MachineFitter() {}

    @Override
    public Fit fit(Request request) {
        Machine start = request.start()
                .map(document -> MachineReader.read(document.source(), document.text()))
                .orElseGet(() -> StartMachine.of(request));
        start = MachineEdit.named(start, request.name());
        int needed = request.measurements().stream()
                .mapToInt(measurement -> measurement.graph().deviceCount())
                .max()
                .orElse(1);
        if (start.deviceCount() < needed) {
            throw AcceleratorException.invalid(
                    "calibrate",
                    "the start machine has " + start.deviceCount() + " devices and the measurements were taken on "
                            + needed + "; start from a document with as many");
        }
        start = FreeNumbers.separated(start, collectives(request.measurements()));
        start = withHostCosts(start, request.host());
        Machine machine = start;
        List<FreeNumbers.Stage> stages = FreeNumbers.of(start);
        Map<String, Boolean> visible = new LinkedHashMap<>();
        for (int pass = 0; pass < PASSES; pass++) {
            for (FreeNumbers.Stage stage : stages) {
                machine = fit(machine, stage, request.measurements(), visible);
            }
        }
        machine = withEager(machine, request.host());
        Map<String, Boolean> decided = decided(machine, stages, request.measurements(), visible);
        List<Residual> residuals = residuals(machine, request.measurements());
        List<FittedNumber> numbers = numbers(start, machine, stages, decided);
        return new Fit(document(machine, request, numbers, residuals), numbers, residuals);
    }

    private static Machine fit(
            Machine machine, FreeNumbers.Stage stage, List<Measurement> measurements, Map<String, Boolean> visible) {
        List<Measurement> own = measurements.stream()
                .filter(measurement -> stage.probes().contains(measurement.probe()))
                .toList();
        List<FreeNumber> seen = new ArrayList<>();
        if (!own.isEmpty()) {
            StageFit fit = new StageFit(own);
            Machine here = machine;
            stage.numbers().stream().filter(number -> fit.sees(here, number)).forEach(seen::add);
            machine = fit.fit(machine, seen);
            // What binds only once the others are right shows now.
            Machine there = machine;
            List<FreeNumber> late = stage.numbers().stream()
                    .filter(number -> !seen.contains(number) && fit.sees(there, number))
                    .toList();
            if (!late.isEmpty()) {
                seen.addAll(late);
                machine = fit.fit(machine, seen);
            }
        }
        for (FreeNumber number : stage.numbers()) {
            visible.merge(number.key(), seen.contains(number), Boolean::logicalOr);
        }
        return machine;
    }

    /** Numbers that were fitted and that the measurements decide in the end. */
    private static Map<String, Boolean> decided(
            Machine machine,
            List<FreeNumbers.Stage> stages,
            List<Measurement> measurements,
            Map<String, Boolean> fitted) {
        Map<String, Boolean> decided = new LinkedHashMap<>();
        for (FreeNumbers.Stage stage : stages) {
            StageFit fit = new StageFit(measurements.stream()
                    .filter(measurement -> stage.probes().contains(measurement.probe()))
                    .toList());
            for (FreeNumber number : stage.numbers()) {
                boolean now = fitted.getOrDefault(number.key(), false) && fit.decides(machine, number);
                decided.merge(number.key(), now, Boolean::logicalOr);
            }
        }
        return decided;
    }

    private static Set<CollectiveKind> collectives(List<Measurement> measurements) {
        Set<CollectiveKind> kinds = EnumSet.noneOf(CollectiveKind.class);
        for (Measurement measurement : measurements) {
            CommandGraph graph = measurement.graph();
            for (int node = 0; node < graph.size() && measurement.probe() == Probe.COLLECTIVE; node++) {
                if (graph.command(node) instanceof Command.Collective part) {
                    kinds.add(part.kind());
                }
            }
        }
        return kinds;
    }

    // What the host pays was measured as it is.

    private static Machine withHostCosts(Machine machine, HostCosts host) {
        return MachineEdit.devices(machine, machine.device(0), device -> {
            LaunchModel old = device.launch();
            return MachineEdit.with(
                    device,
                    old.withIssue(
                            known(host.issueKernelNanos(), old.issueKernelNanos()),
                            known(host.issueCopyNanos(), old.issueCopyNanos()),
                            known(host.issueEventNanos(), old.issueEventNanos())));
        });
    }

    /** What is left of a single kernel between two time stamps when its call and its start are taken off. */
    private static Machine withEager(Machine machine, HostCosts host) {
        if (Double.isNaN(host.eagerKernelNanos())) {
            return machine;
        }
        return MachineEdit.devices(machine, machine.device(0), device -> {
            LaunchModel old = device.launch();
            double eager = host.eagerKernelNanos()
                    - old.issueKernelNanos()
                    - device.kernels().startNanos();
            return MachineEdit.with(device, old.withEagerNanos(Math.max(0, eager)));
        });
    }

    private static double known(double measured, double otherwise) {
        return Double.isNaN(measured) ? otherwise : Math.max(0, measured);
    }

    // What is told.

    private static List<Residual> residuals(Machine machine, List<Measurement> measurements) {
        double[] fitted = StageFit.predict(machine, measurements);
        List<Residual> residuals = new ArrayList<>();
        for (int i = 0; i < fitted.length; i++) {
            Measurement measurement = measurements.get(i);
            residuals.add(new Residual(measurement.probe(), measurement.name(), measurement.nanos(), fitted[i]));
        }
        return residuals;
    }

    private static List<FittedNumber> numbers(
            Machine start, Machine machine, List<FreeNumbers.Stage> stages, Map<String, Boolean> visible) {
        List<FittedNumber> numbers = new ArrayList<>();
        DeviceModel before = start.device(0);
        DeviceModel after = machine.device(0);
        host(numbers, "eager_ns", before.launch().eagerNanos(), after.launch().eagerNanos());
        host(
                numbers,
                "issue_kernel_ns",
                before.launch().issueKernelNanos(),
                after.launch().issueKernelNanos());
        host(
                numbers,
                "issue_copy_ns",
                before.launch().issueCopyNanos(),
                after.launch().issueCopyNanos());
        host(
                numbers,
                "issue_event_ns",
                before.launch().issueEventNanos(),
                after.launch().issueEventNanos());
        Set<String> told = new HashSet<>();
        for (FreeNumbers.Stage stage : stages) {
            for (FreeNumber number : stage.numbers()) {
                if (!told.add(number.key())) {
                    continue; // fitted in two stages
                }
                numbers.add(new FittedNumber(
                        number.key(),
                        number.value(start) / number.unit(),
                        number.value(machine) / number.unit(),
                        visible.getOrDefault(number.key(), false)));
            }
        }
        return numbers;
    }

    private static void host(List<FittedNumber> numbers, String name, double before, double after) {
        numbers.add(new FittedNumber("devices[0].launch." + name, before, after, true));
    }

    private static String document(
            Machine machine, Request request, List<FittedNumber> numbers, List<Residual> residuals) {
        List<String> header = new ArrayList<>();
        header.add("SPDX-License-Identifier: Apache-2.0");
        header.add("");
        header.add(
                "Fitted by 'weft calibrate'. Units stand in the keys; GB/s is 1e9 bytes per second, GiB and MiB are powers of two.");
        request.provenance().forEach((key, value) -> header.add(key + ": " + value));
        header.add("start: " + request.start().map(Document::source).orElse("made from the platform's own properties"));
        header.add("");
        header.add("Residuals, fitted over measured time minus 1, by micro-benchmark:");
        for (Probe probe : Probe.values()) {
            double[] errors = residuals.stream()
                    .filter(residual -> residual.probe() == probe)
                    .mapToDouble(residual -> Math.abs(residual.error()))
                    .sorted()
                    .toArray();
            if (errors.length > 0) {
                header.add(String.format(
                        Locale.ROOT,
                        "  %-17s %3d measured, median %.2f %%, worst %.2f %%",
                        probe.name().toLowerCase(Locale.ROOT).replace('_', '-'),
                        errors.length,
                        100 * errors[errors.length / 2],
                        100 * errors[errors.length - 1]));
            }
        }
        header.add("");
        for (Residual residual : residuals) {
            header.add(String.format(
                    Locale.ROOT,
                    "  %-44s %12.2f us measured %12.2f us fitted %+7.2f %%",
                    residual.name(),
                    residual.measuredNanos() / 1e3,
                    residual.fittedNanos() / 1e3,
                    100 * residual.error()));
        }
        header.add("");
        Map<String, String> comments = new LinkedHashMap<>();
        numbers.forEach(number -> comments.put(
                number.key(),
                number.visible()
                        ? "fitted" + (request.start().isPresent() ? ", was " + shortly(number.start()) : "")
                        : "not decided by the measurements"));
        return MachineWriter.write(machine, header, comments);
    }

    private static String shortly(double value) {
        return new java.math.BigDecimal(value)
                .round(new java.math.MathContext(5))
                .stripTrailingZeros()
                .toPlainString();
    }
}
