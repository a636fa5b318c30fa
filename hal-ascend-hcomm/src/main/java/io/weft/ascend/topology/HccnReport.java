// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.topology;

import io.weft.spi.input.ToolText;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What {@code hccn_tool} printed, for one device or several, one item or several, with or without the command lines before them; and {@code /etc/hccn.conf}. A device's number comes from the command line, from a line's prefix, or from the key.
 *
 * @param ports by device
 */
public record HccnReport(Map<Integer, Port> ports) {
    static final String ACCEPTED =
            "the output of hccn_tool (-link, -link_stat, -ip, -net_health, -stat, -tls, -speed, -lldp), or /etc/hccn.conf";

    private static final Pattern COMMAND = Pattern.compile(".*hccn_tool\\b.*?\\s-i\\s+(\\d{1,5})\\b.*");
    private static final Pattern PREFIX = Pattern.compile("\\[(?:devid|device)\\s+(\\d{1,5})\\]\\s*(.*)");
    private static final Pattern CONF = Pattern.compile(
            "(address|netmask|gateway|netdetect|send_arp_status|mtu|IPv6address|IPv6gateway)_(\\d{1,5})\\s*=\\s*(.*)");
    private static final Pattern COUNTER = Pattern.compile("([a-z][a-z0-9]*(?:_[a-z0-9]+){2,})\\s*:\\s*(\\d{1,19})");
    private static final Pattern EVENT = Pattern.compile("(.*\\d)\\s+LINK\\s+(UP|DOWN)");
    private static final Pattern SPEED = Pattern.compile("(?i)speed\\s*:\\s*(\\d{1,9})\\s*Mb/s");
    private static final Pattern TLS = Pattern.compile("dev_id\\s*:\\s*(\\d{1,5}),\\s*tls switch\\[(\\d)\\].*");

    public HccnReport {
        ports = java.util.Collections.unmodifiableMap(new TreeMap<>(ports));
    }

    /**
     * A change of a link.
     *
     * @param time as the tool prints it
     * @param up whether it came up
     */
    public record LinkEvent(String time, boolean up) {}

    /** What is known of one device's network port. Filled while reading, and not changed afterwards. */
    public static final class Port {
        private String address = "";
        private String netmask = "";
        private String gateway = "";
        private String link = "";
        private String health = "";
        private String fault = "";
        private int tls = -1;
        private long megabitsPerSecond = -1;
        private long ups = -1;
        private long downs = -1;
        private final List<LinkEvent> events = new ArrayList<>();
        private final Map<String, Long> counters = new LinkedHashMap<>();

        private Port() {}

        /** Address; empty when not stated. */
        public String address() {
            return address;
        }

        /** Netmask; empty when not stated. */
        public String netmask() {
            return netmask;
        }

        /** Gateway; empty when not stated. */
        public String gateway() {
            return gateway;
        }

        /** {@code UP}, {@code DOWN}, or empty when not stated. */
        public String link() {
            return link;
        }

        /** Such as {@code Success}; empty when not stated. */
        public String health() {
            return health;
        }

        /** A sentence of failure that the tool printed; empty when there is none. */
        public String fault() {
            return fault;
        }

        /** 1 when TLS is on, 0 when it is off, -1 when not stated. */
        public int tls() {
            return tls;
        }

        /** Mb/s, -1 when not stated. */
        public long megabitsPerSecond() {
            return megabitsPerSecond;
        }

        /** How often the link came up, -1 when not stated. */
        public long ups() {
            return ups;
        }

        /** How often the link went down: as counted, or from the records where a version counts none; -1 when neither is there. */
        public long downs() {
            return downs >= 0
                    ? downs
                    : events.isEmpty()
                            ? -1
                            : events.stream().filter(event -> !event.up()).count();
        }

        /** Changes of the link, newest first as the tool prints them. */
        public List<LinkEvent> events() {
            return List.copyOf(events);
        }

        /** Counters of {@code -stat} by name. */
        public Map<String, Long> counters() {
            return java.util.Collections.unmodifiableMap(counters);
        }

        /** A counter, -1 when it is not there. */
        public long counter(String name) {
            return counters.getOrDefault(name, -1L);
        }

        /** Packets that were sent again over all that were sent; NaN when the counters are not there or nothing was sent. */
        public double retransmissionRate() {
            long again = counter("roce_new_pkt_rty_num");
            long sent = counter("roce_tx_all_pkt_num");
            return again < 0 || sent <= 0 ? Double.NaN : (double) again / sent;
        }
    }

    /** Reads a file. */
    public static HccnReport read(Path file) {
        return read(file, ToolText.read(file, ACCEPTED, ", which is what hccn_tool leaves without root"));
    }

    static HccnReport read(Path file, String text) {
        Map<Integer, Port> ports = new TreeMap<>();
        int device = -1;
        boolean any = false;
        String[] lines = text.split("\n", -1);
        for (int i = 0; i < lines.length; i++) {
            String line = lines[i].strip();
            Matcher command = COMMAND.matcher(line);
            if (command.matches()) {
                device = number(file, i, command.group(1));
                continue;
            }
            Matcher conf = CONF.matcher(line);
            if (conf.matches()) {
                any = true;
                conf(
                        port(ports, number(file, i, conf.group(2))),
                        conf.group(1),
                        conf.group(3).strip());
                continue;
            }
            Matcher prefix = PREFIX.matcher(line);
            if (prefix.matches()) {
                device = number(file, i, prefix.group(1));
                line = prefix.group(2).strip();
            }
            Matcher tls = TLS.matcher(line);
            if (tls.matches()) {
                any = true;
                port(ports, number(file, i, tls.group(1))).tls = Integer.parseInt(tls.group(2));
                continue;
            }
            if (isItem(line)) {
                any = true;
                // A capture of one item of one device names no device.
                item(file, i + 1, port(ports, Math.max(0, device)), line);
            }
        }
        if (!any) {
            throw ToolText.refused(
                    file,
                    "nothing of hccn_tool is in it; it begins '" + ToolText.begins(text) + "'; accepted is "
                            + ACCEPTED);
        }
        return new HccnReport(ports);
    }

    private static int number(Path file, int line, String text) {
        int number = Integer.parseInt(text);
        if (number > 1023) {
            throw ToolText.refused(file, "line " + (line + 1) + ": device " + number + ", which no server has");
        }
        return number;
    }

    private static Port port(Map<Integer, Port> ports, int device) {
        return ports.computeIfAbsent(device, number -> new Port());
    }

    private static void conf(Port port, String key, String value) {
        switch (key) {
            case "address" -> port.address = value;
            case "netmask" -> port.netmask = value;
            case "gateway" -> port.gateway = value;
            default -> {
                // Nothing that is asked for here.
            }
        }
    }

    private static boolean isItem(String line) {
        return line.startsWith("ipaddr")
                || line.startsWith("netmask")
                || line.startsWith("link status")
                || line.startsWith("net health status")
                || line.startsWith("link up count")
                || line.startsWith("link down count")
                || line.startsWith("Get ipconf failed")
                || SPEED.matcher(line).find()
                || EVENT.matcher(line).matches()
                || COUNTER.matcher(line).matches();
    }

    private static void item(Path file, int number, Port port, String line) {
        Matcher event = EVENT.matcher(line);
        if (event.matches()) {
            port.events.add(new LinkEvent(event.group(1).strip(), event.group(2).equals("UP")));
            return;
        }
        Matcher counter = COUNTER.matcher(line);
        if (counter.matches()) {
            port.counters.put(counter.group(1), parse(file, number, counter.group(2)));
            return;
        }
        Matcher speed = SPEED.matcher(line);
        if (speed.find()) {
            port.megabitsPerSecond = Long.parseLong(speed.group(1));
            return;
        }
        if (line.startsWith("Get ipconf failed")) {
            port.fault = line;
            return;
        }
        int colon = line.indexOf(':');
        if (colon < 0) {
            throw ToolText.refused(file, "line " + number + ": '" + ToolText.begins(line) + "' has no value");
        }
        String key = line.substring(0, colon).strip();
        String value = line.substring(colon + 1).strip();
        switch (key) {
            case "ipaddr" -> port.address = value;
            case "netmask" -> port.netmask = value;
            case "link status" -> {
                if (!value.equals("UP") && !value.equals("DOWN")) {
                    throw ToolText.refused(
                            file, "line " + number + ": link status '" + value + "'; accepted are UP and DOWN");
                }
                port.link = value;
            }
            case "net health status" -> port.health = value;
            case "link up count" -> port.ups = parse(file, number, value);
            case "link down count" -> port.downs = parse(file, number, value);
            default -> {
                // Newer versions print more.
            }
        }
    }

    private static long parse(Path file, int line, String value) {
        if (!value.matches("\\d{1,18}")) {
            throw ToolText.refused(file, "line " + line + ": '" + value + "' is no count");
        }
        return Long.parseLong(value);
    }
}
