// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.topology;

import io.weft.spi.input.PciAddress;
import io.weft.spi.input.ToolText;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The table of {@code npu-smi info}: two rows for each chip, one with its name and health, one with its address and memory.
 *
 * @param toolVersion npu-smi's version; it comes with the driver, so it is the driver's
 * @param chips in the order of the table
 */
public record NpuSmiDevices(String toolVersion, List<Chip> chips) {
    private static final Pattern VERSION = Pattern.compile("npu-smi\\s+(\\S+)");
    private static final Pattern USAGE = Pattern.compile("(\\d{1,9})\\s*/\\s*(\\d{1,9})");

    public NpuSmiDevices {
        chips = List.copyOf(chips);
    }

    /**
     * A chip.
     *
     * @param npu number of the card
     * @param chip number of the chip on it
     * @param physical the driver's number of the chip where the table states it, else its place
     * @param name such as {@code 910B3}
     * @param health such as {@code OK}
     * @param address PCI address; empty when the table has none
     * @param usedMegabytes memory in use, -1 when not stated
     * @param totalMegabytes memory, -1 when not stated
     */
    public record Chip(
            int npu,
            int chip,
            int physical,
            String name,
            String health,
            Optional<PciAddress> address,
            long usedMegabytes,
            long totalMegabytes) {}

    /** Whether a text is such a table. */
    static boolean is(String text) {
        return text.contains("npu-smi") && text.contains("Bus-Id");
    }

    /** Reads a table. */
    static NpuSmiDevices read(Path file, String text) {
        Matcher version = VERSION.matcher(text);
        String tool = version.find() ? version.group(1) : "";
        List<Chip> chips = new ArrayList<>();
        String[] above = null;
        String[] lines = text.split("\n", -1);
        for (int i = 0; i < lines.length; i++) {
            String[] cells = cells(lines[i]);
            if (cells.length < 3) {
                continue;
            }
            if (cells[0].startsWith("NPU ") && cells[1].startsWith("Process")) {
                break;
            }
            String[] first = cells[0].split("\\s+", -1);
            if (!first[0].matches("\\d{1,5}")) {
                above = null;
                continue;
            }
            Optional<PciAddress> address = PciAddress.parse(cells[1]);
            if (address.isEmpty() && above == null && first.length >= 2) {
                above = cells;
            } else if (above != null) {
                chips.add(chip(above, cells, address, chips.size()));
                above = null;
            } else {
                throw ToolText.refused(
                        file, "line " + (i + 1) + ": the row of a chip stands without the row of its name above it");
            }
        }
        if (above != null) {
            throw ToolText.refused(file, "the table is cut off: NPU " + above[0] + " has a name and no address");
        }
        if (chips.isEmpty()) {
            throw ToolText.refused(
                    file,
                    "no NPU is in it; it begins '" + ToolText.begins(text) + "'; accepted is "
                            + NpuSmiTopology.ACCEPTED);
        }
        return new NpuSmiDevices(tool, chips);
    }

    private static String[] cells(String line) {
        String stripped = line.strip();
        if (!stripped.startsWith("|") || !stripped.endsWith("|") || stripped.length() < 2) {
            return new String[0];
        }
        String[] cells = stripped.substring(1, stripped.length() - 1).split("\\|", -1);
        for (int i = 0; i < cells.length; i++) {
            cells[i] = cells[i].strip();
        }
        return cells;
    }

    private static Chip chip(String[] above, String[] below, Optional<PciAddress> address, int place) {
        String[] card = above[0].split("\\s+", 2);
        String[] numbers = below[0].split("\\s+", -1);
        long used = -1;
        long total = -1;
        // The last pair is device memory; the ones before are the control processor's and huge pages.
        Matcher usage = USAGE.matcher(below[below.length - 1]);
        while (usage.find()) {
            used = Long.parseLong(usage.group(1));
            total = Long.parseLong(usage.group(2));
        }
        return new Chip(
                Integer.parseInt(card[0]),
                Integer.parseInt(numbers[0]),
                numbers.length > 1 && numbers[1].matches("\\d{1,5}") ? Integer.parseInt(numbers[1]) : place,
                card.length > 1 ? card[1].strip() : "",
                above[1],
                address,
                used,
                total);
    }
}
