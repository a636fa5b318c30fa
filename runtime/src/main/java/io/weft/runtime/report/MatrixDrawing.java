// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.report;

import io.weft.api.topology.DescribedMachine;
import io.weft.api.topology.DescribedPath;

/** A machine as a matrix of shades: for machines of so many devices that lines would cover one another. */
final class MatrixDrawing {
    private MatrixDrawing() {}

    static String draw(DescribedMachine machine, boolean standsAlone) {
        PathTable paths = new PathTable(machine);
        int devices = machine.devices().size();
        int cell = Math.max(2, 560 / devices);
        int size = cell * devices;
        double fastest = machine.paths().stream()
                .mapToDouble(DescribedPath::bandwidth)
                .filter(Double::isFinite)
                .max()
                .orElse(0);
        StringBuilder svg = MachineDrawing.start(size + 24, size + 48, machine.title(), standsAlone);
        svg.append("<g transform=\"translate(12 12)\">\n");
        for (int from = 0; from < devices; from++) {
            int to = 0;
            while (to < devices) { // neighbours alike are one rectangle
                double bandwidth = bandwidth(paths, from, to);
                int end = to + 1;
                while (end < devices && bandwidth(paths, from, end) == bandwidth) {
                    end++;
                }
                if (bandwidth > 0 && fastest > 0) {
                    svg.append("<rect class=\"cell\" x=\"")
                            .append(to * cell)
                            .append("\" y=\"")
                            .append(from * cell);
                    svg.append("\" width=\"")
                            .append((end - to) * cell)
                            .append("\" height=\"")
                            .append(cell);
                    svg.append("\" fill-opacity=\"").append(Markup.coordinate(Math.sqrt(bandwidth / fastest)));
                    svg.append("\"/>\n");
                }
                to = end;
            }
        }
        svg.append("</g>\n<text class=\"caption\" x=\"12\" y=\"")
                .append(size + 36)
                .append("\">");
        svg.append(Markup.escape("row sends to column; the darkest is " + Markup.figure(fastest)
                + " GB/s, and shade goes with its root"));
        return svg.append("</text>\n</svg>\n").toString();
    }

    /** 0 on the diagonal, without a path, and where nobody knows. */
    private static double bandwidth(PathTable paths, int from, int to) {
        DescribedPath path = paths.get(from, to);
        return path == null || Double.isNaN(path.bandwidth()) ? 0 : path.bandwidth();
    }
}
