// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.sdma;

import io.weft.api.BufferView;
import io.weft.api.CopyMethod;
import io.weft.api.ElementType;
import io.weft.api.Priority;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.sim.machine.CopyEngineModel;
import io.weft.sim.machine.CopyRules;
import io.weft.sim.machine.DeviceModel;
import io.weft.sim.machine.Machine;
import io.weft.sim.machine.Route;
import io.weft.sim.model.GraphEstimator;
import io.weft.spi.ChoiceTables.Table;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Who carries which copy on a modelled node, as tables for people: the transfer modes of its first device, and its engine map. */
public final class TransferModes {
    /** Bytes of the copies whose speed is shown: large enough that fixed costs vanish. */
    private static final long LARGE = 256L << 20;

    private static final String KERNEL = "kernel";

    private TransferModes() {}

    /** All tables. */
    public static List<Table> tables(Machine machine, int devices) {
        List<Table> tables = new ArrayList<>();
        tables.add(modes(machine, devices));
        boolean engines = machine.device(0).copyEngines().count() > 0;
        if (engines && devices > 1 && machine.copyRules() instanceof SdmaRules rules) {
            tables.add(map(rules.map(), devices));
        }
        return tables;
    }

    private static Table modes(Machine machine, int devices) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(host(machine, CopyRules.HOST, 0, "host > device"));
        rows.add(host(machine, 0, CopyRules.HOST, "device > host"));
        rows.add(device(machine, 0, LARGE, "inside a device", "any", devices));
        long limit = machine.copyRules() instanceof SdmaRules rules
                ? rules.peerKernelBytes()
                : machine.device(0).copyEngines().autoFromBytes() - 1;
        boolean always = limit >= LARGE || machine.device(0).copyEngines().count() == 0;
        Set<String> seen = new LinkedHashSet<>();
        for (int peer = 1; peer < devices; peer++) {
            Route route = machine.route(0, peer);
            String path = "0 > " + peer + ", " + route.name() + " x" + route.width()
                    + (route.hops() > 1 ? ", " + route.hops() + " hops" : "");
            if (!seen.add(route.name() + route.width() + "/" + route.hops())) {
                continue;
            }
            if (!always) {
                rows.add(device(machine, peer, limit, path, "up to " + limit + " B", devices));
            }
            rows.add(device(machine, peer, LARGE, path, always ? "any" : "above", devices));
        }
        List<String> notes = new ArrayList<>();
        CopyEngineModel engines = machine.device(0).copyEngines();
        notes.add(
                engines.count() == 0
                        ? "No engine copies: every copy takes compute units, and may use parallel links."
                        : engines.count() + " engines, " + Math.min(engines.count(), engines.hostEngines())
                                + " of them for the host; an engine moves "
                                + figure(engines.bandwidth() / 1e9)
                                + " GB/s and drives one link, two copies to one peer share it.");
        if (engines.count() > 0) {
            int in = machine.copyRules().engine(machine, 0, CopyRules.HOST, 0);
            int out = machine.copyRules().engine(machine, 0, 0, CopyRules.HOST);
            notes.add(
                    in == out
                            ? "Both directions of the host share an engine, so a double-buffered pipeline takes turns."
                            : "Each direction of the host has an engine of its own, so a double-buffered pipeline runs both at once.");
        }
        return new Table(
                "copies of device 0, figures: model, GB/s of a copy alone",
                List.of("path", "bytes", "carried by", ">compute units", ">GB/s"),
                rows,
                notes);
    }

    private static List<String> host(Machine machine, int from, int to, String path) {
        DeviceModel device = machine.device(0);
        CopyEngineModel engines = device.copyEngines();
        double link = from == CopyRules.HOST
                ? device.hostLink().toDevice()
                : device.hostLink().fromDevice();
        boolean engine =
                engines.count() > 0 && machine.copyRules().byEngine(machine, 0, from, to, LARGE, CopyMethod.AUTO);
        double rate = engine
                ? Math.min(link, machine.copyRules().bandwidth(machine, 0, from, to))
                : Math.min(
                        link,
                        device.kernels().peerCopyUnits() * device.kernels().bandwidthPerUnit());
        return List.of(
                path,
                "any",
                engine ? "engine " + machine.copyRules().engine(machine, 0, from, to) : KERNEL,
                engine ? "0" : Integer.toString(device.kernels().peerCopyUnits()),
                figure(rate / 1e9));
    }

    private static List<String> device(Machine machine, int peer, long bytes, String path, String range, int devices) {
        boolean engine = machine.device(0).copyEngines().count() > 0
                && machine.copyRules().byEngine(machine, 0, 0, peer, bytes, CopyMethod.AUTO);
        int gang = engine && machine.copyRules() instanceof SdmaRules rules ? rules.gang(machine, 0, 0, peer) : 1;
        CommandGraph.Builder graph = CommandGraph.builder(devices);
        BufferView from = view(graph, 0, LARGE);
        BufferView to = view(graph, peer, LARGE);
        graph.add(
                0,
                0,
                Priority.NORMAL,
                new Command.Copy(to, from, engine ? CopyMethod.ENGINE : CopyMethod.KERNEL),
                "copy");
        double nanos = new GraphEstimator(machine).aloneNanos(graph.build(), 0);
        String units = engine
                ? "0"
                : peer == 0
                        ? "all"
                        : Integer.toString(machine.device(0).kernels().peerCopyUnits());
        String by = engine
                ? "engine " + machine.copyRules().engine(machine, 0, 0, peer)
                        + (gang > 1 ? " and " + (gang - 1) + " more" : "")
                : KERNEL;
        return List.of(path, range, by, units, figure(LARGE / nanos));
    }

    private static BufferView view(CommandGraph.Builder graph, int device, long bytes) {
        Slot slot = graph.slot(device, "buffer", bytes, Slot.Role.COMMUNICATION);
        return BufferView.vector(slot, 0, bytes, ElementType.INT8);
    }

    private static Table map(EngineMap map, int devices) {
        List<String> header = new ArrayList<>(List.of("engine, by row for column"));
        List<List<String>> rows = new ArrayList<>();
        for (int from = 0; from < devices; from++) {
            header.add(">" + from);
            List<String> row = new ArrayList<>(List.of(Integer.toString(from)));
            for (int to = 0; to < devices; to++) {
                row.add(from == to ? "-" : Integer.toString(map.engine(from, to)));
            }
            rows.add(row);
        }
        return new Table(
                map.isRecommended() ? "SDMA engines, as the driver recommends" : "SDMA engines, in order of the peers",
                header,
                rows,
                List.of());
    }

    private static String figure(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }
}
