// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import io.weft.api.graph.CommandGraph;
import io.weft.api.topology.Link;
import io.weft.api.topology.LinkKind;
import io.weft.api.topology.Topology;
import io.weft.spi.DeviceDriver;
import io.weft.spi.PerformanceModel;
import io.weft.spi.PlatformDriver;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** Mutants that break a rule about the topology. */
final class TopologyMutants {
    static final List<Mutant> ALL = List.of(
            Mutant.of("TOP-001", "the topology lists a device that the platform does not show", () -> new Mutation() {
                @Override
                Topology topology(PlatformDriver platform) {
                    Topology whole = platform.topology();
                    int devices = whole.devices();
                    List<Link> links = links(whole, UnaryOperator.identity());
                    int[] numaNodes = new int[devices + 1];
                    for (int i = 0; i < devices; i++) {
                        links.add(new Link(i, devices, LinkKind.NONE, "", 0, 0, 0, 0, false, false));
                        links.add(new Link(devices, i, LinkKind.NONE, "", 0, 0, 0, 0, false, false));
                        numaNodes[i] = whole.numaNode(i);
                    }
                    links.add(new Link(devices, devices, LinkKind.SELF, "", 1, 0, 0, 1, true, false));
                    return new Topology(devices + 1, links, numaNodes);
                }
            }),
            changed(
                    "TOP-002",
                    "a device's path to itself is a fabric",
                    3,
                    3,
                    link -> new Link(
                            3,
                            3,
                            LinkKind.FABRIC,
                            link.name(),
                            link.bandwidth(),
                            link.latencyNanos(),
                            link.hops(),
                            link.width(),
                            link.copyable(),
                            link.addressable())),
            changed(
                    "TOP-003",
                    "a path has two hops in one direction only",
                    2,
                    5,
                    link -> of(link, link.kind(), link.bandwidth(), link.latencyNanos(), 2, link.width(), true, true)),
            changed(
                    "TOP-004",
                    "a path has no bandwidth",
                    1,
                    4,
                    link -> of(link, link.kind(), 0, link.latencyNanos(), link.hops(), link.width(), true, true)),
            changed(
                    "TOP-005",
                    "a latency is negative",
                    2,
                    3,
                    link -> of(link, link.kind(), link.bandwidth(), -1, link.hops(), link.width(), true, true)),
            both(
                    "TOP-006",
                    "devices without a path can copy",
                    link -> of(link, LinkKind.NONE, 0, link.latencyNanos(), 0, 0, true, true)),
            both(
                    "TOP-007",
                    "a detour has ten times the bandwidth",
                    link -> of(
                            link,
                            link.kind(),
                            10 * link.bandwidth(),
                            link.latencyNanos(),
                            2,
                            link.width(),
                            true,
                            true)),
            Mutant.of("TOP-008", "a device denies access that the topology shows", () -> new Mutation() {
                @Override
                boolean canAccess(DeviceDriver device, DeviceDriver peer) {
                    return super.canAccess(device, peer)
                            && !(device.properties().ordinal() == 6
                                    && peer.properties().ordinal() == 7);
                }
            }),
            Mutant.of("TOP-011", "the topology puts a device on another NUMA node", () -> new Mutation() {
                @Override
                Topology topology(PlatformDriver platform) {
                    Topology whole = platform.topology();
                    int[] numaNodes = new int[whole.devices()];
                    for (int i = 0; i < numaNodes.length; i++) {
                        numaNodes[i] = i == 2 ? 7 : whole.numaNode(i);
                    }
                    return new Topology(whole.devices(), links(whole, UnaryOperator.identity()), numaNodes);
                }
            }),
            Mutant.of("TOP-014", "the model predicts copies four times too fast", () -> new Mutation() {
                @Override
                double aloneNanos(PerformanceModel model, CommandGraph graph, int node) {
                    return super.aloneNanos(model, graph, node) / 4;
                }
            }),
            changed(
                    "TOP-015",
                    "an addressable path is not copyable",
                    3,
                    6,
                    link -> of(
                            link,
                            link.kind(),
                            link.bandwidth(),
                            link.latencyNanos(),
                            link.hops(),
                            link.width(),
                            false,
                            link.addressable())));

    private TopologyMutants() {}

    private static Link of(
            Link link,
            LinkKind kind,
            double bandwidth,
            double latencyNanos,
            int hops,
            int width,
            boolean copyable,
            boolean addressable) {
        return new Link(
                link.from(), link.to(), kind, link.name(), bandwidth, latencyNanos, hops, width, copyable, addressable);
    }

    private static List<Link> links(Topology topology, UnaryOperator<Link> change) {
        List<Link> links = new ArrayList<>();
        for (int from = 0; from < topology.devices(); from++) {
            for (int to = 0; to < topology.devices(); to++) {
                links.add(change.apply(topology.link(from, to)));
            }
        }
        return links;
    }

    private static Mutant changed(String rule, String what, int from, int to, UnaryOperator<Link> change) {
        return links(rule, what, link -> link.from() == from && link.to() == to ? change.apply(link) : link);
    }

    /** Changes both directions between devices 5 and 7. */
    private static Mutant both(String rule, String what, UnaryOperator<Link> change) {
        return links(
                rule,
                what,
                link -> link.from() != link.to()
                                && link.from() + link.to() == 12
                                && Math.abs(link.from() - link.to()) == 2
                        ? change.apply(link)
                        : link);
    }

    private static Mutant links(String rule, String what, UnaryOperator<Link> change) {
        return Mutant.of(rule, what, () -> new Mutation() {
            @Override
            Topology topology(PlatformDriver platform) {
                Topology whole = platform.topology();
                int[] numaNodes = new int[whole.devices()];
                for (int i = 0; i < numaNodes.length; i++) {
                    numaNodes[i] = whole.numaNode(i);
                }
                return new Topology(whole.devices(), links(whole, change), numaNodes);
            }
        });
    }
}
