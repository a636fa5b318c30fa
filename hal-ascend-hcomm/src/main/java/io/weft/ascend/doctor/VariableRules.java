// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.doctor;

import io.weft.spi.HostFiles;
import io.weft.spi.input.FindingReport;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/** HCCL's environment variables: whether values are accepted, what a surprising one really does, and which are in force. */
final class VariableRules {
    private static final String CHECK = "variables";
    private static final String SOURCE = "HCCL documentation, environment variables";

    /**
     * A rule.
     *
     * @param name the variable
     * @param otherwise what holds when it is not set
     * @param accepted in words
     * @param good whether a value is accepted
     */
    private record Rule(String name, String otherwise, String accepted, Predicate<String> good) {}

    private static final List<Rule> RULES = List.of(
            number("HCCL_BUFFSIZE", "200", 1, 1 << 20, "MB of each of the two buffers of a communicator"),
            number("HCCL_CONNECT_TIMEOUT", "120", 120, 7200, "s"),
            number("HCCL_EXEC_TIMEOUT", "1836", 0, 2_147_483_647, "s, 0 for never"),
            number("HCCL_IF_BASE_PORT", "60000", 1024, 65_520, "first of 32 ports"),
            new Rule(
                    "HCCL_RDMA_TC",
                    "132",
                    "0 to 255, a multiple of 4",
                    text -> isNumber(text, 0, 255) && Integer.parseInt(text) % 4 == 0),
            number("HCCL_RDMA_SL", "4", 0, 7, "service level"),
            number("HCCL_RDMA_TIMEOUT", "20", 5, 24, "t of 4.096 us x 2^t"),
            number("HCCL_RDMA_RETRY_CNT", "7", 1, 7, "retries"),
            number("HCCL_RDMA_QPS_PER_CONNECTION", "1", 1, 32, "queue pairs"),
            number("HCCL_MULTI_QP_THRESHOLD", "512", 1, 8192, "KB"),
            choice("HCCL_DETERMINISTIC", "false", "false", "true", "strict"),
            choice(
                    "HCCL_OP_EXPANSION_MODE",
                    "HOST on A2, AI_CPU on A3",
                    "HOST",
                    "HOST_TS",
                    "AI_CPU",
                    "AIV",
                    "CCU_MS",
                    "CCU_SCHED",
                    "AICPU_CacheDisable"),
            choice("HCCL_INTRA_PCIE_ENABLE", "1", "0", "1"),
            choice("HCCL_INTRA_ROCE_ENABLE", "0", "0", "1"),
            choice("HCCL_WHITELIST_DISABLE", "1", "0", "1"),
            choice("HCCL_SOCKET_FAMILY", "AF_INET", "AF_INET", "AF_INET6"),
            choice("HCCL_DIAGNOSE_ENABLE", "0", "0", "1"),
            choice("HCCL_ENTRY_LOG_ENABLE", "0", "0", "1"));

    private VariableRules() {}

    private static Rule number(String name, String otherwise, long least, long most, String unit) {
        return new Rule(
                name,
                otherwise,
                "a whole number from " + least + (most == 2_147_483_647L ? "" : " to " + most) + " (" + unit + ")",
                text -> isNumber(text, least, most));
    }

    private static Rule choice(String name, String otherwise, String... values) {
        List<String> all = List.of(values);
        return new Rule(name, otherwise, String.join(", ", all), all::contains);
    }

    private static boolean isNumber(String text, long least, long most) {
        return text.matches("\\d{1,12}") && Long.parseLong(text) >= least && Long.parseLong(text) <= most;
    }

    static void look(Node node, FindingReport report) {
        Map<String, List<String>> inForce = new LinkedHashMap<>();
        for (HostFiles.Environment environment : node.environments()) {
            for (Rule rule : RULES) {
                environment.value(rule.name()).ifPresent(text -> {
                    inForce.computeIfAbsent(rule.name() + "=" + text, key -> new ArrayList<>())
                            .add(environment.owner());
                    if (!rule.good().test(text.strip())) {
                        report.problem(
                                CHECK,
                                rule.name() + "=" + text + " (" + environment.owner() + "); accepted is "
                                        + rule.accepted(),
                                "HCCL refuses it (EI0001), or takes " + rule.otherwise() + " in its place.",
                                SOURCE,
                                "Correct it, or unset it.");
                    }
                });
            }
            surprises(node, environment, report);
        }
        if (!inForce.isEmpty()) {
            List<String> texts = new ArrayList<>();
            inForce.forEach((text, owners) ->
                    texts.add(text + (owners.size() == 1 ? "" : " in " + owners.size() + " processes")));
            report.good("settings", "in force: " + String.join(", ", texts) + "; all others as by default");
        } else if (!node.environments().isEmpty()) {
            report.good(
                    "settings",
                    "all as by default: connect 120 s, execute 1836 s, buffer 200 MB twice, ports 16666 and 60000-60031");
        }
        ranksAgree(inForce, report);
    }

    private static void surprises(Node node, HostFiles.Environment environment, FindingReport report) {
        String owner = " (" + environment.owner() + ")";
        environment.value("HCCL_EXEC_TIMEOUT").ifPresent(text -> {
            if (text.strip().equals("0")) {
                report.note(
                        CHECK,
                        "HCCL_EXEC_TIMEOUT=0" + owner + ": a collective waits for ever on A2 and A3",
                        "A rank that never comes then looks like a hang. torch_npu's own watchdog has a limit of its own.",
                        SOURCE + "; Ascend/pytorch#54",
                        "Set a limit above the longest step, and read what is in force from this report.");
            }
        });
        environment.value("HCCL_CONNECT_TIMEOUT").ifPresent(text -> {
            if (isNumber(text.strip(), 1, 119)) {
                report.note(
                        CHECK,
                        "HCCL_CONNECT_TIMEOUT=" + text + owner + " is below the least of 120 s",
                        "The real wait is about 20 s longer than set.",
                        SOURCE,
                        "");
            }
        });
        Optional<String> pcie = environment.value("HCCL_INTRA_PCIE_ENABLE").map(String::strip);
        Optional<String> roce = environment.value("HCCL_INTRA_ROCE_ENABLE").map(String::strip);
        boolean both =
                pcie.filter("1"::equals).isPresent() && roce.filter("1"::equals).isPresent();
        boolean alone = (pcie.filter("0"::equals).isPresent() && roce.isEmpty())
                || (roce.filter("0"::equals).isPresent() && pcie.isEmpty());
        if (both || alone) {
            report.problem(
                    CHECK,
                    "HCCL_INTRA_PCIE_ENABLE " + pcie.orElse("unset") + " and HCCL_INTRA_ROCE_ENABLE "
                            + roce.orElse("unset") + owner + " are no legal pair",
                    "Legal are 1/unset, 1/0, 0/0 and both unset for PCIe, 0/1 and unset/1 for RoCE.",
                    SOURCE,
                    "Use one of these.");
        }
        environment.value("HCCL_WHITELIST_DISABLE").filter("0"::equals).ifPresent(text -> {
            if (environment
                    .value("HCCL_WHITELIST_FILE")
                    .filter(file -> !file.isBlank())
                    .isEmpty()) {
                report.problem(
                        CHECK,
                        "HCCL_WHITELIST_DISABLE=0 without HCCL_WHITELIST_FILE" + owner,
                        "Nobody is allowed to connect.",
                        SOURCE,
                        "Name the file, or leave the list off.");
            }
        });
        environment
                .value("HCCL_SOCKET_IFNAME")
                .filter(text -> !text.isBlank())
                .ifPresent(text -> interfaces(node, text.strip(), owner, report));
        if (environment.value("HCCL_IF_IP").isPresent()
                && environment.value("HCCL_SOCKET_IFNAME").isPresent()) {
            report.note(
                    CHECK,
                    "HCCL_IF_IP and HCCL_SOCKET_IFNAME are both set" + owner + ": the address wins",
                    "",
                    SOURCE,
                    "Keep one of them.");
        }
    }

    /** {@code eth} is a prefix, {@code =eth0} a name, a caret excludes. */
    private static void interfaces(Node node, String text, String owner, FindingReport report) {
        List<String> there = node.host().list("sys/class/net");
        if (there.isEmpty()) {
            return;
        }
        boolean exclude = text.startsWith("^");
        String rest = exclude ? text.substring(1) : text;
        boolean exact = rest.startsWith("=");
        List<String> names = List.of((exact ? rest.substring(1) : rest).split(",", -1));
        List<String> used = there.stream()
                .filter(name -> !name.equals("lo"))
                .filter(name ->
                        names.stream().anyMatch(want -> exact ? name.equals(want) : name.startsWith(want)) != exclude)
                .toList();
        if (used.isEmpty()) {
            report.problem(
                    CHECK,
                    "HCCL_SOCKET_IFNAME=" + text + owner + " matches none of " + String.join(", ", there),
                    "Ranks cannot find each other (EI0006, EJ0003).",
                    SOURCE + "; vllm-project/vllm-ascend#9447",
                    "Name an interface of this host that all servers can reach.");
        }
    }

    private static void ranksAgree(Map<String, List<String>> inForce, FindingReport report) {
        Map<String, List<String>> values = new LinkedHashMap<>();
        inForce.keySet().forEach(text -> {
            int equals = text.indexOf('=');
            values.computeIfAbsent(text.substring(0, equals), key -> new ArrayList<>())
                    .add(text.substring(equals + 1));
        });
        values.forEach((name, all) -> {
            if (all.size() > 1) {
                report.warning(
                        CHECK,
                        name + " differs between processes: " + String.join(", ", all),
                        "Ranks of one job must agree; a smaller buffer or limit at one of them fails all.",
                        SOURCE,
                        "Export it in the launcher, not in a shell of one host.");
            }
        });
    }
}
