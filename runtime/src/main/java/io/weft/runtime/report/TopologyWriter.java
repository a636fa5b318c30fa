// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.report;

import io.weft.api.AcceleratorException;
import io.weft.api.Platform;
import io.weft.api.topology.Link;
import io.weft.api.topology.LinkKind;
import io.weft.api.topology.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/** Draws how the devices of a platform reach one another. */
public final class TopologyWriter {
    /** More devices than this are drawn as a matrix, as lines would cover one another. */
    private static final int MOST_ON_A_RING = 32;

    /** Larger drawings have cells that no screen shows. */
    static final int MOST_IN_A_DRAWING = 512;

    private TopologyWriter() {}

    private static List<Link> links(Topology topology) {
        List<Link> links = new ArrayList<>();
        for (int from = 0; from < topology.devices(); from++) {
            for (int to = 0; to < topology.devices(); to++) {
                Link link = topology.link(from, to);
                if (from != to && link.kind() != LinkKind.NONE) {
                    links.add(link);
                }
            }
        }
        return links;
    }

    /** The word for a kind of path. */
    static String label(LinkKind kind) {
        return kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Paths to draw: direct ones; where there are none between some devices, the best there is between any. */
    private static List<Link> drawn(Topology topology) {
        List<Link> all = links(topology);
        List<Link> direct = all.stream().filter(link -> link.hops() <= 1).toList();
        return direct.isEmpty() ? all : direct;
    }

    /** Whether both directions are alike, so that one line stands for both. */
    private static boolean isTwoWay(Topology topology, Link link) {
        Link back = topology.link(link.to(), link.from());
        return back.kind() == link.kind()
                && back.name().equals(link.name())
                && back.bandwidth() == link.bandwidth()
                && back.width() == link.width()
                && back.hops() == link.hops();
    }

    /** A Graphviz graph of the direct paths. */
    public static String dot(Platform platform) {
        Topology topology = platform.topology();
        StringBuilder text = new StringBuilder();
        text.append("// ")
                .append(oneLine(platform.uri().toString()))
                .append(": direct paths, GB/s each way (")
                .append(platform.figures().label())
                .append(" figures)\n");
        text.append("digraph ").append(quoted(platform.properties().machine())).append(" {\n");
        text.append("  node [shape=box];\n");
        platform.devices()
                .forEach(device -> text.append("  ")
                        .append(device.properties().ordinal())
                        .append(" [label=")
                        .append(quoted(device.properties().ordinal() + "\n"
                                + device.properties().name()))
                        .append("];\n"));
        for (Link link : drawn(topology)) {
            boolean twoWay = isTwoWay(topology, link);
            if (twoWay && link.from() > link.to()) {
                continue;
            }
            text.append("  ").append(link.from()).append(" -> ").append(link.to());
            text.append(" [label=")
                    .append(quoted(caption(link)))
                    .append(twoWay ? ", dir=both" : "")
                    .append("];\n");
        }
        return text.append("}\n").toString();
    }

    private static String caption(Link link) {
        String width = link.width() > 1 ? " x" + link.width() : "";
        return link.name() + width + " " + Markup.figure(link.bandwidth());
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
     * @throws AcceleratorException INVALID_ARGUMENT for a platform of more devices than a drawing can show
     */
    public static String svg(Platform platform) {
        return svg(platform, true);
    }

    /** The drawing for a page, which brings the style. */
    static String svg(Platform platform, boolean standsAlone) {
        Topology topology = platform.topology();
        int devices = topology.devices();
        if (devices > MOST_IN_A_DRAWING) {
            throw AcceleratorException.invalid(
                    "topology",
                    "a drawing shows " + MOST_IN_A_DRAWING + " devices at most, and " + platform.uri() + " has "
                            + devices + "; use --json");
        }
        String title = platform.properties().machine() + ": GB/s each way ("
                + platform.figures().label() + " figures)";
        return devices <= MOST_ON_A_RING ? ring(topology, title, standsAlone) : matrix(topology, title, standsAlone);
    }

    private static StringBuilder start(int width, int height, String title, boolean standsAlone) {
        StringBuilder svg = new StringBuilder();
        if (standsAlone) {
            svg.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        }
        svg.append("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ")
                .append(width)
                .append(' ')
                .append(height)
                .append("\" role=\"img\" class=\"topology\"");
        if (standsAlone) {
            svg.append(" width=\"")
                    .append(width)
                    .append("\" height=\"")
                    .append(height)
                    .append('"');
        }
        svg.append(">\n<title>").append(Markup.escape(title)).append("</title>\n");
        if (standsAlone) {
            svg.append("<style>").append(Style.PALETTE).append(Style.TOPOLOGY).append("</style>\n");
            svg.append("<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
        }
        return svg;
    }

    private static String ring(Topology topology, String title, boolean standsAlone) {
        int size = 560;
        int devices = topology.devices();
        double middle = size / 2.0;
        double radius = devices == 1 ? 0 : 210;
        double[] x = new double[devices];
        double[] y = new double[devices];
        for (int i = 0; i < devices; i++) {
            double angle = 2 * Math.PI * i / devices - Math.PI / 2;
            x[i] = middle + radius * Math.cos(angle);
            y[i] = middle + radius * Math.sin(angle);
        }
        List<Link> drawn = drawn(topology);
        double fastest = drawn.stream().mapToDouble(Link::bandwidth).max().orElse(1);
        Set<String> legend = new TreeSet<>();
        StringBuilder svg = start(size, size + 60, title, standsAlone);
        for (Link link : drawn) {
            legend.add(label(link.kind()) + ": " + caption(link));
            if (isTwoWay(topology, link) && link.from() > link.to()) {
                continue;
            }
            double thickness = fastest > 0 ? 1 + 3 * link.bandwidth() / fastest : 1;
            svg.append("<line class=\"link ").append(label(link.kind())).append("\" x1=\"");
            svg.append(Markup.coordinate(x[link.from()])).append("\" y1=\"").append(Markup.coordinate(y[link.from()]));
            svg.append("\" x2=\"").append(Markup.coordinate(x[link.to()]));
            svg.append("\" y2=\"").append(Markup.coordinate(y[link.to()]));
            svg.append("\" stroke-width=\"")
                    .append(Markup.coordinate(thickness))
                    .append("\"><title>");
            svg.append(Markup.escape(link.from() + " to " + link.to() + ": " + caption(link) + " GB/s, "
                    + Markup.figure(link.latencyNanos()) + " ns"));
            svg.append("</title></line>\n");
        }
        for (int i = 0; i < devices; i++) {
            svg.append("<circle class=\"device\" cx=\"").append(Markup.coordinate(x[i]));
            svg.append("\" cy=\"").append(Markup.coordinate(y[i])).append("\" r=\"18\"/>");
            svg.append("<text class=\"device-label\" x=\"").append(Markup.coordinate(x[i]));
            svg.append("\" y=\"")
                    .append(Markup.coordinate(y[i] + 5))
                    .append("\">")
                    .append(i)
                    .append("</text>\n");
        }
        int line = size + 14;
        for (String entry : legend.stream().limit(3).toList()) {
            svg.append("<text class=\"caption\" x=\"12\" y=\"").append(line).append("\">");
            svg.append(Markup.escape(entry + " GB/s")).append("</text>\n");
            line += 18;
        }
        return svg.append("</svg>\n").toString();
    }

    private static String matrix(Topology topology, String title, boolean standsAlone) {
        int devices = topology.devices();
        int cell = Math.max(2, 560 / devices);
        int size = cell * devices;
        double fastest =
                links(topology).stream().mapToDouble(Link::bandwidth).max().orElse(1);
        StringBuilder svg = start(size + 24, size + 48, title, standsAlone);
        svg.append("<g transform=\"translate(12 12)\">\n");
        for (int from = 0; from < devices; from++) {
            int to = 0;
            while (to < devices) { // neighbours alike are one rectangle
                double bandwidth = topology.link(from, to).bandwidth();
                int end = to + 1;
                while (end < devices
                        && topology.link(from, end).bandwidth() == bandwidth
                        && from != end
                        && from != to) {
                    end++;
                }
                if (from != to && bandwidth > 0 && fastest > 0) {
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
}
