// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.doctor;

import io.weft.api.Finding;
import io.weft.spi.HostFiles;
import io.weft.spi.input.FindingReport;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;

/** Environment variables that ROCr, HIP and RCCL read, judged by a table: what a value does, and what is only said of it. */
final class VariableRules {
    private static final String ROCR = "ROCr runtime flags (core/util/flag.h)";
    private static final String HIP = "HIP runtime flags (clr: rocclr/utils/flags.hpp)";
    private static final String RCCL = "RCCL 2.21.5 parameters and NCCL's documentation of environment variables";

    private VariableRules() {}

    /**
     * One variable's judgement.
     *
     * @param name the variable
     * @param verdict of a node and the value; null when there is nothing to say
     */
    private record Rule(String name, BiFunction<Node, String, Verdict> verdict) {}

    private record Verdict(Finding.Severity severity, String why, String source, String fix) {
        static Verdict note(String why, String source) {
            return new Verdict(Finding.Severity.NOTE, why, source, "");
        }

        static Verdict warning(String why, String source, String fix) {
            return new Verdict(Finding.Severity.WARNING, why, source, fix);
        }

        static Verdict problem(String why, String source, String fix) {
            return new Verdict(Finding.Severity.PROBLEM, why, source, fix);
        }
    }

    private static Rule always(String name, Verdict verdict) {
        return new Rule(name, (node, value) -> verdict);
    }

    /** Applies to every value but 0 and nothing. */
    private static Rule whenOn(String name, Verdict verdict) {
        return new Rule(name, (node, value) -> value.isBlank() || value.equals("0") ? null : verdict);
    }

    private static final List<Rule> RULES = List.of(
            new Rule("HSA_ENABLE_SDMA", (node, value) -> switch (value) {
                case "0" ->
                    Verdict.warning(
                            "Copies then run as kernels on compute units and slow down what computes beside them; on the "
                                    + "other hand one copy may use several links. Folklore: it neither enables RDMA nor "
                                    + "turns non-coherent access off.",
                            ROCR,
                            "Unset it, unless a copy engine is known to be broken on this node.");
                case "1" -> Verdict.note("Copy engines are on, which is the default of every Instinct GPU.", ROCR);
                default -> Verdict.warning("Only 0 and 1 mean something.", ROCR, "Unset it.");
            }),
            new Rule(
                    "HSA_ENABLE_PEER_SDMA",
                    (node, value) -> value.equals("0")
                            ? Verdict.warning(
                                    "Copies between GPUs then take compute units.",
                                    ROCR,
                                    "Unset it, unless it was measured.")
                            : null),
            new Rule(
                    "HSA_ENABLE_SDMA_GANG",
                    (node, value) -> value.equals("1")
                            ? Verdict.note(
                                    "One copy over parallel links then takes several engines, which another copy misses.",
                                    ROCR)
                            : null),
            new Rule(
                    "HSA_ENABLE_SDMA_RECOMMENDED_ENG",
                    (node, value) -> value.equals("0")
                            ? Verdict.warning(
                                    "The driver's map gives each peer an engine of its own; without it two copies may share one "
                                            + "and halve.",
                                    ROCR,
                                    "Unset it.")
                            : null),
            new Rule(
                    "ROC_P2P_SDMA_SIZE",
                    (node, value) -> value.matches("\\d{1,9}")
                            ? Verdict.note(
                                    "Copies between GPUs up to so many KiB go by kernel, larger ones by engine; the default is "
                                            + "1024. It is about these copies only.",
                                    HIP)
                            : Verdict.warning("It is no number of KiB.", HIP, "Unset it; the default is 1024.")),
            new Rule(
                    "GPU_FORCE_BLIT_COPY_SIZE",
                    (node, value) -> value.matches("\\d{1,9}")
                            ? Verdict.note(
                                    "Copies up to so many KiB go by kernel, which starts sooner and takes compute units.",
                                    HIP)
                            : Verdict.warning("It is no number of KiB.", HIP, "Unset it.")),
            new Rule(
                    "RCCL_LL128_FORCE_ENABLE",
                    (node, value) -> value.equals("0")
                            ? null
                            : Verdict.warning(
                                    "LL128 relies on stores of 128 bytes that arrive whole. RCCL takes it by itself where that is "
                                            + "known, on gfx90a.",
                                    RCCL,
                                    "Unset it.")),
            new Rule(
                    "HSA_FORCE_FINE_GRAIN_PCIE",
                    (node, value) -> value.equals("1")
                            ? Verdict.note(
                                    "It makes memory fine-grained over PCIe, which RCCL needed before ROCm 5.7 and does not need "
                                            + "since. Over xGMI it does nothing. Folklore: it shares no lanes.",
                                    "ROCm/rccl#1185")
                            : Verdict.warning(
                                    "Only the value 1 counts; this one is ignored.",
                                    ROCR,
                                    "Unset it: it is not needed since 5.7.")),
            always(
                    "HCC_AMDGPU_TARGET",
                    Verdict.note(
                            "Folklore: nothing reads it since the HCC compiler is gone.", "ROCm release notes, HCC")),
            new Rule("HSA_OVERRIDE_GFX_VERSION", VariableRules::overrideVersion),
            new Rule("GPU_MAX_HW_QUEUES", (node, value) -> {
                if (!value.matches("\\d{1,3}") || value.equals("0")) {
                    return Verdict.warning("It is no number of queues.", HIP, "Unset it; the default is 4.");
                }
                return value.equals("1")
                        ? Verdict.warning(
                                "All streams of a device share one queue, so nothing overlaps.",
                                HIP,
                                "Unset it (4), or use 2, which AMD advises for FSDP with TORCH_NCCL_HIGH_PRIORITY=1.")
                        : Verdict.note(
                                "Streams beyond that many share queues and wait for one another; the default is 4, and AMD "
                                        + "advises 2 for FSDP with TORCH_NCCL_HIGH_PRIORITY=1.",
                                HIP + "; ROCm/hip#3769");
            }),
            whenOn(
                    "HIP_LAUNCH_BLOCKING",
                    Verdict.warning(
                            "Every launch waits for its end: nothing overlaps.",
                            HIP,
                            "Unset it; it is for debugging.")),
            whenOn(
                    "AMD_SERIALIZE_KERNEL",
                    Verdict.warning("Kernels wait for one another.", HIP, "Unset it; it is for debugging.")),
            whenOn(
                    "AMD_SERIALIZE_COPY",
                    Verdict.warning("Copies wait for one another.", HIP, "Unset it; it is for debugging.")),
            whenOn("AMD_LOG_LEVEL", Verdict.warning("Logging slows every call down.", HIP, "Unset it.")),
            new Rule(
                    "HSA_ENABLE_INTERRUPT",
                    (node, value) -> value.equals("0")
                            ? Verdict.note("Waiting polls and takes a processor core for each waiting thread.", ROCR)
                            : Verdict.note("Folklore: 1 changes nothing, it is the default.", ROCR)),
            new Rule(
                    "HSA_XNACK",
                    (node, value) -> value.equals("1")
                            ? Verdict.note(
                                    "Page faults on the GPU are retried. Only code compiled for xnack+ runs then, and it is slower.",
                                    "LLVM: User Guide for AMDGPU Backend, target features")
                            : null),
            new Rule(
                    "NCCL_PROTO",
                    (node, value) -> Verdict.warning(
                            "It forces one protocol for all sizes. Folklore: LL128 is not 'for large packets'; by default RCCL uses "
                                    + "it on gfx90a only, LL below it for small messages and Simple for large ones.",
                            RCCL,
                            "Unset it and let RCCL choose, unless each size was measured.")),
            new Rule(
                    "NCCL_ALGO",
                    (node, value) -> Verdict.warning(
                            "It forces one algorithm for all sizes. Folklore: Tree is neither faster nor 'more stable' in general; "
                                    + "within an MI300 node Tree with Simple is off.",
                            RCCL,
                            "Unset it and let RCCL choose, unless each size was measured.")),
            whenOn(
                    "NCCL_P2P_DISABLE",
                    Verdict.warning(
                            "GPUs of a node then talk through host memory, at PCIe's speed at best, although xGMI joins them.",
                            RCCL,
                            "Unset it. If peer access fails, look at iommu and ACS instead.")),
            always(
                    "NCCL_P2P_LEVEL",
                    Verdict.warning(
                            "It overrides what RCCL found out about paths, and broke jobs over several MI250X nodes.",
                            "ROCm/rccl#1026",
                            "Unset it.")),
            whenOn(
                    "NCCL_SHM_DISABLE",
                    Verdict.warning(
                            "Ranks without peer access then use the network inside a node.", RCCL, "Unset it.")),
            whenOn(
                    "NCCL_IB_DISABLE",
                    Verdict.warning("Between nodes RCCL then uses TCP.", RCCL, "Unset it on nodes with RDMA.")),
            always(
                    "NCCL_NSOCKS_PERTHREAD",
                    Verdict.note("Folklore: it is about TCP sockets and has no effect on xGMI or RDMA.", RCCL)),
            always(
                    "NCCL_SOCKET_NTHREADS",
                    Verdict.note("It is about TCP sockets and has no effect on xGMI or RDMA.", RCCL)),
            whenOn(
                    "RCCL_MODEL_MATCHING_DISABLE",
                    Verdict.warning(
                            "RCCL then does not recognise known nodes and forgoes their built-in rings.",
                            RCCL,
                            "Unset it.")),
            new Rule("NCCL_MIN_NCHANNELS", VariableRules::channels),
            new Rule(
                    "NCCL_MAX_NCHANNELS",
                    (node, value) -> value.matches("\\d{1,4}") && Integer.parseInt(value) < 16
                            ? Verdict.warning(
                                    "So few channels cannot use seven xGMI links at once.",
                                    RCCL,
                                    "Unset it, or raise it to 32 and more.")
                            : null),
            always(
                    "UCX_TLS",
                    Verdict.note(
                            "It is about MPI over UCX; RCCL does not use UCX for collectives.",
                            "UCX and RCCL documentation")),
            new Rule(
                    "NCCL_DEBUG",
                    (node, value) -> value.equalsIgnoreCase("TRACE")
                            ? Verdict.warning("Tracing slows every call down.", RCCL, "Use INFO or WARN.")
                            : null),
            always(
                    "RCCL_MSCCL_ENABLE",
                    Verdict.note("It has an effect up to ROCm 7 only; later versions have no MSCCL.", RCCL)));

    static void look(Node node, FindingReport report) {
        Map<String, List<String>> seen = new LinkedHashMap<>();
        for (HostFiles.Environment environment : node.environments()) {
            for (Rule rule : RULES) {
                environment
                        .value(rule.name())
                        .ifPresent(value -> seen.computeIfAbsent(rule.name() + "=" + value, key -> new ArrayList<>())
                                .add(environment.owner()));
            }
        }
        int judged = 0;
        for (Map.Entry<String, List<String>> setting : seen.entrySet()) {
            int equals = setting.getKey().indexOf('=');
            String name = setting.getKey().substring(0, equals);
            String value = setting.getKey().substring(equals + 1).strip();
            for (Rule rule : RULES) {
                Verdict verdict = rule.name().equals(name) ? rule.verdict().apply(node, value) : null;
                if (verdict != null) {
                    judged++;
                    report.add(new Finding(
                            verdict.severity(),
                            "variables",
                            setting.getKey() + " (" + VisibleDevices.owners(setting.getValue()) + ")",
                            verdict.why(),
                            verdict.source(),
                            verdict.fix()));
                }
            }
        }
        scratch(node, report);
        if (node.environments().isEmpty()) {
            report.note(
                    "variables",
                    "no environment is in the capture, so variables were not checked",
                    "Write environment.txt with: env",
                    "");
        } else if (judged == 0) {
            report.good("variables", "none is set that does harm or nothing");
        }
    }

    private static Verdict overrideVersion(Node node, String value) {
        if (node.graph() == null) {
            return Verdict.warning(
                    "It makes the runtime load code of another chip. It is for consumer GPUs that are not supported.",
                    "ROCm/ROCR-Runtime: HSA_OVERRIDE_GFX_VERSION",
                    "Unset it on Instinct GPUs.");
        }
        String wanted = gfx(value);
        boolean fits = node.graph().gpus().stream().allMatch(gpu -> gpu.gfx().equals(wanted));
        String chips = node.graph().gpus().getFirst().gfx();
        return fits
                ? Verdict.note("It names the chip that is there, so it does nothing.", ROCR)
                : Verdict.problem(
                        "The runtime then loads code for " + (wanted.isEmpty() ? "'" + value + "'" : wanted)
                                + " on " + chips + ", which fails or computes wrongly."
                                + (chips.equals("gfx90a") ? " An MI200 is 9.0.10; 9.0.0 for it is folklore." : ""),
                        "ROCm/ROCR-Runtime: HSA_OVERRIDE_GFX_VERSION",
                        "Unset it.");
    }

    /** The architecture of a version such as 9.0.10. */
    private static String gfx(String version) {
        String[] parts = version.split("\\.", -1);
        if (parts.length != 3 || !version.matches("\\d{1,3}\\.\\d{1,2}\\.\\d{1,2}")) {
            return "";
        }
        return "gfx" + parts[0] + parts[1] + Integer.toHexString(Integer.parseInt(parts[2]));
    }

    private static Verdict channels(Node node, String value) {
        if (!value.matches("\\d{1,4}")) {
            return Verdict.warning("It is no number.", RCCL, "Unset it.");
        }
        return Verdict.note(
                "Each channel takes a compute unit while a collective runs. For MI300X AMD advises 32 with fewer than 8 GPUs "
                        + "and 112 for end-to-end work on one node.",
                "AMD Instinct MI300X workload optimization, RCCL");
    }

    /** MI200 with a runtime that gives scratch memory back between kernels. */
    private static void scratch(Node node, FindingReport report) {
        if (!node.has("gfx90a") || node.environments().isEmpty() || node.isOlderThan(7, 13)) {
            return;
        }
        boolean everywhere = node.environments().stream()
                .filter(environment -> environment.owner().startsWith("this")
                        || VisibleDevices.localRank(environment).isPresent()
                        || environment.owner().startsWith("environment"))
                .allMatch(environment -> environment
                        .value("HSA_NO_SCRATCH_RECLAIM")
                        .filter("1"::equals)
                        .isPresent());
        if (everywhere) {
            report.good("variables", "HSA_NO_SCRATCH_RECLAIM=1, which an MI200 needs with ROCm 7.13 and later");
        } else if (node.isAtLeast(7, 13)) {
            report.warning(
                    "variables",
                    "HSA_NO_SCRATCH_RECLAIM is not 1 on an MI200 with ROCm " + node.rocmMajor() + "."
                            + node.rocmMinor(),
                    "Scratch memory is then given back and fetched again, which makes small messages 5 to 10 times slower.",
                    "RCCL documentation, known issues for MI200",
                    "export HSA_NO_SCRATCH_RECLAIM=1");
        } else {
            report.note(
                    "variables",
                    "HSA_NO_SCRATCH_RECLAIM is not 1 on an MI200, and ROCm's version cannot be read",
                    "From ROCm 7.13 on small messages are 5 to 10 times slower without it.",
                    "RCCL documentation, known issues for MI200");
        }
    }
}
