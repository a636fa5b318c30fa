// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.report;

import io.weft.api.topology.DescribedDevice;
import io.weft.api.topology.DescribedMachine;
import io.weft.api.topology.DescribedNetworkCard;
import io.weft.api.topology.DescribedPath;
import io.weft.api.topology.LinkKind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A machine as rings of devices: a ring for each group that one fabric joins. Devices of a NUMA node stand side by side before an arc that bears its name, network cards outside
 * of it, and a link of several parallel ones is drawn as so many strands.
 */
final class RingDrawing {
    /** More devices are drawn as a matrix. */
    static final int MOST_DEVICES = 64;

    private static final int MOST_ON_ONE_RING = 32;
    private static final double NODE = 22;
    private static final double STEP = 70;
    private static final double SMALLEST_RADIUS = 130;
    /** From the ring to the outer edge: arc, cards, and their names. */
    private static final double MARGIN = 124;

    private static final double LEGEND = 370;
    private static final double TOP = 56;
    private static final int MOST_STRANDS = 8;

    private final DescribedMachine machine;
    private final PathTable paths;
    private final double[] x;
    private final double[] y;
    private final double[] angle;
    private final int[] ringOf;
    private final List<List<DescribedDevice>> rings = new ArrayList<>();
    private final StringBuilder body = new StringBuilder();
    /** Legend entries: the class of the line, its strands, and how many pairs it stands for. */
    private final Map<String, Entry> legend = new LinkedHashMap<>();

    private record Entry(String style, int strands, int pairs) {}

    RingDrawing(DescribedMachine machine) {
        this.machine = machine;
        paths = new PathTable(machine);
        int devices = machine.devices().size();
        x = new double[devices];
        y = new double[devices];
        angle = new double[devices];
        ringOf = new int[devices];
        Map<String, List<DescribedDevice>> groups = new TreeMap<>();
        for (DescribedDevice device : machine.devices()) {
            groups.computeIfAbsent(
                            String.format(java.util.Locale.ROOT, "%06d %s", device.server(), device.group()),
                            key -> new ArrayList<>())
                    .add(device);
        }
        for (List<DescribedDevice> group : groups.values()) {
            group.sort(Comparator.comparingInt(DescribedDevice::numaNode).thenComparingInt(DescribedDevice::ordinal));
            for (int i = 0; i < group.size(); i += MOST_ON_ONE_RING) {
                rings.add(group.subList(i, Math.min(i + MOST_ON_ONE_RING, group.size())));
            }
        }
    }

    String draw(boolean standsAlone) {
        int most = rings.stream().mapToInt(List::size).max().orElse(1);
        double radius = most == 1 ? 0 : Math.max(SMALLEST_RADIUS, most * STEP / (2 * Math.PI));
        double cell = 2 * (radius + MARGIN);
        int columns = Math.max(1, (int) Math.ceil(Math.sqrt(rings.size())));
        int rows = Math.max(1, (rings.size() + columns - 1) / columns);
        for (int ring = 0; ring < rings.size(); ring++) {
            int row = ring / columns;
            double middleX = cell * (ring % columns) + cell / 2;
            double middleY = TOP + cell * row + cell / 2;
            place(ring, middleX, middleY, rings.get(ring).size() == 1 ? 0 : radius);
            arcs(rings.get(ring), middleX, middleY, radius);
        }
        links();
        cards(radius, cell, columns);
        devices();
        double width = cell * columns + LEGEND;
        double height = Math.max(TOP + cell * rows, TOP + 60 + 24.0 * (legend.size() + 3)) + 12;
        StringBuilder svg = MachineDrawing.start(width, height, machine.title(), standsAlone);
        text(svg, "headline", 16, 26, "", fitted(machine.title(), width - 32, 9.5));
        text(
                svg,
                "caption",
                16,
                45,
                "",
                fitted(
                        machine.devices().size() + " devices; GB/s one way; a line's strands are its parallel links",
                        width - 32,
                        7));
        svg.append(body);
        legend(svg, cell * columns + 8, TOP + 22);
        return svg.append("</svg>\n").toString();
    }

    private void place(int ring, double middleX, double middleY, double radius) {
        List<DescribedDevice> devices = rings.get(ring);
        for (int i = 0; i < devices.size(); i++) {
            int device = devices.get(i).ordinal();
            angle[device] = 2 * Math.PI * (i + 0.5) / devices.size() - Math.PI / 2;
            x[device] = middleX + radius * Math.cos(angle[device]);
            y[device] = middleY + radius * Math.sin(angle[device]);
            ringOf[device] = ring;
        }
    }

    /** The band behind the devices of one NUMA node, and its name. */
    private void arcs(List<DescribedDevice> devices, double middleX, double middleY, double radius) {
        int first = 0;
        while (first < devices.size()) {
            int last = first;
            int numa = devices.get(first).numaNode();
            while (last + 1 < devices.size() && devices.get(last + 1).numaNode() == numa) {
                last++;
            }
            if (numa >= 0 && devices.size() > 1) {
                double half = Math.PI / devices.size() - 4 / radius;
                double from = angle[devices.get(first).ordinal()] - half;
                double to = angle[devices.get(last).ordinal()] + half;
                double outer = radius + 38;
                body.append("<path class=\"numa\" d=\"M").append(at(middleX + outer * Math.cos(from)));
                body.append(' ').append(at(middleY + outer * Math.sin(from)));
                double turn = Math.min(to - from, 2 * Math.PI - 0.01);
                double end = from + turn;
                body.append("A").append(at(outer)).append(' ').append(at(outer)).append(" 0 ");
                body.append(turn > Math.PI ? 1 : 0).append(" 1 ").append(at(middleX + outer * Math.cos(end)));
                body.append(' ').append(at(middleY + outer * Math.sin(end))).append("\"/>\n");
                double middle = (from + to) / 2;
                numaLabel(middleX + outer * Math.cos(middle), middleY + outer * Math.sin(middle), numa);
            } else if (numa >= 0) {
                numaLabel(middleX, middleY + 44, numa);
            }
            first = last + 1;
        }
    }

    /** On the band itself, so that no card can hide it. */
    private void numaLabel(double x, double y, int numa) {
        String words = "NUMA " + numa;
        double width = 7.0 * words.length() + 8;
        body.append("<rect class=\"numa-plate\" x=\"")
                .append(at(x - width / 2))
                .append("\" y=\"")
                .append(at(y - 9));
        body.append("\" width=\"").append(at(width)).append("\" height=\"18\" rx=\"9\"/>");
        text(body, "numa-label", x, y + 4, "middle", words);
    }

    private void links() {
        List<DescribedPath> drawn = MachineDrawing.drawn(machine.paths());
        // Wide links last, so that no thin one crosses over them.
        List<DescribedPath> ordered = drawn.stream()
                .sorted(Comparator.comparingInt(DescribedPath::width))
                .toList();
        for (DescribedPath path : ordered) {
            DescribedPath back = paths.get(path.to(), path.from());
            boolean twoWay = MachineDrawing.isTwoWay(path, back);
            if (twoWay && path.from() > path.to()) {
                continue;
            }
            boolean oneWay = back == null;
            String style = oneWay ? "one-way" : MachineDrawing.label(path.kind());
            int strands = Math.max(1, Math.min(path.width(), MOST_STRANDS));
            // Between rings only a fabric is drawn: PCIe would cover everything.
            boolean between = ringOf[path.from()] != ringOf[path.to()];
            if (!between || path.direct()) {
                line(path, style, strands, twoWay);
                count(words(path) + (oneWay ? ", one way only" : ""), style, strands);
            } else {
                count("between groups: " + words(path) + " (not drawn)", "", 0);
            }
        }
        long drawnPairs = drawn.size();
        if (drawnPairs < machine.paths().size()) {
            for (DescribedPath path : machine.paths()) {
                DescribedPath back = paths.get(path.to(), path.from());
                boolean first = path.from() < path.to() || back == null;
                if (first && !path.direct()) {
                    String hops = path.hops() > 1 ? path.hops() + " hops" : "others";
                    String bandwidth =
                            Double.isNaN(path.bandwidth()) ? "" : ", " + Markup.figure(path.bandwidth()) + " GB/s";
                    count(path.name() + " over " + hops + bandwidth + " (not drawn)", "", 0);
                }
            }
        }
    }

    private static String words(DescribedPath path) {
        String kind = path.kind() == LinkKind.IN_PACKAGE ? " in package" : "";
        String width = path.width() > 0 && path.direct() ? " x" + path.width() : "";
        String bandwidth = Double.isNaN(path.bandwidth()) ? "" : ", " + Markup.figure(path.bandwidth()) + " GB/s";
        return path.name() + width + kind + bandwidth;
    }

    private void count(String words, String style, int strands) {
        Entry before = legend.get(words);
        legend.put(words, new Entry(style, strands, before == null ? 1 : before.pairs() + 1));
    }

    private void line(DescribedPath path, String style, int strands, boolean twoWay) {
        double dx = x[path.to()] - x[path.from()];
        double dy = y[path.to()] - y[path.from()];
        double length = Math.max(1, Math.hypot(dx, dy));
        double gap = strands > 4 ? 3 : 4;
        body.append("<g class=\"link ").append(style).append("\"><title>");
        body.append(Markup.escape(path.from() + (twoWay ? " and " : " to ") + path.to() + ": " + words(path)));
        body.append("</title>");
        for (int strand = 0; strand < strands; strand++) {
            double shift = (strand - (strands - 1) / 2.0) * gap;
            // Unlike directions lie side by side.
            double side = twoWay ? shift : shift + gap / 2 + (strands - 1) * gap / 2;
            double sx = -dy / length * side;
            double sy = dx / length * side;
            body.append("<line x1=\"").append(at(x[path.from()] + sx)).append("\" y1=\"");
            body.append(at(y[path.from()] + sy)).append("\" x2=\"").append(at(x[path.to()] + sx));
            body.append("\" y2=\"").append(at(y[path.to()] + sy)).append("\"/>");
        }
        body.append("</g>\n");
    }

    private void cards(double radius, double cell, int columns) {
        Map<Long, Integer> atPlace = new LinkedHashMap<>();
        int loose = 0;
        for (DescribedNetworkCard card : machine.networkCards()) {
            if (card.nearest().isEmpty()) {
                loose++;
                continue;
            }
            int ring = ringOf[card.nearest().getFirst()];
            double sin = 0;
            double cos = 0;
            for (int device : card.nearest()) {
                if (ringOf[device] == ring) {
                    sin += Math.sin(angle[device]);
                    cos += Math.cos(angle[device]);
                }
            }
            double middle = Math.hypot(sin, cos) < 1e-6 ? 0 : Math.atan2(sin, cos);
            long place = ring * 10_000L + Math.round(middle * 100);
            int before = atPlace.merge(place, 1, Integer::sum) - 1;
            double step = 26 / (radius + 92);
            int aside = (before + 1) / 2;
            middle += aside * (before % 2 == 0 ? step : -step);
            int row = ring / columns;
            double middleX = cell * (ring % columns) + cell / 2;
            double middleY = TOP + cell * row + cell / 2;
            double cx = middleX + (radius + 90) * Math.cos(middle);
            double cy = middleY + (radius + 90) * Math.sin(middle);
            String speed = Double.isNaN(card.bandwidth()) ? "" : ", " + Markup.figure(card.bandwidth()) + " GB/s";
            body.append("<g class=\"card\"><title>");
            body.append(Markup.escape(card.name() + " " + card.address() + speed + ", nearest " + card.nearest()));
            body.append("</title><rect x=\"")
                    .append(at(cx - 29))
                    .append("\" y=\"")
                    .append(at(cy - 9));
            body.append("\" width=\"58\" height=\"18\" rx=\"4\"/>");
            text(body, "card-label", cx, cy + 4, "middle", fitted(card.name(), 56, 6.2));
            body.append("</g>\n");
        }
        int placed = machine.networkCards().size() - loose;
        if (placed > 0) {
            legend.put("network card, by its nearest devices", new Entry("card", 0, placed));
        }
        if (loose > 0) {
            legend.put("network card of unknown place, not drawn", new Entry("", 0, loose));
        }
    }

    private void devices() {
        for (DescribedDevice device : machine.devices()) {
            int i = device.ordinal();
            body.append("<g><title>");
            body.append(Markup.escape((i + " " + device.name() + " " + device.architecture() + " " + device.address()
                            + " " + device.group())
                    .strip()));
            body.append("</title><circle class=\"device\" cx=\"")
                    .append(at(x[i]))
                    .append("\" cy=\"");
            body.append(at(y[i])).append("\" r=\"").append(at(NODE)).append("\"/>");
            String address = shortAddress(device.address());
            text(body, "device-label", x[i], y[i] + (address.isEmpty() ? 5 : 1), "middle", Integer.toString(i));
            if (!address.isEmpty()) {
                text(body, "address", x[i], y[i] + 13, "middle", address);
            }
            body.append("</g>\n");
        }
    }

    /** Bus and device alone fit into a circle; the tooltip has all of it. */
    private static String shortAddress(String address) {
        String text = address.replaceFirst("^0000:", "").replaceFirst("\\.0$", "");
        return text.length() <= 7 ? text : "";
    }

    private void legend(StringBuilder svg, double left, double top) {
        double at = top;
        for (Map.Entry<String, Entry> line : legend.entrySet()) {
            Entry entry = line.getValue();
            if (entry.style().equals("card")) {
                svg.append("<g class=\"card\"><rect x=\"").append(at(left + 2)).append("\" y=\"");
                svg.append(at(at - 11)).append("\" width=\"26\" height=\"13\" rx=\"4\"/></g>\n");
            } else if (!entry.style().isEmpty()) {
                svg.append("<g class=\"link ").append(entry.style()).append("\">");
                for (int strand = 0; strand < entry.strands(); strand++) {
                    double height = at - 4 + (strand - (entry.strands() - 1) / 2.0) * (entry.strands() > 4 ? 2.2 : 4);
                    svg.append("<line x1=\"")
                            .append(at(left))
                            .append("\" y1=\"")
                            .append(at(height));
                    svg.append("\" x2=\"")
                            .append(at(left + 30))
                            .append("\" y2=\"")
                            .append(at(height))
                            .append("\"/>");
                }
                svg.append("</g>\n");
            }
            String unit = line.getKey().startsWith("network card") ? "" : entry.pairs() == 1 ? " pair" : " pairs";
            String words = line.getKey() + ": " + entry.pairs() + unit;
            text(svg, "legend", left + (entry.style().isEmpty() ? 0 : 38), at, "", fitted(words, LEGEND - 44, 6.1));
            at += 24;
        }
    }

    private static void text(StringBuilder svg, String style, double x, double y, String anchor, String words) {
        svg.append("<text class=\"")
                .append(style)
                .append("\" x=\"")
                .append(at(x))
                .append("\" y=\"")
                .append(at(y));
        svg.append('"')
                .append(anchor.isEmpty() ? "" : " text-anchor=\"" + anchor + "\"")
                .append('>');
        svg.append(Markup.escape(words)).append("</text>\n");
    }

    /** Cuts a text that would run out of its place, at so many pixels a letter. */
    private static String fitted(String text, double pixels, double letter) {
        int most = Math.max(3, (int) (pixels / letter));
        return text.length() <= most ? text : text.substring(0, most - 1) + "…";
    }

    private static String at(double value) {
        return Markup.coordinate(value);
    }
}
