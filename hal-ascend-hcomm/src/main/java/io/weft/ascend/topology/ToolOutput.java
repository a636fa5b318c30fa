// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.topology;

import io.weft.spi.input.ToolText;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A file of npu-smi, whichever of its tables is in it.
 *
 * @param text the whole text
 * @param devices the table of {@code npu-smi info}, when it is that
 * @param topology the table of {@code npu-smi info -t topo}, when it is that
 */
public record ToolOutput(String text, Optional<NpuSmiDevices> devices, Optional<NpuSmiTopology> topology) {
    /**
     * Reads a file.
     *
     * @throws io.weft.api.AcceleratorException BAD_DOCUMENT for one that is neither
     */
    public static ToolOutput read(Path file) {
        String text = ToolText.read(
                file, NpuSmiTopology.ACCEPTED, ", which is what npu-smi leaves when the driver is not loaded");
        return NpuSmiDevices.is(text) && !NpuSmiTopology.is(text)
                ? new ToolOutput(text, Optional.of(NpuSmiDevices.read(file, text)), Optional.empty())
                : new ToolOutput(text, Optional.empty(), Optional.of(NpuSmiTopology.read(file, text)));
    }
}
