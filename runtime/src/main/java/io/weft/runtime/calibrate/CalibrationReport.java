// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.calibrate;

import io.weft.runtime.json.JsonWriter;
import io.weft.spi.ModelFitter;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What {@code weft calibrate} tells.
 *
 * @param figures {@code model} or {@code measured}
 * @param platform the measured platform's URI
 * @param machine name in the document
 * @param provenance date, device, driver
 * @param fit document, numbers and residuals
 */
public record CalibrationReport(
        String figures, String platform, String machine, Map<String, String> provenance, ModelFitter.Fit fit) {
    /**
     * How well one kind of micro-benchmark is reproduced.
     *
     * @param count measurements
     * @param median middle of the sizes of their errors, a share
     * @param worst largest of them
     */
    public record Errors(int count, double median, double worst) {}

    /** Errors by kind of micro-benchmark. */
    public Map<ModelFitter.Probe, Errors> errors() {
        Map<ModelFitter.Probe, Errors> all = new LinkedHashMap<>();
        for (ModelFitter.Probe probe : ModelFitter.Probe.values()) {
            double[] sizes = fit.residuals().stream()
                    .filter(residual -> residual.probe() == probe)
                    .mapToDouble(residual -> Math.abs(residual.error()))
                    .sorted()
                    .toArray();
            if (sizes.length > 0) {
                all.put(probe, new Errors(sizes.length, sizes[sizes.length / 2], sizes[sizes.length - 1]));
            }
        }
        return all;
    }

    /** The middle of the sizes of all errors, a share. */
    public double medianError() {
        double[] sizes = fit.residuals().stream()
                .mapToDouble(residual -> Math.abs(residual.error()))
                .toArray();
        Arrays.sort(sizes);
        return sizes.length == 0 ? 0 : sizes[sizes.length / 2];
    }

    /** A micro-benchmark's kind as people write it. */
    public static String label(ModelFitter.Probe probe) {
        return probe.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The report as JSON. */
    public String json() {
        return JsonWriter.text(json -> json.object(() -> {
            json.member("figures", figures);
            json.member("platform", platform);
            json.member("machine", machine);
            json.object("provenance", () -> provenance.forEach(json::member));
            json.array(
                    "errors",
                    List.copyOf(errors().entrySet()),
                    entry -> json.object(() -> {
                        json.member("benchmark", label(entry.getKey()));
                        json.member("count", entry.getValue().count());
                        json.member("median", entry.getValue().median());
                        json.member("worst", entry.getValue().worst());
                    }));
            json.array(
                    "numbers",
                    fit.numbers(),
                    number -> json.object(() -> {
                        json.member("key", number.key());
                        json.member("start", number.start());
                        json.member("value", number.value());
                        json.member("visible", number.visible());
                    }));
            json.array(
                    "residuals",
                    fit.residuals(),
                    residual -> json.object(() -> {
                        json.member("benchmark", label(residual.probe()));
                        json.member("name", residual.name());
                        json.member("measuredUs", residual.measuredNanos() / 1e3);
                        json.member("fittedUs", residual.fittedNanos() / 1e3);
                        json.member("error", residual.error());
                    }));
        }));
    }
}
