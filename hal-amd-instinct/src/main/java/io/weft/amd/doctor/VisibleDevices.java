// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.doctor;

import io.weft.spi.HostFiles;
import io.weft.spi.input.FindingReport;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The masks of devices. {@code ROCR_VISIBLE_DEVICES} takes numbers or UUIDs of the driver's GPUs; {@code HIP_VISIBLE_DEVICES}, or {@code CUDA_VISIBLE_DEVICES} in its place, takes
 * numbers among those that are left. So two masks that look alike hide everything.
 */
final class VisibleDevices {
    private static final String CHECK = "visible-devices";
    private static final String SOURCE =
            "ROCm documentation, 'GPU isolation techniques'; ROCm/rocm-systems PR 8136; SwarmUI#565";
    /** What launchers tell a process of its place on the node. */
    static final List<String> LOCAL_RANKS = List.of(
            "LOCAL_RANK",
            "OMPI_COMM_WORLD_LOCAL_RANK",
            "SLURM_LOCALID",
            "MPI_LOCALRANKID",
            "MV2_COMM_WORLD_LOCAL_RANK",
            "PALS_LOCAL_RANKID",
            "FLUX_TASK_LOCAL_ID");

    private VisibleDevices() {}

    /** A process's rank on its node, when a launcher told it. */
    static Optional<String> localRank(HostFiles.Environment environment) {
        return LOCAL_RANKS.stream()
                .map(environment::value)
                .flatMap(Optional::stream)
                .filter(text -> text.matches("\\d{1,5}"))
                .findFirst();
    }

    static void look(Node node, FindingReport report) {
        Map<String, List<String>> masks = new LinkedHashMap<>();
        Map<String, String> byRank = new LinkedHashMap<>();
        Map<String, Integer> visibleByMask = new LinkedHashMap<>();
        for (HostFiles.Environment environment : node.environments()) {
            String mask = mask(environment);
            if (!mask.isEmpty()) {
                masks.computeIfAbsent(mask, key -> new ArrayList<>()).add(environment.owner());
                visibleByMask.putIfAbsent(mask, judge(node, environment, report));
            }
            localRank(environment).ifPresent(rank -> byRank.putIfAbsent(rank, mask));
        }
        if (masks.isEmpty()) {
            if (!node.environments().isEmpty()) {
                report.good(CHECK, "no mask is set");
            }
            return;
        }
        ranks(byRank, visibleByMask, report);
        masks.forEach((mask, owners) -> {
            if (visibleByMask.getOrDefault(mask, 1) != 0) {
                report.good(CHECK, mask + " (" + owners(owners) + ")");
            }
        });
    }

    static String owners(List<String> owners) {
        return owners.size() <= 3
                ? String.join(", ", owners)
                : owners.getFirst() + " and " + (owners.size() - 1) + " others";
    }

    private static String mask(HostFiles.Environment environment) {
        return List.of("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")
                .stream()
                .filter(name -> environment.value(name).isPresent())
                .map(name -> name + "=" + environment.value(name).orElse(""))
                .collect(Collectors.joining(" "));
    }

    /** Reports what is wrong with one environment's masks; gives the number of devices that are left, -1 when it cannot be told. */
    private static int judge(Node node, HostFiles.Environment environment, FindingReport report) {
        int left = node.gpus();
        Optional<String> rocr = environment.value("ROCR_VISIBLE_DEVICES");
        if (rocr.isPresent()) {
            left = rocr.get().isBlank() ? 0 : count(rocr.get(), left, true);
            if (left == 0) {
                hidesAll(environment, "ROCR_VISIBLE_DEVICES=" + rocr.get(), report);
                return 0;
            }
        }
        Optional<String> hip = environment.value("HIP_VISIBLE_DEVICES").filter(text -> !text.isBlank());
        Optional<String> cuda = environment.value("CUDA_VISIBLE_DEVICES").filter(text -> !text.isBlank());
        if (hip.isPresent()
                && cuda.isPresent()
                && !hip.get().strip().equals(cuda.get().strip())) {
            report.warning(
                    CHECK,
                    "HIP_VISIBLE_DEVICES=" + hip.get() + " and CUDA_VISIBLE_DEVICES=" + cuda.get() + " differ ("
                            + environment.owner() + ")",
                    "HIP reads the first and ignores the second, while frameworks may read the second.",
                    SOURCE,
                    "Set one of them.");
        }
        Optional<String> second = hip.isPresent() ? hip : cuda;
        if (second.isPresent()) {
            String name = hip.isPresent() ? "HIP_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES";
            int before = left;
            int after = count(second.get(), left, false);
            int listed = second.get().split(",", -1).length;
            if (after == 0) {
                hidesAll(
                        environment,
                        rocr.isPresent()
                                ? "ROCR_VISIBLE_DEVICES=" + rocr.get() + " leaves " + before
                                        + " devices, numbered from 0, and " + name + "=" + second.get()
                                        + " names none of them"
                                : name + "=" + second.get() + " names none of " + before + " devices",
                        report);
            } else if (before >= 0 && after < listed) {
                report.warning(
                        CHECK,
                        name + "=" + second.get() + " lists " + listed + " devices, and " + after + " are used ("
                                + environment.owner() + ")",
                        "Its numbers count what " + (rocr.isPresent() ? "ROCR_VISIBLE_DEVICES left" : "there is")
                                + "; the first that does not exist ends the list.",
                        SOURCE,
                        "Mask at one level only.");
            }
            return after;
        }
        return left;
    }

    private static void hidesAll(HostFiles.Environment environment, String what, FindingReport report) {
        report.problem(
                CHECK,
                what + " (" + environment.owner() + "): no device is visible",
                "HIP then says that there is no device, as if the driver were missing.",
                SOURCE,
                "Mask at one level only, with numbers from 0.");
    }

    /** Devices that a list leaves of so many; -1 when their number is not known and the list does not say. */
    private static int count(String list, int devices, boolean uuids) {
        Set<String> taken = new LinkedHashSet<>();
        for (String entry : list.split(",", -1)) {
            String text = entry.strip();
            boolean uuid = uuids && text.matches("(?i)GPU-[0-9a-f]{4,32}");
            boolean number = text.matches("\\d{1,6}") && (devices < 0 || Integer.parseInt(text) < devices);
            if (!uuid && !number) {
                break;
            }
            taken.add(text);
        }
        return taken.size();
    }

    private static void ranks(Map<String, String> byRank, Map<String, Integer> visibleByMask, FindingReport report) {
        if (byRank.size() < 2) {
            return;
        }
        Set<String> distinct = new LinkedHashSet<>(byRank.values());
        if (distinct.size() > 1) {
            report.warning(
                    CHECK,
                    byRank.size() + " local ranks have " + distinct.size() + " different masks, such as "
                            + byRank.entrySet().stream()
                                    .limit(2)
                                    .map(rank -> "rank " + rank.getKey() + ": "
                                            + (rank.getValue().isEmpty() ? "none" : rank.getValue()))
                                    .collect(Collectors.joining("; ")),
                    "The same number is another GPU in every rank, and a rank that cannot see a peer's GPU cannot map its "
                            + "memory: peer-to-peer breaks or falls back to host memory.",
                    SOURCE,
                    "Give all ranks one mask and let each choose its device by its local rank.");
        } else {
            String mask = distinct.iterator().next();
            int visible = visibleByMask.getOrDefault(mask, -1);
            if (!mask.isEmpty() && visible >= 0 && visible < byRank.size()) {
                report.problem(
                        CHECK,
                        byRank.size() + " local ranks share " + visible + " visible devices (" + mask + ")",
                        "RCCL refuses a communicator in which a GPU is twice ('Duplicate GPU').",
                        "RCCL init.cc: duplicate GPU check",
                        "Start as many ranks as there are devices, or widen the mask.");
            }
        }
    }
}
