// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.hccl;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.ascend.group.GroupStatistics;
import io.weft.ascend.group.GroupTable;
import io.weft.ascend.group.LaunchDescriptor;
import io.weft.sim.provider.VendorRules;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.WeakHashMap;

/**
 * HCCL's rules on a machine model: two buffers for each communicator, a group for each of its ranks, one stream order, time limits, and where the ranks of small groups may be. The group tables may be read from any
 * thread; everything else is under the platform's lock.
 */
final class HcclRules implements VendorRules {
    /** Pages of the devices' virtual memory, bytes: what windows and physical allocations are multiples of. */
    static final long GRANULARITY = 2L << 20;
    /** Devices of a 910A server, and of each of its two HCCS groups. */
    private static final int SERVER_910A = 8;

    private static final int HALF_910A = 4;

    private final HcclFamily family;
    private final HcclSettings settings;
    private final Map<Integer, GroupTable> tables = new TreeMap<>();
    private final Map<Long, Map<Integer, GroupLaunches>> communicators = new HashMap<>();
    private final Map<Long, TreeSet<Integer>> placements = new HashMap<>();
    private final Map<Object, LaunchDescriptor> descriptors = new WeakHashMap<>();
    private final HcclListener listener;
    private volatile long longestSwitchNanos;

    HcclRules(HcclFamily family, HcclSettings settings, int devices, HcclListener listener) {
        this.listener = listener;
        this.family = family;
        this.settings = settings;
        for (int device = 0; device < devices; device++) {
            tables.put(device, new GroupTable());
        }
    }

    @Override
    public long windowAlignment() {
        return GRANULARITY;
    }

    @Override
    public long communicatorBytes() {
        return settings.communicatorBytes();
    }

    @Override
    public boolean allowsUnorderedStreams() {
        return false;
    }

    @Override
    public double connectNanos() {
        return settings.connectSeconds() * 1e9;
    }

    @Override
    public double executeNanos() {
        return settings.executeSeconds() == 0 ? Double.POSITIVE_INFINITY : settings.executeSeconds() * 1e9;
    }

    @Override
    public void joining(long communicator, String name, int size, Map<Integer, Integer> devices) {
        requirePlace(communicator, name, size, devices);
        Map<Integer, GroupLaunches> members = communicators.computeIfAbsent(communicator, ignored -> new HashMap<>());
        devices.forEach((rank, device) -> {
            members.put(rank, new GroupLaunches(tables.get(device).open(name, rank, size)));
            listener.bufferSize(settings.communicatorBytes());
        });
    }

    /** 910A: groups of 2 and 4 must stay inside devices 0-3 or 4-7 of a server, since only those are joined by HCCS. */
    private void requirePlace(long communicator, String name, int size, Map<Integer, Integer> devices) {
        if (family != HcclFamily.A910A || (size != 2 && size != HALF_910A)) {
            return;
        }
        TreeSet<Integer> all = placements.computeIfAbsent(communicator, ignored -> new TreeSet<>());
        Set<Integer> wanted = new TreeSet<>(all);
        wanted.addAll(devices.values());
        boolean oneServer =
                wanted.stream().map(device -> device / SERVER_910A).distinct().count() == 1;
        boolean oneHalf =
                wanted.stream().map(device -> device / HALF_910A).distinct().count() == 1;
        if (oneServer && !oneHalf) {
            throw HcclFailure.PLACEMENT.of(new AcceleratorException(
                    ErrorCode.INVALID_ARGUMENT,
                    "communicator",
                    name + " of " + size + " ranks has devices " + wanted
                            + "; groups of 2 and 4 must stay inside devices 0-3 or 4-7 on 910A"));
        }
        all.addAll(devices.values());
    }

    @Override
    public void left(long communicator, Map<Integer, Integer> devices) {
        Map<Integer, GroupLaunches> members = communicators.get(communicator);
        if (members == null) {
            return;
        }
        devices.forEach((rank, device) -> {
            GroupLaunches launches = members.remove(rank);
            if (launches != null) {
                tables.get(device).close(launches.group());
                listener.bufferUsed(-launches.bufferBytes());
                listener.bufferSize(-settings.communicatorBytes());
            }
        });
        if (members.isEmpty()) {
            communicators.remove(communicator);
            placements.remove(communicator);
        }
    }

    @Override
    public boolean issuing(long communicator, int rank, int device, Object stream, long bytes) {
        LaunchDescriptor descriptor = descriptors.computeIfAbsent(stream, ignored -> new LaunchDescriptor());
        GroupLaunches launches = communicators.get(communicator).get(rank);
        long switches = descriptor.switches();
        long switchNanos = descriptor.switchNanos();
        long before = launches.bufferBytes();
        // A longer message goes through the buffers in rounds.
        long wanted = Math.min(bytes, settings.communicatorBytes());
        if (!launches.begin(stream, descriptor, wanted, settings.communicatorBytes())) {
            return false;
        }
        listener.bufferUsed(launches.bufferBytes() - before);
        if (descriptor.switches() > switches) {
            listener.switched(descriptor.switchNanos() - switchNanos);
            longestSwitchNanos = Math.max(longestSwitchNanos, descriptor.longestSwitchNanos());
        }
        return true;
    }

    @Override
    public void ended(long communicator, int rank, int device, Object stream) {
        GroupLaunches launches =
                communicators.getOrDefault(communicator, Map.of()).get(rank);
        if (launches != null) {
            long before = launches.bufferBytes();
            launches.end(stream);
            listener.bufferUsed(launches.bufferBytes() - before);
        }
    }

    @Override
    public AcceleratorException told(AcceleratorException failure) {
        return switch (failure.code()) {
            case COLLECTIVE_MISMATCH -> HcclFailure.ARGUMENTS.of(failure);
            case OUT_OF_MEMORY -> HcclFailure.MEMORY.of(failure);
            case INVALID_STATE -> HcclFailure.STREAMS.of(failure);
            default -> failure;
        };
    }

    @Override
    public AcceleratorException late(AcceleratorException failure, boolean whileConnecting) {
        return (whileConnecting ? HcclFailure.CONNECT : HcclFailure.EXECUTE).of(failure);
    }

    /** The open groups of a device. */
    List<GroupStatistics> groups(int device) {
        return tables.get(device).statistics();
    }

    /** The open groups of all devices. */
    List<GroupStatistics> groups() {
        List<GroupStatistics> all = new ArrayList<>();
        tables.values().forEach(table -> all.addAll(table.statistics()));
        return all;
    }

    /** Host time of the longest change of a stream's group, ns. */
    long longestSwitchNanos() {
        return longestSwitchNanos;
    }
}
