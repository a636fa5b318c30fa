// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.doctor;

import io.weft.ascend.topology.HccnReport;
import io.weft.ascend.topology.HccnReport.Port;
import io.weft.spi.input.FindingReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** The network ports of the devices: state, history, retransmissions, flow control, and settings that must be alike. */
final class Links {
    /** Packets sent again over packets sent, above which a link is not well. */
    static final double MOST_RETRANSMITTED = 0.001;

    private static final String STATE = "link-state";
    private static final String FLAPS = "link-flaps";
    private static final String AGAIN = "retransmissions";
    private static final String TLS = "tls";

    private Links() {}

    static void look(Node node, FindingReport report) {
        if (node.ports().isEmpty()) {
            if (node.graph().isPresent()) {
                report.note(
                        STATE,
                        "nothing of hccn_tool was given",
                        "Most failures between servers are a link that is down, flaps or loses packets.",
                        "vllm-project/vllm-ascend#1815, #7384, #3162",
                        "for i in 0 1 2 3 4 5 6 7; do for item in -link -link_stat -net_health -tls -stat -ip; do echo"
                                + " \"hccn_tool -i $i $item -g\"; hccn_tool -i $i $item -g; done; done > hccn.txt; then"
                                + " --hccn hccn.txt");
            }
            return;
        }
        Map<Integer, List<Port>> ports = new TreeMap<>();
        for (HccnReport read : node.ports().values()) {
            read.ports()
                    .forEach((device, port) -> ports.computeIfAbsent(device, key -> new ArrayList<>())
                            .add(port));
        }
        state(ports, report);
        flaps(ports, report);
        retransmissions(ports, report);
        tls(ports, report);
    }

    private static void state(Map<Integer, List<Port>> ports, FindingReport report) {
        List<Integer> up = new ArrayList<>();
        ports.forEach((device, all) -> {
            for (Port port : all) {
                if (port.link().equals("UP")) {
                    up.add(device);
                } else if (port.link().equals("DOWN")) {
                    report.problem(
                            STATE,
                            "the network port of device " + device + " is down",
                            "Ranks of other servers cannot reach it (EJ0002), and the job waits for the connection"
                                    + " limit before it says so.",
                            "vllm-project/vllm-ascend#1815",
                            "Check cable, optical module (hccn_tool -optical -g) and switch port.");
                }
                if (!port.fault().isEmpty()) {
                    report.problem(
                            STATE,
                            "device " + device + ": " + port.fault(),
                            "Without an address the port is not used.",
                            "hccn_tool",
                            "hccn_tool -i " + device + " -ip -s address ADDRESS netmask MASK.");
                }
                switch (port.health()) {
                    case "", "Success" -> {
                        // Nothing is wrong, or nothing is known.
                    }
                    case "Init" ->
                        report.note(
                                STATE,
                                "device " + device + ": net health is Init",
                                "No detection address is set, or it has not been asked yet.",
                                "hccn_tool -net_health",
                                "hccn_tool -netdetect sets one.");
                    default ->
                        report.problem(
                                STATE,
                                "device " + device + ": net health is " + port.health(),
                                "The detection address does not answer: the way to the switch is broken.",
                                "hccn_tool -net_health",
                                "Check addresses, VLAN and the switch.");
                }
            }
        });
        if (!up.isEmpty()) {
            report.good(STATE, up.size() + " network ports are up");
        }
    }

    private static void flaps(Map<Integer, List<Port>> ports, FindingReport report) {
        int steady = 0;
        for (Map.Entry<Integer, List<Port>> entry : ports.entrySet()) {
            for (Port port : entry.getValue()) {
                long downs = port.downs();
                if (downs > 0) {
                    String last = port.events().stream()
                            .filter(event -> !event.up())
                            .map(HccnReport.LinkEvent::time)
                            .findFirst()
                            .map(time -> ", last at " + time)
                            .orElse("");
                    report.warning(
                            FLAPS,
                            "the link of device " + entry.getKey() + " went down "
                                    + (downs == 1 ? "once" : downs + " times") + last,
                            "A link that drops for a moment stalls every rank, and ends the job when retries run out"
                                    + " (EI0013, 4.29 s x 7 by default).",
                            "vllm-project/vllm-ascend#7384",
                            "Compare the times with the job's; if they agree, change cable or module. A restart of the"
                                    + " driver also counts.");
                } else if (downs == 0 || port.ups() >= 0) {
                    steady++;
                }
            }
        }
        if (steady > 0) {
            report.good(FLAPS, steady + " links have not gone down since the driver was loaded");
        }
    }

    private static void retransmissions(Map<Integer, List<Port>> ports, FindingReport report) {
        int clean = 0;
        for (Map.Entry<Integer, List<Port>> entry : ports.entrySet()) {
            for (Port port : entry.getValue()) {
                double rate = port.retransmissionRate();
                String device = "device " + entry.getKey();
                if (rate >= MOST_RETRANSMITTED) {
                    report.problem(
                            AGAIN,
                            String.format(
                                    Locale.ROOT,
                                    "%s sent %.3f %% of its packets again (%d of %d); below 0.1 %% is well",
                                    device,
                                    rate * 100,
                                    port.counter("roce_new_pkt_rty_num"),
                                    port.counter("roce_tx_all_pkt_num")),
                            "Every lost packet costs a timeout of seconds at the default, seen as notify waits of about"
                                    + " 4 s.",
                            "hccn_tool -stat, roce_new_pkt_rty_num",
                            "Put traffic on a lossless queue: HCCL_RDMA_TC and HCCL_RDMA_SL as the switch's PFC has"
                                    + " them.");
                } else if (!Double.isNaN(rate)) {
                    clean++;
                }
                if (port.counter("roce_qp_status_err_num") > 0) {
                    report.warning(
                            AGAIN,
                            device + " counted " + port.counter("roce_qp_status_err_num")
                                    + " packets for queue pairs in error",
                            "A peer ended, or a connection broke, while data were on the way.",
                            "hccn_tool -stat, roce_qp_status_err_num",
                            "Look whether it grows during a job.");
                }
                long sent = port.counter("roce_tx_all_pkt_num");
                if (rate > 0
                        && port.counter("mac_tx_pfc_pkt_num") == 0
                        && port.counter("mac_rx_pfc_pkt_num") <= 0
                        && sent > 0) {
                    report.note(
                            AGAIN,
                            device + " loses packets and no flow-control frame was ever seen",
                            "PFC seems to be off, or traffic is on another queue than the lossless one.",
                            "HCCL documentation, HCCL_RDMA_TC and HCCL_RDMA_SL",
                            "TC divided by 4 is the DSCP; compare it with the switch.");
                }
            }
        }
        if (clean > 0) {
            report.good(AGAIN, clean + " ports send less than 0.1 % of their packets again");
        }
    }

    private static void tls(Map<Integer, List<Port>> ports, FindingReport report) {
        Set<Integer> seen = new TreeSet<>();
        List<String> each = new ArrayList<>();
        ports.forEach((device, all) -> all.stream()
                .filter(port -> port.tls() >= 0)
                .forEach(port -> {
                    seen.add(port.tls());
                    each.add(device + (port.tls() == 1 ? " on" : " off"));
                }));
        if (seen.size() > 1) {
            report.problem(
                    TLS,
                    "TLS is not alike on all devices: " + String.join(", ", each),
                    "A connection between one with and one without it fails (EI0009, EI0016).",
                    "vllm-project/vllm-ascend#3162",
                    "hccn_tool -i DEVICE -tls -s enable 0 (or 1) on all of them.");
        } else if (!seen.isEmpty()) {
            report.good(
                    TLS, "TLS is " + (seen.contains(1) ? "on" : "off") + " on all " + each.size() + " devices seen");
        }
    }
}
