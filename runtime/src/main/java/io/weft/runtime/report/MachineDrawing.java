// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.report;

import io.weft.api.AcceleratorException;
import io.weft.api.Device;
import io.weft.api.Platform;
import io.weft.api.topology.DescribedDevice;
import io.weft.api.topology.DescribedMachine;
import io.weft.api.topology.DescribedPath;
import io.weft.api.topology.Link;
import io.weft.api.topology.LinkKind;
import io.weft.api.topology.Topology;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Draws how the devices of a machine reach one another. It names no vendor: it knows devices, links and groups. */
public final class MachineDrawing {
    /** Larger drawings have cells that no screen shows. */
    static final int MOST_IN_A_DRAWING = 512;

    private MachineDrawing() {}

    /** A platform as a described machine, so that both are drawn alike. */
    public static DescribedMachine describe(Platform platform) {
        Topology topology = platform.topology();
        List<DescribedDevice> devices = new ArrayList<>();
        for (Device device : platform.devices()) {
            var p = device.properties();
            devices.add(new DescribedDevice(
                    p.ordinal(),
                    p.name(),
                    p.architecture(),
                    p.busId(),
                    server(p.extra().getOrDefault("server", "0")),
                    p.numaNode(),
                    "",
                    Map.of()));
        }
        List<DescribedPath> paths = new ArrayList<>();
        for (int from = 0; from < topology.devices(); from++) {
            for (int to = 0; to < topology.devices(); to++) {
                Link link = topology.link(from, to);
                if (from != to && link.kind() != LinkKind.NONE) {
                    paths.add(new DescribedPath(
                            from,
                            to,
                            link.kind(),
                            link.name(),
                            link.hops() <= 1,
                            link.hops(),
                            link.width(),
                            link.bandwidth(),
                            List.of(),
                            Map.of()));
                }
            }
        }
        String title = platform.properties().machine() + " (" + platform.uri() + ", "
                + platform.figures().label() + " figures)";
        return new DescribedMachine(title, List.of(platform.uri().toString()), devices, paths, List.of(), List.of());
    }

    private static int server(String text) {
        return text.matches("\\d{1,6}") ? Integer.parseInt(text) : 0;
    }

    /** Paths to draw: direct ones; where there are none between any devices, the others. */
    static List<DescribedPath> drawn(List<DescribedPath> all) {
        List<DescribedPath> direct = all.stream().filter(DescribedPath::direct).toList();
        return direct.isEmpty() ? all : direct;
    }

    /** The word for a kind of path. */
    static String label(LinkKind kind) {
        return kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static boolean isTwoWay(DescribedPath path, DescribedPath back) {
        return back != null
                && back.kind() == path.kind()
                && back.name().equals(path.name())
                && Double.compare(back.bandwidth(), path.bandwidth()) == 0
                && back.width() == path.width()
                && back.hops() == path.hops();
    }

    /** A Graphviz graph of the direct paths, devices of one server and NUMA node in a box of their own. */
    public static String dot(DescribedMachine machine) {
        PathTable paths = new PathTable(machine);
        StringBuilder text = new StringBuilder();
        text.append("// ").append(oneLine(machine.title())).append(": GB/s each way\n");
        text.append("digraph ").append(quoted(machine.title())).append(" {\n");
        text.append("  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n");
        Set<String> boxes =
                new TreeSet<>(Comparator.comparingInt(String::length).thenComparing(s -> s));
        machine.devices().forEach(device -> boxes.add(box(device)));
        int number = 0;
        for (String box : boxes) {
            String indent = "  ";
            if (!box.isEmpty()) {
                text.append("  subgraph cluster_").append(number++).append(" {\n    label=");
                text.append(quoted(box)).append("; style=dashed;\n");
                indent = "    ";
            }
            for (DescribedDevice device : machine.devices()) {
                if (box(device).equals(box)) {
                    text.append(indent)
                            .append(device.ordinal())
                            .append(" [label=")
                            .append(quoted(caption(device)));
                    text.append("];\n");
                }
            }
            text.append(box.isEmpty() ? "" : "  }\n");
        }
        for (DescribedPath path : drawn(machine.paths())) {
            boolean twoWay = isTwoWay(path, paths.get(path.to(), path.from()));
            if (twoWay && path.from() > path.to()) {
                continue;
            }
            text.append("  ").append(path.from()).append(" -> ").append(path.to());
            text.append(" [label=").append(quoted(caption(path)));
            text.append(path.width() > 1 ? ", penwidth=" + Math.min(path.width(), 8) : "");
            text.append(path.direct() ? "" : ", style=dashed");
            text.append(twoWay ? ", dir=both" : "").append("];\n");
        }
        return text.append("}\n").toString();
    }

    private static String box(DescribedDevice device) {
        String server = device.server() > 0 ? "server " + device.server() + " " : "";
        return (server + (device.numaNode() < 0 ? "" : "NUMA " + device.numaNode())).strip();
    }

    private static String caption(DescribedDevice device) {
        StringBuilder text = new StringBuilder(Integer.toString(device.ordinal()));
        for (String line : List.of(device.name(), device.address())) {
            text.append(line.isEmpty() ? "" : "\n" + line);
        }
        return text.toString();
    }

    static String caption(DescribedPath path) {
        String width = path.width() > 1 ? " x" + path.width() : "";
        return path.name() + width + (Double.isNaN(path.bandwidth()) ? "" : " " + Markup.figure(path.bandwidth()));
    }

    private static String quoted(String text) {
        return '"'
                + text.replace("\\", "\\\\")
                        .replace("\"", "\\\"")
                        .replace("\n", "\\n")
                        .replaceAll("\\p{Cntrl}", "?")
                + '"';
    }

    private static String oneLine(String text) {
        return text.replaceAll("\\p{Cntrl}", "?");
    }

    /**
     * A drawing that stands alone.
     *
     * @throws AcceleratorException INVALID_ARGUMENT for a machine of more devices than a drawing can show
     */
    public static String svg(DescribedMachine machine) {
        return svg(machine, true);
    }

    /** The drawing for a page, which brings the style. */
    static String svg(DescribedMachine machine, boolean standsAlone) {
        int devices = machine.devices().size();
        if (devices > MOST_IN_A_DRAWING) {
            throw AcceleratorException.invalid(
                    "topology",
                    "a drawing shows " + MOST_IN_A_DRAWING + " devices at most, and this machine has " + devices
                            + "; use --json");
        }
        return devices <= RingDrawing.MOST_DEVICES
                ? new RingDrawing(machine).draw(standsAlone)
                : MatrixDrawing.draw(machine, standsAlone);
    }

    static StringBuilder start(double width, double height, String title, boolean standsAlone) {
        StringBuilder svg = new StringBuilder();
        if (standsAlone) {
            svg.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        }
        svg.append("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ")
                .append(Markup.coordinate(width))
                .append(' ')
                .append(Markup.coordinate(height))
                .append("\" role=\"img\" class=\"topology\"");
        if (standsAlone) {
            svg.append(" width=\"")
                    .append(Markup.coordinate(width))
                    .append("\" height=\"")
                    .append(Markup.coordinate(height))
                    .append('"');
        }
        svg.append(">\n<title>").append(Markup.escape(title)).append("</title>\n");
        if (standsAlone) {
            svg.append("<style>").append(Style.PALETTE).append(Style.TOPOLOGY).append("</style>\n");
            svg.append("<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
        }
        return svg;
    }
}
