// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.BufferView;
import io.weft.api.CopyMethod;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.Priority;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.api.topology.Link;
import io.weft.api.topology.LinkKind;
import io.weft.api.topology.Topology;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;
import io.weft.conformance.bench.NotApplicable;
import io.weft.spi.PerformanceModel;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Topology: what the matrix says must agree with itself and with what devices can do. */
final class TopologyProofs {
    private static Topology topology(Bench bench) {
        return bench.platform().topology();
    }

    /** Every path between two different devices. */
    private static List<Link> paths(Bench bench) {
        Topology topology = topology(bench);
        List<Link> paths = new ArrayList<>();
        for (int from = 0; from < topology.devices(); from++) {
            for (int to = 0; to < topology.devices(); to++) {
                if (from != to) {
                    paths.add(topology.link(from, to));
                }
            }
        }
        return paths;
    }

    private static String name(Link link) {
        return "the path from device " + link.from() + " to device " + link.to();
    }

    private static void each(Bench bench, Consumer<Link> check) {
        paths(bench).forEach(check);
    }

    @Proves("TOP-001")
    void itSpeaksOfThePlatformsDevices(Bench bench) {
        bench.equal(
                "the number of devices of the topology",
                bench.platform().devices().size(),
                topology(bench).devices());
        Topology topology = topology(bench);
        for (int from = 0; from < topology.devices(); from++) {
            for (int to = 0; to < topology.devices(); to++) {
                Link link = topology.link(from, to);
                bench.that(
                        link.from() == from && link.to() == to,
                        "the path from " + from + " to " + to,
                        "it is called " + name(link));
            }
        }
    }

    @Proves("TOP-002")
    void theDiagonalIsSelf(Bench bench) {
        for (int device = 0; device < topology(bench).devices(); device++) {
            Link self = topology(bench).link(device, device);
            bench.equal("the kind of " + name(self), LinkKind.SELF, self.kind());
            bench.equal("the hops of " + name(self), 0, self.hops());
        }
        each(
                bench,
                link -> bench.that(
                        link.kind() != LinkKind.SELF, name(link) + " to be of another kind than SELF", "it is SELF"));
    }

    @Proves("TOP-003")
    void bothDirectionsAreOfAKind(Bench bench) {
        each(bench, link -> {
            Link back = topology(bench).link(link.to(), link.from());
            bench.equal("the kind of " + name(link) + ", by its way back", back.kind(), link.kind());
            bench.equal("the hops of " + name(link) + ", by its way back", back.hops(), link.hops());
            bench.equal("the width of " + name(link) + ", by its way back", back.width(), link.width());
        });
    }

    @Proves("TOP-004")
    void aPathHasBandwidthHopsAndWidth(Bench bench) {
        each(bench, link -> {
            if (link.kind() == LinkKind.NONE) {
                bench.that(
                        link.bandwidth() == 0 && link.width() == 0,
                        name(link) + ", which is NONE, to have no bandwidth and no width",
                        "it has " + link.bandwidth() + " GB/s and a width of " + link.width());
            } else {
                bench.that(
                        link.bandwidth() > 0
                                && Double.isFinite(link.bandwidth())
                                && link.hops() >= 1
                                && link.width() >= 1,
                        name(link) + " to have bandwidth, a hop and a width",
                        "it has " + link.bandwidth() + " GB/s, " + link.hops() + " hops and a width of "
                                + link.width());
            }
        });
    }

    @Proves("TOP-005")
    void latenciesAreFinite(Bench bench) {
        each(
                bench,
                link -> bench.that(
                        Double.isFinite(link.latencyNanos()) && link.latencyNanos() >= 0,
                        name(link) + " to have a finite latency",
                        "it is " + link.latencyNanos() + " ns"));
    }

    @Proves("TOP-006")
    void nothingGoesWhereNoPathIs(Bench bench) {
        each(
                bench,
                link -> bench.that(
                        link.kind() != LinkKind.NONE || (!link.copyable() && !link.addressable()),
                        name(link) + ", which is NONE, to be neither copyable nor addressable",
                        "it is " + (link.copyable() ? "copyable" : "addressable")));
    }

    @Proves("TOP-007")
    void detoursAreNotFaster(Bench bench) {
        Topology topology = topology(bench);
        each(bench, link -> {
            if (link.hops() <= 1 || link.kind() == LinkKind.NONE) {
                return;
            }
            double leaving = 0;
            double coming = 0;
            for (int other = 0; other < topology.devices(); other++) {
                Link out = topology.link(link.from(), other);
                Link in = topology.link(other, link.to());
                leaving = out.hops() == 1 ? Math.max(leaving, out.bandwidth()) : leaving;
                coming = in.hops() == 1 ? Math.max(coming, in.bandwidth()) : coming;
            }
            double most = Math.min(leaving, coming);
            bench.that(
                    most == 0 || link.bandwidth() <= most * 1.001,
                    name(link) + " of " + link.hops() + " hops to have at most " + most
                            + " GB/s, as the direct paths at its ends",
                    "it has " + link.bandwidth());
        });
    }

    @Proves("TOP-008")
    void canAccessIsAddressable(Bench bench) {
        each(
                bench,
                link -> bench.equal(
                        "canAccess of device " + link.from() + " for device " + link.to(),
                        link.addressable(),
                        bench.platform()
                                .device(link.from())
                                .canAccess(bench.platform().device(link.to()))));
    }

    @Proves("TOP-011")
    void numaNodesAgree(Bench bench) {
        for (Device device : bench.platform().devices()) {
            bench.equal(
                    "the NUMA node of device " + device.ordinal() + " in the topology",
                    device.properties().numaNode(),
                    topology(bench).numaNode(device.ordinal()));
        }
    }

    @Proves("TOP-014")
    void copiesAreNotPredictedFasterThanTheirPath(Bench bench) {
        PerformanceModel model = bench.extension(PerformanceModel.class);
        int bytes = 1 << 26;
        int checked = 0;
        for (Link link : paths(bench)) {
            if (!link.copyable()) {
                continue;
            }
            int devices = topology(bench).devices();
            CommandGraph.Builder graph = CommandGraph.builder(devices);
            Slot from = graph.slot(link.from(), "from", bytes, Slot.Role.INPUT);
            Slot to = graph.slot(link.to(), "to", bytes, Slot.Role.OUTPUT);
            graph.add(
                    link.to(),
                    0,
                    Priority.NORMAL,
                    new Command.Copy(
                            BufferView.vector(to, 0, bytes, ElementType.INT8),
                            BufferView.vector(from, 0, bytes, ElementType.INT8),
                            CopyMethod.AUTO),
                    "copy");
            double nanos = model.aloneNanos(graph.build(), 0);
            double rate = bytes / nanos;
            bench.that(
                    rate <= link.bandwidth() * 1.01,
                    "a copy over " + name(link) + " at no more than " + link.bandwidth() + " GB/s",
                    "the model predicts " + rate + " GB/s");
            checked++;
        }
        if (checked == 0) {
            throw new NotApplicable("no path is copyable");
        }
    }

    @Proves("TOP-015")
    void addressableIsCopyable(Bench bench) {
        each(
                bench,
                link -> bench.that(
                        !link.addressable() || link.copyable(),
                        name(link) + ", which is addressable, to be copyable",
                        "it is not"));
    }
}
