// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

import io.weft.spi.input.ToolText;
import java.nio.file.Path;
import java.util.List;

/** What is particular to the output of AMD's tools. */
final class InputText {
    private InputText() {}

    /** The file's text, as {@link ToolText#read}. */
    static String read(Path file, String accepted) {
        return ToolText.read(
                file, accepted, ", which is what the SMI tools leave, with exit code 0, when the driver is not loaded");
    }

    /** What kind of file it is, when it is one of the others; empty when it looks like none. */
    static String otherwise(String text) {
        String start = text.stripLeading();
        if (start.startsWith("<")) {
            return "this looks like XML; RCCL's topology files go to --amd-xml";
        }
        if (start.contains("TABLE:")
                && List.of("ACCESS", "WEIGHT", "HOPS", "LINK TYPE", "NUMA BW").stream()
                        .anyMatch(title -> start.contains(title + " TABLE:"))) {
            return "this looks like 'amd-smi topology', which goes to --amd-smi";
        }
        if (start.contains("between two GPUs") || start.contains("(Topology) Numa")) {
            return "this looks like 'rocm-smi --showtopo', which goes to --showtopo";
        }
        if (start.contains("\"link_type\"") || start.contains("\"link_status\"")) {
            return "this looks like 'amd-smi topology --json', which goes to --amd-smi";
        }
        return "";
    }
}
