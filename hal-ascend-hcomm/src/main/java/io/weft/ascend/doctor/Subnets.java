// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.doctor;

import io.weft.ascend.topology.AscendGraph;
import io.weft.ascend.topology.HccnReport;
import io.weft.ascend.topology.HccnReport.Port;
import io.weft.spi.input.FindingReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;

/** Whether devices of equal number on different servers can reach each other by their addresses: on one subnet, or with a gateway. Rings between servers join exactly these. */
final class Subnets {
    private static final String CHECK = "reachability";

    private Subnets() {}

    static void look(Node node, FindingReport report) {
        if (node.graph().isEmpty() || node.graph().get().servers() < 2) {
            return;
        }
        OptionalInt mask = OptionalInt.empty();
        boolean gateway = false;
        for (HccnReport read : node.ports().values()) {
            for (Port port : read.ports().values()) {
                OptionalInt stated = address(port.netmask());
                mask = mask.isPresent() ? mask : stated;
                gateway |= !port.gateway().isEmpty();
            }
        }
        if (mask.isEmpty()) {
            return;
        }
        Map<Integer, Map<Integer, List<String>>> subnets = new TreeMap<>();
        for (AscendGraph.Npu npu : node.graph().get().npus()) {
            OptionalInt address = address(npu.ip());
            if (address.isPresent()) {
                subnets.computeIfAbsent(npu.device(), device -> new TreeMap<>())
                        .computeIfAbsent(address.getAsInt() & mask.getAsInt(), subnet -> new ArrayList<>())
                        .add(npu.serverName());
            }
        }
        boolean good = !subnets.isEmpty();
        for (Map.Entry<Integer, Map<Integer, List<String>>> device : subnets.entrySet()) {
            if (device.getValue().size() < 2 || gateway) {
                continue;
            }
            good = false;
            List<String> texts = new ArrayList<>();
            device.getValue()
                    .forEach((subnet, servers) -> texts.add(text(subnet) + " (" + servers.getFirst()
                            + (servers.size() > 1 ? " and " + (servers.size() - 1) + " more" : "") + ")"));
            report.warning(
                    CHECK,
                    "device " + device.getKey() + " is on " + device.getValue().size() + " subnets: "
                            + String.join(", ", texts) + ", and no gateway is set",
                    "Ranks on it cannot reach each other over the network, and the job waits 120 s for a connection"
                            + " (EI0006).",
                    "vllm-project/vllm-ascend#9447",
                    "Put devices of equal number on one subnet, or set a gateway (hccn_tool -gateway -s).");
        }
        if (good) {
            report.good(
                    CHECK,
                    "devices of equal number are on one subnet on all "
                            + node.graph().get().servers() + " servers" + (gateway ? ", or have a gateway" : ""));
        }
    }

    /** An IPv4 address as a number; empty when it is none. */
    private static OptionalInt address(String text) {
        String[] parts = text.split("\\.", -1);
        if (parts.length != 4) {
            return OptionalInt.empty();
        }
        int address = 0;
        for (String part : parts) {
            if (!part.matches("\\d{1,3}") || Integer.parseInt(part) > 255) {
                return OptionalInt.empty();
            }
            address = address << 8 | Integer.parseInt(part);
        }
        return OptionalInt.of(address);
    }

    private static String text(int address) {
        return (address >>> 24) + "." + (address >>> 16 & 0xff) + "." + (address >>> 8 & 0xff) + "." + (address & 0xff);
    }
}
