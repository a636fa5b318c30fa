// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

import io.weft.amd.topology.SourceGraph.CardClaim;
import io.weft.amd.topology.SourceGraph.GpuClaim;
import io.weft.amd.topology.SourceGraph.PairClaim;
import io.weft.api.AcceleratorException;
import io.weft.api.Finding;
import io.weft.spi.input.PciAddress;
import io.weft.spi.input.ToolText;
import java.io.StringReader;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * Reads a topology file of RCCL, as {@code NCCL_TOPO_DUMP_FILE} writes and {@code NCCL_TOPO_FILE} takes it.
 *
 * <p>Files come from strangers, so the parser resolves nothing: a document type is refused, with it every entity; the size, the depth and the number of elements are bounded.
 */
final class RcclXmlReader {
    static final String ACCEPTED = "a topology file of RCCL: <system> with <cpu>, <pci>, <gpu> and <xgmi> in it";

    private static final int MAX_ELEMENTS = 200_000;
    private static final int MAX_DEPTH = 64;
    /** Beyond this no network card is; some files give kb/s where Mb/s belong. */
    private static final long MOST_MEGABITS = 6_400_000;

    private static final Pattern SPEED = Pattern.compile("^\\s*(\\d{1,3}(?:\\.\\d{1,3})?)\\s*GT/s.*");

    private final Path file;
    private final SourceGraph graph;
    private final Map<PciAddress, Integer> places = new HashMap<>();
    private final List<Edge> edges = new ArrayList<>();
    private final Map<String, Integer> servers = new LinkedHashMap<>();
    private int impliedEdges;
    private int fastCards;

    /** An xGMI edge as written; its target may stand further down. */
    private record Edge(int from, PciAddress target, int count, String targetClass, int line) {}

    /** A host socket or PCI device that is open. */
    private record Open(String element, String busid, int numa, int server, double speed, int lanes, String device) {}

    private RcclXmlReader(Path file) {
        this.file = file;
        graph = new SourceGraph(SourceKind.RCCL_XML, file.toString());
    }

    static SourceGraph read(Path file) {
        String text = ToolText.decoded(file, ACCEPTED);
        RcclXmlReader reader = new RcclXmlReader(file);
        reader.read(text);
        return reader.graph;
    }

    private void read(String text) {
        // White space before the declaration is common and harmless, yet no XML.
        String xmlText = text.stripLeading();
        if (xmlText.isEmpty()) {
            throw ToolText.refused(file, "is empty; accepted is " + ACCEPTED);
        }
        XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        factory.setProperty(XMLInputFactory.IS_REPLACING_ENTITY_REFERENCES, false);
        factory.setXMLResolver((publicId, systemId, base, namespace) -> {
            throw new XMLStreamException("nothing outside the file is read");
        });
        factory.setXMLReporter((message, kind, detail, place) -> {
            // What matters is thrown; nothing is to be printed.
        });
        XMLStreamReader xml = null;
        try {
            // From characters: the parser prints what it thinks of bytes.
            xml = factory.createXMLStreamReader(new StringReader(xmlText));
            document(xml);
        } catch (XMLStreamException broken) {
            throw refused(xmlText, xml, broken);
        } finally {
            close(xml);
        }
        finish();
    }

    private AcceleratorException refused(String text, XMLStreamReader xml, XMLStreamException broken) {
        if (!text.startsWith("<")) {
            String otherwise = InputText.otherwise(text);
            return ToolText.refused(
                    file,
                    "is no XML" + (otherwise.isEmpty() ? "" : "; " + otherwise) + "; it begins '"
                            + ToolText.begins(text) + "'; accepted is " + ACCEPTED);
        }
        String reason = broken.getMessage() == null ? "" : broken.getMessage();
        int message = reason.indexOf("Message: ");
        reason = message >= 0 ? reason.substring(message + 9) : reason;
        int line = broken.getLocation() != null
                ? broken.getLocation().getLineNumber()
                : xml == null ? -1 : xml.getLocation().getLineNumber();
        return ToolText.refused(
                file,
                (line > 0 ? "line " + line + ": " : "") + "the XML is broken or cut off: "
                        + reason.replaceAll("\\s+", " "));
    }

    private static void close(XMLStreamReader xml) {
        try {
            if (xml != null) {
                xml.close();
            }
        } catch (XMLStreamException harmless) {
            // It read from memory.
            return;
        }
    }

    private void document(XMLStreamReader xml) throws XMLStreamException {
        Deque<Open> open = new ArrayDeque<>();
        int depth = 0;
        int elements = 0;
        int gpu = -1;
        while (xml.hasNext()) {
            int event = xml.next();
            if (event == XMLStreamConstants.DTD || event == XMLStreamConstants.ENTITY_REFERENCE) {
                throw ToolText.refused(
                        file,
                        "line " + line(xml) + ": a document type or an entity is in it, which RCCL never writes; "
                                + "accepted is plain XML");
            }
            if (event == XMLStreamConstants.END_ELEMENT) {
                depth--;
                String name = xml.getLocalName();
                if (name.equals("gpu")) {
                    gpu = -1;
                } else if (!open.isEmpty() && open.peek().element().equals(name)) {
                    open.pop();
                }
                if (depth == 0) {
                    // Whatever follows the root is not ours: files get log lines appended.
                    return;
                }
                continue;
            }
            if (event != XMLStreamConstants.START_ELEMENT) {
                continue;
            }
            depth++;
            if (++elements > MAX_ELEMENTS || depth > MAX_DEPTH) {
                throw ToolText.refused(
                        file,
                        "line " + line(xml) + ": more than " + MAX_ELEMENTS + " elements, or more than " + MAX_DEPTH
                                + " inside one another; no topology is like that");
            }
            String name = xml.getLocalName();
            if (depth == 1 && !name.equals("system")) {
                throw ToolText.refused(
                        file,
                        "line " + line(xml) + ": the root is <" + name + ">, not <system>; accepted is " + ACCEPTED);
            }
            switch (name) {
                case "cpu" -> open.push(cpu(xml));
                case "pci" -> open.push(pci(xml, open));
                case "gpu" -> gpu = gpu(xml, open);
                case "xgmi", "nvlink" -> edge(xml, gpu);
                case "net" -> net(xml, open);
                default -> {
                    // RCCL writes more than links; later versions will write more still.
                }
            }
        }
        throw ToolText.refused(file, "the XML is cut off: <system> never ends");
    }

    private static int line(XMLStreamReader xml) {
        return xml.getLocation().getLineNumber();
    }

    private static String attribute(XMLStreamReader xml, String name) {
        String value = xml.getAttributeValue(null, name);
        return value == null ? "" : value.strip();
    }

    private int number(XMLStreamReader xml, String name, int otherwise) {
        String text = attribute(xml, name);
        if (text.isEmpty()) {
            return otherwise;
        }
        if (!text.matches("-?\\d{1,9}")) {
            throw ToolText.refused(
                    file, "line " + line(xml) + ": " + name + " is '" + shortened(text) + "', not a whole number");
        }
        return Integer.parseInt(text);
    }

    private static String shortened(String text) {
        return text.length() <= 60 ? text : text.substring(0, 60) + "...";
    }

    private Open cpu(XMLStreamReader xml) {
        String host = attribute(xml, "host_hash");
        int server = servers.computeIfAbsent(host, hash -> servers.size());
        return new Open("cpu", "", number(xml, "numaid", -1), server, Double.NaN, -1, "");
    }

    private static Open pci(XMLStreamReader xml, Deque<Open> open) {
        Open above = open.peek();
        Matcher speed = SPEED.matcher(attribute(xml, "link_speed"));
        String lanes = attribute(xml, "link_width");
        return new Open(
                "pci",
                attribute(xml, "busid"),
                above == null ? -1 : above.numa(),
                above == null ? 0 : above.server(),
                speed.matches() ? Double.parseDouble(speed.group(1)) : Double.NaN,
                lanes.matches("\\d{1,2}") ? Integer.parseInt(lanes) : -1,
                attribute(xml, "device"));
    }

    private int gpu(XMLStreamReader xml, Deque<Open> open) {
        Open slot = open.peek();
        if (slot == null || !slot.element().equals("pci")) {
            throw ToolText.refused(file, "line " + line(xml) + ": <gpu> stands outside of a <pci>");
        }
        PciAddress address = PciAddress.parse(slot.busid())
                .orElseThrow(() -> ToolText.refused(
                        file,
                        "line " + line(xml) + ": the busid above is '" + shortened(slot.busid())
                                + "', no PCI address such as 0000:0c:00.0"));
        GpuClaim gpu = new GpuClaim();
        gpu.index = number(xml, "dev", graph.gpus.size());
        gpu.address = address;
        gpu.numa = slot.numa();
        gpu.server = slot.server();
        gpu.gfx = Chip.ofGcn(attribute(xml, "gcn"));
        gpu.computeUnits = number(xml, "sm", -1);
        gpu.pcieSpeed = slot.speed();
        gpu.pcieLanes = slot.lanes();
        String device = slot.device();
        gpu.product = device.matches("0x[0-9a-fA-F]{1,8}") ? Chip.product(Long.decode(device)) : "";
        gpu.bridges = bridges(open);
        if (places.containsKey(address)) {
            throw ToolText.refused(file, "line " + line(xml) + ": GPU " + address + " is in it twice");
        }
        if (graph.gpus.size() == MatrixTable.MOST_GPUS) {
            throw SmiTables.tooMany(file);
        }
        places.put(address, graph.gpus.size());
        graph.gpus.add(gpu);
        return graph.gpus.size() - 1;
    }

    /** What is above the innermost device, from the host down. */
    private static List<String> bridges(Deque<Open> open) {
        List<String> bridges = new ArrayList<>();
        int skip = 1;
        for (Open above : open) {
            if (skip-- <= 0) {
                bridges.addFirst(
                        above.element().equals("cpu") ? "cpu" + above.server() + "." + above.numa() : above.busid());
            }
        }
        return bridges;
    }

    private void edge(XMLStreamReader xml, int gpu) {
        if (gpu < 0) {
            throw ToolText.refused(
                    file, "line " + line(xml) + ": <" + xml.getLocalName() + "> stands outside of a <gpu>");
        }
        String text = attribute(xml, "target");
        PciAddress target = PciAddress.parse(text)
                .orElseThrow(() -> ToolText.refused(
                        file,
                        "line " + line(xml) + ": the target is '" + shortened(text)
                                + "', no PCI address such as 0000:0c:00.0"));
        int count = number(xml, "count", 1);
        if (count < 1 || count > 64) {
            throw ToolText.refused(
                    file, "line " + line(xml) + ": count is " + count + "; a pair has 1 to 64 parallel links");
        }
        edges.add(new Edge(gpu, target, count, attribute(xml, "tclass"), line(xml)));
    }

    private void net(XMLStreamReader xml, Deque<Open> open) {
        Open slot = open.peek();
        CardClaim card = new CardClaim();
        card.name = attribute(xml, "name");
        if (slot != null && slot.element().equals("pci")) {
            card.address =
                    PciAddress.parse(slot.busid()).map(PciAddress::toString).orElse("");
            card.bridges = bridges(open);
        }
        card.numa = slot == null ? -1 : slot.numa();
        card.server = slot == null ? 0 : slot.server();
        String speed = attribute(xml, "speed");
        if (speed.matches("\\d{1,12}")) {
            long megabits = Long.parseLong(speed);
            if (megabits > MOST_MEGABITS && megabits / 1000 <= MOST_MEGABITS) {
                fastCards++;
                megabits /= 1000;
            }
            card.gigabytesPerSecond = megabits <= 0 || megabits > MOST_MEGABITS ? Double.NaN : megabits / 8000.0;
        }
        graph.cards.add(card);
    }

    private void finish() {
        if (graph.gpus.isEmpty()) {
            throw ToolText.refused(file, "there is no <gpu> in it; accepted is " + ACCEPTED);
        }
        for (Edge edge : edges) {
            Integer to = places.get(edge.target());
            if (to == null) {
                // A CPU or a switch has another class than display (0x03) or processing accelerator (0x12).
                boolean gpuClass = Optional.of(edge.targetClass())
                        .filter(text -> text.startsWith("0x03") || text.startsWith("0x12") || text.startsWith("0x13"))
                        .isPresent();
                if (gpuClass) {
                    graph.note(
                            Finding.Severity.PROBLEM,
                            "xgmi-edges",
                            "line " + edge.line() + ": an edge leads to GPU " + edge.target()
                                    + ", which is not in the file");
                } else {
                    impliedEdges++;
                }
                continue;
            }
            if (to == edge.from()) {
                graph.note(
                        Finding.Severity.PROBLEM,
                        "xgmi-edges",
                        "line " + edge.line() + ": an edge joins GPU " + edge.target() + " with itself");
                continue;
            }
            PairClaim pair = graph.pair(edge.from(), to);
            pair.linkClass = LinkClass.XGMI;
            pair.count = Math.max(0, pair.count) + edge.count();
        }
        if (impliedEdges > 0) {
            graph.note(
                    Finding.Severity.NOTE,
                    "xgmi-edges",
                    impliedEdges + " edges lead to something that is no GPU, such as a host socket");
        }
        if (fastCards > 0) {
            graph.note(
                    Finding.Severity.NOTE,
                    "network-cards",
                    fastCards + " network cards state a speed beyond " + MOST_MEGABITS + " Mb/s; it is taken for kb/s");
        }
        // Pairs without an edge: RCCL reaches them over PCIe, or over xGMI through another GPU.
        for (int from = 0; from < graph.gpus.size(); from++) {
            for (int to = 0; to < graph.gpus.size(); to++) {
                PairClaim pair = from == to ? null : graph.said(from, to);
                if (pair == null && from != to) {
                    graph.pair(from, to).count = 0;
                }
            }
        }
    }
}
