// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.doctor;

import io.weft.spi.input.FindingReport;
import io.weft.spi.input.ToolText;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The table of {@code hccl_test}: bytes, microseconds, bandwidth and whether the data were right.
 *
 * <p>Its column says GB/s and means 2^30 bytes per second of size over time, which is neither 1e9 nor the bus bandwidth of nccl-tests.
 *
 * @param rows by size, in the order of the file
 */
record HcclTest(List<Row> rows) {
    /** Reads such a file. */
    static final String OPTION = "--hccl-test";

    private static final String ACCEPTED =
            "the table of hccl_test: data_size | avg_time | alg_bandwidth | check_result";
    private static final Pattern ROW =
            Pattern.compile("(\\d{1,18})\\s*\\|\\s*([0-9.]+)\\s*\\|\\s*([0-9.]+)\\s*\\|\\s*(\\S+)\\s*\\|?");

    HcclTest {
        rows = List.copyOf(rows);
    }

    /** A size. */
    record Row(long bytes, double micros, double gibibytesPerSecond, String result) {
        /** Size over time in GB/s (1e9 bytes per second). */
        double gigabytesPerSecond() {
            return bytes / micros / 1e3;
        }
    }

    static HcclTest read(Path file) {
        String text = ToolText.read(file, ACCEPTED, "");
        List<Row> rows = new ArrayList<>();
        boolean inTable = false;
        int number = 0;
        for (String raw : text.split("\n", -1)) {
            number++;
            String line = raw.strip();
            if (line.startsWith("data_size")) {
                inTable = true;
            } else if (inTable && !line.isEmpty() && Character.isDigit(line.charAt(0))) {
                Matcher row = ROW.matcher(line);
                if (!row.matches()) {
                    throw ToolText.refused(
                            file,
                            "line " + number + ": '" + ToolText.begins(line) + "' is no row; accepted is " + ACCEPTED);
                }
                try {
                    rows.add(new Row(
                            Long.parseLong(row.group(1)),
                            Double.parseDouble(row.group(2)),
                            Double.parseDouble(row.group(3)),
                            row.group(4)));
                } catch (NumberFormatException none) {
                    throw ToolText.refused(file, "line " + number + ": a number is broken; accepted is " + ACCEPTED);
                }
            }
        }
        if (rows.isEmpty()) {
            throw ToolText.refused(
                    file, "no row is in it; it begins '" + ToolText.begins(text) + "'; accepted is " + ACCEPTED);
        }
        return new HcclTest(rows);
    }

    static void look(List<Path> files, FindingReport report) {
        for (Path file : files) {
            HcclTest test = read(file);
            List<Row> wrong = test.rows().stream()
                    .filter(row -> !row.result().equals("success"))
                    .toList();
            if (!wrong.isEmpty()) {
                report.problem(
                        "hccl-test",
                        wrong.size() + " of " + test.rows().size() + " sizes gave '"
                                + wrong.getFirst().result() + "', first at "
                                + wrong.getFirst().bytes() + " bytes",
                        "Data arrived wrong.",
                        "oam-tools, hccl_test",
                        "Look for a faulty device: halve the ranks until it goes.");
                continue;
            }
            Row last = test.rows().getLast();
            report.good(
                    "hccl-test",
                    String.format(
                            Locale.ROOT,
                            "%d sizes right; %d bytes in %.1f us are %.2f GB/s of size over time, which the tool writes as"
                                    + " %.2f (it counts 2^30)",
                            test.rows().size(),
                            last.bytes(),
                            last.micros(),
                            last.gigabytesPerSecond(),
                            last.gibibytesPerSecond()));
        }
    }
}
