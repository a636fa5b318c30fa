// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.rccl;

import io.weft.amd.setting.AmdSettings;
import io.weft.amd.setting.Setting;
import io.weft.api.AcceleratorException;
import io.weft.api.CollectiveKind;
import io.weft.api.topology.LinkKind;
import io.weft.sim.machine.CollectiveAlgorithm;
import io.weft.sim.machine.CollectiveModel;
import io.weft.sim.machine.CollectiveRange;
import io.weft.sim.machine.LinkModel;
import io.weft.sim.machine.Machine;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The ways in which RCCL can carry out a collective on a machine, under its settings. The machine's document lists them all with what they cost; RCCL takes the fastest of those
 * that are left.
 *
 * <p>A channel is a block, which takes a compute unit and moves about {@value #CHANNEL_GIGABYTES} GB/s (TransferBench: 8 units reach 45 to 47 GB/s). So fewer channels
 * than the links need slow a collective down, and more only take compute units from other kernels.
 */
public final class RcclWays {
    /** GB/s of one channel. */
    static final double CHANNEL_GIGABYTES = 6;

    private static final String LL128 = "ll128";

    /** LL128 carries 120 bytes of data in 128; the wait for its flags costs the rest. An estimate. */
    private static final double LL128_EFFICIENCY = 0.8;

    /** Between LL (0.8 to 1.5 us) and Simple (2.5 to 4.5 us), RCCL's hwLat. An estimate. */
    private static final double LL128_STEP_NANOS = 2000;

    private static final Set<String> ALGORITHMS = names("ring", "tree", "direct");
    private static final Set<String> PROTOCOLS = names("ll", LL128, "simple");

    private RcclWays() {}

    private static Set<String> names(String... names) {
        return new LinkedHashSet<>(Arrays.asList(names));
    }

    /**
     * The machine's ways under settings.
     *
     * @throws AcceleratorException INVALID_ARGUMENT for a name that RCCL does not know, or when no way is left
     */
    public static List<CollectiveModel> under(AmdSettings settings, Machine machine) {
        Set<String> algorithms = allowed(settings, Setting.NCCL_ALGO, ALGORITHMS);
        Set<String> protocols = allowed(settings, Setting.NCCL_PROTO, PROTOCOLS);
        int fewest = settings.number(Setting.NCCL_MIN_NCHANNELS, 0);
        int most = settings.number(Setting.NCCL_MAX_NCHANNELS, Integer.MAX_VALUE);
        if (fewest > most) {
            throw AcceleratorException.invalid(
                    "RCCL",
                    "NCCL_MIN_NCHANNELS is " + fewest + " and NCCL_MAX_NCHANNELS " + most
                            + "; give fewer as the least");
        }
        List<CollectiveModel> models = new ArrayList<>();
        for (CollectiveModel model : machine.collectiveModels()) {
            if (model.kinds().equals(Set.of(CollectiveKind.BARRIER))) {
                models.add(model);
                continue;
            }
            List<CollectiveRange> ways = new ArrayList<>(model.ranges());
            if (settings.isOn(Setting.RCCL_LL128_FORCE_ENABLE)
                    && ways.stream().noneMatch(way -> way.protocol().equals(LL128))) {
                ways.addAll(forced(ways));
            }
            List<CollectiveRange> left = new ArrayList<>();
            for (CollectiveRange way : ways) {
                String algorithm = way.algorithm().name().toLowerCase(Locale.ROOT);
                if (algorithms.contains(algorithm) && protocols.contains(way.protocol())) {
                    left.add(throughHost(settings, machine, channels(machine, way, fewest, most)));
                }
            }
            if (left.isEmpty()) {
                throw AcceleratorException.invalid(
                        "RCCL",
                        "NCCL_ALGO and NCCL_PROTO leave no way on " + machine.name() + "; it has "
                                + ways.stream().map(CollectiveRange::label).collect(Collectors.joining(", ")));
            }
            models.add(new CollectiveModel(model.kinds(), left, model.fastest()));
        }
        return models;
    }

    private static Set<String> allowed(AmdSettings settings, Setting setting, Set<String> known) {
        String value = settings.values().get(setting);
        if (value == null) {
            return known;
        }
        boolean without = value.startsWith("^");
        Set<String> named = new LinkedHashSet<>();
        for (String name :
                (without ? value.substring(1) : value).toLowerCase(Locale.ROOT).split(",", -1)) {
            if (!known.contains(name)) {
                throw AcceleratorException.invalid(
                        "RCCL", setting + " names '" + name + "'; it must name some of " + String.join(", ", known));
            }
            named.add(name);
        }
        if (!without) {
            return named;
        }
        Set<String> rest = new LinkedHashSet<>(known);
        rest.removeAll(named);
        return rest;
    }

    private static List<CollectiveRange> forced(List<CollectiveRange> ways) {
        List<CollectiveRange> forced = new ArrayList<>();
        for (CollectiveRange way : ways) {
            if (way.algorithm() == CollectiveAlgorithm.RING && way.protocol().equals("simple")) {
                forced.add(new CollectiveRange(
                        way.minBytes(),
                        way.maxBytes(),
                        way.algorithm(),
                        LL128,
                        way.channels(),
                        way.baseNanos(),
                        LL128_STEP_NANOS,
                        way.computeUnits(),
                        Math.min(way.efficiency(), LL128_EFFICIENCY)));
            }
        }
        return forced;
    }

    /** The way with no fewer and no more channels. */
    private static CollectiveRange channels(Machine machine, CollectiveRange way, int fewest, int most) {
        int channels = Math.clamp(way.computeUnits(), Math.min(fewest, most), most);
        if (channels == way.computeUnits()) {
            return way;
        }
        double reach = channels * CHANNEL_GIGABYTES * 1e9 / linkBandwidth(machine);
        return new CollectiveRange(
                way.minBytes(),
                way.maxBytes(),
                way.algorithm(),
                way.protocol(),
                way.channels(),
                way.baseNanos(),
                way.stepNanos(),
                channels,
                Math.min(way.efficiency(), reach));
    }

    /** NCCL_P2P_DISABLE: everything crosses the host's link instead of all links of a GPU. */
    private static CollectiveRange throughHost(AmdSettings settings, Machine machine, CollectiveRange way) {
        if (!settings.isOn(Setting.NCCL_P2P_DISABLE)) {
            return way;
        }
        double share = Math.min(
                        machine.device(0).hostLink().fromDevice(),
                        machine.device(0).hostLink().toDevice())
                / linkBandwidth(machine);
        return way.with(
                way.baseNanos() + 2 * machine.device(0).hostLink().latencyNanos(),
                way.efficiency() * Math.min(1, share));
    }

    /** Bytes/s of payload over all links of the first device together. */
    static double linkBandwidth(Machine machine) {
        double sum = 0;
        for (LinkModel link : machine.links()) {
            if (link.kind() != LinkKind.NETWORK && (link.from() == 0 || link.to() == 0)) {
                sum += link.capacity();
            }
        }
        return sum;
    }
}
