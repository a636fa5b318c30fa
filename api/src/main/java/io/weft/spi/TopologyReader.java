// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import io.weft.api.topology.DescribedMachine;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Reads how devices are joined from what a vendor's tools say. An extension of {@link AcceleratorProvider}: it needs no hardware, works on files of other machines, and never
 * runs a tool itself. Safe for any thread.
 */
public interface TopologyReader {
    /** What it reads. Names must not clash with other plugins', so they name a tool or a format. */
    List<ToolInput> inputs();

    /**
     * Makes one machine of everything given. Sources that contradict one another are a {@link io.weft.api.Finding} of severity PROBLEM that quotes both; values are never
     * averaged.
     *
     * @param files by the option name of the input, in the order given; at least one
     * @throws io.weft.api.AcceleratorException BAD_DOCUMENT for a file that cannot be used: its name, the place in it, what was found and what would be accepted, in one line
     */
    DescribedMachine read(Map<String, List<Path>> files);
}
