// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.doctor;

import io.weft.ascend.hccl.PortPlan;
import io.weft.ascend.hccl.PortRange;
import io.weft.spi.HostFiles;
import io.weft.spi.input.FindingReport;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The ports that HCCL binds on the host and on the NPU's own network, and who holds them. */
final class Ports {
    private static final String CHECK = "ports";
    private static final int MOST_PORT = PortRange.MAX;
    private static final Pattern LISTENING =
            Pattern.compile("\\s*\\d+:\\s+[0-9A-Fa-f]+:([0-9A-Fa-f]{4})\\s+[0-9A-Fa-f]+:[0-9A-Fa-f]{4}\\s+0A\\s+(.*)");
    private static final Pattern RANGE = Pattern.compile("(\\d{1,7})(?:-(\\d{1,7}))?");
    private static final Pattern SOCKET = Pattern.compile("socket:\\[(\\d+)\\]");

    private Ports() {}

    static void look(Node node, FindingReport report) {
        Map<Integer, List<String>> wanted = new TreeMap<>();
        settings(node, report, wanted);
        Map<Integer, String> listening = listening(node.host());
        if (listening.isEmpty() && !node.host().exists("proc/net/tcp")) {
            if (node.host().isLive()) {
                report.note(CHECK, "the kernel's list of sockets cannot be read here", "", "", "");
            }
            return;
        }
        Map<String, String> holders = new LinkedHashMap<>();
        List<String> held = new ArrayList<>();
        for (int port : wanted.keySet()) {
            String inode = listening.get(port);
            if (inode != null) {
                if (holders.isEmpty()) {
                    holders.putAll(holders(node.host()));
                }
                held.add(port + " by " + holders.getOrDefault(inode, "a process that cannot be looked at"));
            }
        }
        if (held.isEmpty()) {
            report.good(CHECK, "no port that HCCL would bind is taken (" + text(wanted) + ")");
            return;
        }
        report.problem(
                CHECK,
                "ports that HCCL binds are held: " + String.join("; ", held),
                "The next job fails to bind (EJ0003, EI0019), or waits 120 s for a connection that never comes (EI0006).",
                "vllm-project/vllm-ascend#1955, #405, #11968, #4725; hiyouga/LlamaFactory#9330",
                "End the old job, or give this one ranges of its own: HCCL_NPU_SOCKET_PORT_RANGE="
                        + free(listening, 17_000) + " HCCL_HOST_SOCKET_PORT_RANGE=" + free(listening, 61_000) + ".");
    }

    private static String text(Map<Integer, List<String>> wanted) {
        List<String> ranges = new ArrayList<>();
        int start = -1;
        int last = -1;
        for (int port : wanted.keySet()) {
            if (start >= 0 && port == last + 1) {
                last = port;
                continue;
            }
            if (start >= 0) {
                ranges.add(start == last ? "" + start : start + "-" + last);
            }
            start = port;
            last = port;
        }
        if (start >= 0) {
            ranges.add(start == last ? "" + start : start + "-" + last);
        }
        return String.join(", ", ranges);
    }

    /** A range of 32 free ports from a place on. */
    private static String free(Map<Integer, String> listening, int from) {
        for (int start = from; start + PortPlan.HOST_PORTS - 1 <= MOST_PORT; start += PortPlan.HOST_PORTS) {
            boolean taken = false;
            for (int port = start; port < start + PortPlan.HOST_PORTS; port++) {
                taken |= listening.containsKey(port);
            }
            if (!taken) {
                return start + "-" + (start + PortPlan.HOST_PORTS - 1);
            }
        }
        return "auto";
    }

    /** What every environment with anything of HCCL or torch_npu would bind, by port; the defaults when there is none. */
    private static void settings(Node node, FindingReport report, Map<Integer, List<String>> wanted) {
        Map<String, Set<String>> jobs = new LinkedHashMap<>();
        for (HostFiles.Environment environment : node.environments()) {
            Optional<String> npu =
                    environment.value("HCCL_NPU_SOCKET_PORT_RANGE").filter(text -> !text.isBlank());
            Optional<String> host =
                    environment.value("HCCL_HOST_SOCKET_PORT_RANGE").filter(text -> !text.isBlank());
            Optional<String> base = environment.value("HCCL_IF_BASE_PORT").filter(text -> !text.isBlank());
            environment
                    .value("MASTER_PORT")
                    .ifPresent(port -> jobs.computeIfAbsent(
                                    npu.orElse(Integer.toString(PortPlan.DEVICE_PORT)), key -> new LinkedHashSet<>())
                            .add(environment.value("MASTER_ADDR").orElse("?") + ":" + port));
            npu.ifPresent(text -> ranges("HCCL_NPU_SOCKET_PORT_RANGE", text, environment.owner(), report, wanted));
            host.ifPresent(text -> ranges("HCCL_HOST_SOCKET_PORT_RANGE", text, environment.owner(), report, wanted));
            base.ifPresent(text -> base(text, host.isPresent(), environment.owner(), report, wanted));
        }
        jobs.forEach((range, masters) -> {
            if (masters.size() > 1 && !range.equals("auto")) {
                report.warning(
                        CHECK,
                        masters.size() + " jobs on this host (" + String.join(", ", masters) + ") use the NPU port "
                                + range,
                        "Where they share an NPU, as prefill and decode of one model do, the second fails to bind"
                                + " (EI0019).",
                        "vllm-project/vllm-ascend#11968, #4725",
                        "Give each job its own HCCL_NPU_SOCKET_PORT_RANGE, or auto.");
            }
        });
        if (wanted.isEmpty()) {
            add(wanted, PortPlan.DEVICE_PORT, PortPlan.DEVICE_PORT, "default");
            add(wanted, PortPlan.HOST_BASE, PortPlan.HOST_BASE + PortPlan.HOST_PORTS - 1, "default");
        }
    }

    private static void base(
            String text, boolean overruled, String owner, FindingReport report, Map<Integer, List<String>> wanted) {
        if (!text.strip().matches("\\d{1,7}")
                || Integer.parseInt(text.strip()) < 1024
                || Integer.parseInt(text.strip()) > 65_520) {
            report.problem(
                    CHECK,
                    "HCCL_IF_BASE_PORT=" + text + " (" + owner + "); accepted are 1024 to 65520",
                    "HCCL takes 32 ports from there (EI0001).",
                    "HCCL documentation, HCCL_IF_BASE_PORT",
                    "Choose one below the kernel's ephemeral range.");
            return;
        }
        if (!overruled) {
            int from = Integer.parseInt(text.strip());
            add(wanted, from, Math.min(MOST_PORT, from + PortPlan.HOST_PORTS - 1), owner);
        }
    }

    private static void ranges(
            String name, String text, String owner, FindingReport report, Map<Integer, List<String>> wanted) {
        if (text.strip().equals("auto")) {
            return;
        }
        for (String part : text.split(",", -1)) {
            Matcher range = RANGE.matcher(part.strip());
            int from = range.matches() ? Integer.parseInt(range.group(1)) : -1;
            int to = range.matches() && range.group(2) != null ? Integer.parseInt(range.group(2)) : from;
            if (from < 1 || to < from || to > MOST_PORT) {
                report.problem(
                        CHECK,
                        name + "=" + text + " (" + owner + "): '" + part.strip() + "' is no range of ports",
                        "Ports end at " + MOST_PORT + "; a base plus the device's number can run past it.",
                        "HCCL documentation; vllm-project/vllm-ascend PR 12318",
                        "Accepted are auto, ports and ranges such as 17000-17031, separated by commas.");
                return;
            }
            add(wanted, from, to, owner);
        }
    }

    private static void add(Map<Integer, List<String>> wanted, int from, int to, String owner) {
        for (int port = from; port <= to; port++) {
            wanted.computeIfAbsent(port, key -> new ArrayList<>()).add(owner);
        }
    }

    /** Listening ports with their sockets' inode. */
    static Map<Integer, String> listening(HostFiles host) {
        Map<Integer, String> found = new TreeMap<>();
        for (String file : List.of("proc/net/tcp", "proc/net/tcp6")) {
            host.text(file).ifPresent(text -> {
                for (String line : text.split("\n", -1)) {
                    Matcher socket = LISTENING.matcher(line);
                    if (socket.matches()) {
                        // tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode ...
                        String[] rest = socket.group(2).strip().split("\\s+", -1);
                        found.put(Integer.parseInt(socket.group(1), 16), rest.length > 5 ? rest[5] : "");
                    }
                }
            });
        }
        return found;
    }

    /** Who has a socket, by inode. */
    private static Map<String, String> holders(HostFiles host) {
        Map<String, String> found = new LinkedHashMap<>();
        for (String pid : host.list("proc")) {
            if (!pid.matches("\\d+")) {
                continue;
            }
            for (String descriptor : host.list("proc/" + pid + "/fd")) {
                try {
                    Matcher socket =
                            SOCKET.matcher(Files.readSymbolicLink(host.path("proc/" + pid + "/fd/" + descriptor))
                                    .toString());
                    if (socket.matches()) {
                        String name = host.text("proc/" + pid + "/cmdline")
                                .filter(text -> !text.isEmpty())
                                .or(() -> host.text("proc/" + pid + "/comm"))
                                .orElse("?");
                        found.putIfAbsent(
                                socket.group(1),
                                "process " + pid + " (" + (name.length() > 60 ? name.substring(0, 60) + "..." : name)
                                        + ")");
                    }
                } catch (IOException | UnsupportedOperationException | SecurityException gone) {
                    // The process ended meanwhile, or is someone else's.
                }
            }
        }
        return found;
    }
}
