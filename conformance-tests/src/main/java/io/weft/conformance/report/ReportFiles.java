// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.report;

import io.weft.conformance.Report;
import io.weft.conformance.UnusableInput;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes what a run found. */
public final class ReportFiles {
    private ReportFiles() {}

    /**
     * Writes {@code report.json}, {@code TEST-conformance.xml} and {@code index.html} into a folder, which is made when it is missing.
     *
     * @throws UnusableInput when the folder cannot be written
     */
    public static void write(Report report, Path folder) {
        try {
            Files.createDirectories(folder);
            Files.writeString(folder.resolve("report.json"), json(report) + "\n", StandardCharsets.UTF_8);
            Files.writeString(folder.resolve("TEST-conformance.xml"), JUnitXml.of(report), StandardCharsets.UTF_8);
            Files.writeString(folder.resolve("index.html"), Page.of(report), StandardCharsets.UTF_8);
        } catch (IOException failure) {
            throw new UnusableInput(
                    "--report: " + folder + " cannot be written: "
                            + failure.getClass().getSimpleName() + ": " + failure.getMessage(),
                    failure);
        }
    }

    /** The report as JSON; its schema is in docs/conformance.md. */
    public static String json(Report report) {
        return ReportJson.of(report);
    }
}
