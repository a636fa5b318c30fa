// SPDX-License-Identifier: Apache-2.0
package io.weft.benchmarks.scheduler;

import io.weft.api.Accelerators;
import io.weft.api.ElementType;
import io.weft.api.Platform;
import io.weft.scheduler.ModelSelector;
import io.weft.scheduler.OverlapMetrics;
import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.Pattern;
import io.weft.scheduler.Schedule;
import io.weft.scheduler.Selection;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/**
 * The picture of the FiCCO paper on a model: the sixteen GEMMs g1 to g16 with N over the ranks, the gain of the best schedule of each kind over serial, the ideal, and what the best one loses. The paper measured up to 1.6x on eight MI300X, of up to
 * 1.7x that were there to gain.
 */
public final class FiccoPicture {
    private FiccoPicture() {}

    /** Platforms to look at, such as {@code sim:mesh-8 sim:switch-8}. */
    public static void main(String[] platforms) {
        for (String uri : platforms) {
            try (Platform platform = Accelerators.discover().open(uri)) {
                picture(platform);
            }
        }
    }

    private static void picture(Platform platform) {
        System.out.printf(
                Locale.ROOT,
                "%s%n%-4s %6s %6s %6s %6s %6s",
                platform.uri(),
                "",
                "comm",
                "ideal",
                "best",
                "share",
                "DIL");
        for (Schedule.Kind kind : Schedule.Kind.values()) {
            System.out.printf(Locale.ROOT, "  %s", kind);
        }
        System.out.println("  best schedule");
        int ranks = platform.devices().size();
        ModelSelector search = new ModelSelector(platform);
        double greatest = 0;
        double product = 1;
        double shares = 0;
        int above = 0;
        int number = 0;
        for (long[] shape : SelectorAccuracy.PAPER) {
            Selection selection = search.select(OverlapProblem.of(
                    Pattern.ALL_GATHER_GEMM, shape[0], shape[1] / ranks, shape[2], ElementType.BF16, ranks));
            OverlapMetrics best = selection.metrics().orElseThrow();
            Map<Schedule.Kind, Double> gains = new EnumMap<>(Schedule.Kind.class);
            for (Selection.Candidate candidate : selection.candidates()) {
                gains.merge(candidate.schedule().kind(), candidate.speedup(), Math::max);
                above += candidate.speedup() > best.idealSpeedup() * (1 + 1e-9) ? 1 : 0;
            }
            System.out.printf(
                    Locale.ROOT,
                    "g%-3d %5.2fx %5.2fx %5.2fx %4.0f %% %4.0f %%",
                    ++number,
                    best.commUs() / best.gemmUs(),
                    best.idealSpeedup(),
                    best.speedup(),
                    100 * best.shareOfIdeal(),
                    100 * best.dilGemm());
            for (Schedule.Kind kind : Schedule.Kind.values()) {
                System.out.printf(
                        Locale.ROOT,
                        "  %" + kind.label().length() + "s",
                        String.format(Locale.ROOT, "%.2fx", gains.get(kind)));
            }
            System.out.println("  " + selection.choice());
            greatest = Math.max(greatest, best.speedup());
            product *= best.speedup();
            shares += best.shareOfIdeal();
        }
        System.out.printf(
                Locale.ROOT,
                "greatest gain %.2fx, geometric mean %.2fx, mean share of the ideal %.0f %%, schedules above the ideal: %d%n%n",
                greatest,
                Math.pow(product, 1.0 / number),
                100 * shares / number,
                above);
    }
}
