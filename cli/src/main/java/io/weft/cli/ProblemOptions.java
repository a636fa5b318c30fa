// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.api.ElementType;
import io.weft.api.Platform;
import io.weft.memory.PoolRecording;
import io.weft.runtime.report.OutputFile;
import io.weft.runtime.report.TraceSection;
import io.weft.runtime.report.TraceWriter;
import io.weft.runtime.settings.Catalogue;
import io.weft.runtime.settings.EffectiveSettings;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Options of commands that work out overlap problems on a platform. */
final class ProblemOptions {
    @Option(
            names = "--on",
            required = true,
            paramLabel = "URI",
            description = "Platform, such as sim:mesh-8; see 'weft backends'.")
    String uri;

    @Option(
            names = "--dtype",
            paramLabel = "TYPE",
            description = "Element type: bf16 (default), fp16, fp32, fp8, fp8-e5m2, int8, ...")
    String elementType;

    @Option(names = "--json", description = "Print JSON.")
    boolean json;

    @Option(names = "--trace", paramLabel = "FILE", description = "Also write the timelines for Perfetto.")
    Path trace;

    @Option(
            names = "--record",
            paramLabel = "FILE",
            description = "Also write the first device's allocations for 'weft pool replay'; gzip when it ends in .gz.")
    Path record;

    /** Writes the recording, if one was asked for, once everything is in it. */
    void writeRecording(ByteArrayOutputStream recorded) {
        if (record != null) {
            OutputFile.write(record, recorded::writeTo);
        }
    }

    /** A recording into memory, if one was asked for. The caller closes it. */
    Optional<PoolRecording> recording(ByteArrayOutputStream into) {
        return record == null
                ? Optional.empty()
                : Optional.of(new PoolRecording(into, PoolRecording.isCompressed(record)));
    }

    /** The element type as given, else the setting's. */
    ElementType elementType(EffectiveSettings settings) {
        return elementType == null ? settings.value(Catalogue.PLAN_ELEMENT_TYPE) : ElementType.parse(elementType);
    }

    /** Writes the trace file if one was asked for. */
    void writeTrace(String title, Platform platform, List<TraceSection> sections) {
        if (trace != null) {
            OutputFile.write(trace, stream -> TraceWriter.write(stream, title, platform.figures(), sections));
        }
    }
}
