// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import io.weft.api.DeviceProperties;
import io.weft.api.ElementType;
import java.util.Map;

/** Device properties in which one thing is wrong. */
final class Altered {
    private Altered() {}

    private static DeviceProperties of(
            DeviceProperties p,
            int ordinal,
            String name,
            int hardwareQueues,
            int copyEngines,
            int priorities,
            long alignment,
            Map<ElementType, Double> peaks,
            String busId,
            Map<String, String> extra) {
        return new DeviceProperties(
                ordinal,
                name,
                p.architecture(),
                p.computeUnits(),
                p.memoryBytes(),
                p.memoryBandwidth(),
                peaks,
                p.gemmTypes(),
                copyEngines,
                hardwareQueues,
                priorities,
                alignment,
                busId,
                p.numaNode(),
                extra);
    }

    static DeviceProperties ordinal(DeviceProperties p, int ordinal) {
        return of(
                p,
                ordinal,
                p.name(),
                p.hardwareQueues(),
                p.copyEngines(),
                p.priorities(),
                p.allocationAlignment(),
                p.peakFlops(),
                p.busId(),
                p.extra());
    }

    static DeviceProperties name(DeviceProperties p, String name) {
        return of(
                p,
                p.ordinal(),
                name,
                p.hardwareQueues(),
                p.copyEngines(),
                p.priorities(),
                p.allocationAlignment(),
                p.peakFlops(),
                p.busId(),
                p.extra());
    }

    static DeviceProperties hardwareQueues(DeviceProperties p, int queues) {
        return of(
                p,
                p.ordinal(),
                p.name(),
                queues,
                p.copyEngines(),
                p.priorities(),
                p.allocationAlignment(),
                p.peakFlops(),
                p.busId(),
                p.extra());
    }

    static DeviceProperties copyEngines(DeviceProperties p, int engines) {
        return of(
                p,
                p.ordinal(),
                p.name(),
                p.hardwareQueues(),
                engines,
                p.priorities(),
                p.allocationAlignment(),
                p.peakFlops(),
                p.busId(),
                p.extra());
    }

    static DeviceProperties priorities(DeviceProperties p, int priorities) {
        return of(
                p,
                p.ordinal(),
                p.name(),
                p.hardwareQueues(),
                p.copyEngines(),
                priorities,
                p.allocationAlignment(),
                p.peakFlops(),
                p.busId(),
                p.extra());
    }

    static DeviceProperties alignment(DeviceProperties p, long alignment) {
        return of(
                p,
                p.ordinal(),
                p.name(),
                p.hardwareQueues(),
                p.copyEngines(),
                p.priorities(),
                alignment,
                p.peakFlops(),
                p.busId(),
                p.extra());
    }

    static DeviceProperties peaks(DeviceProperties p, Map<ElementType, Double> peaks) {
        return of(
                p,
                p.ordinal(),
                p.name(),
                p.hardwareQueues(),
                p.copyEngines(),
                p.priorities(),
                p.allocationAlignment(),
                peaks,
                p.busId(),
                p.extra());
    }

    static DeviceProperties busId(DeviceProperties p, String busId) {
        return of(
                p,
                p.ordinal(),
                p.name(),
                p.hardwareQueues(),
                p.copyEngines(),
                p.priorities(),
                p.allocationAlignment(),
                p.peakFlops(),
                busId,
                p.extra());
    }

    static DeviceProperties extra(DeviceProperties p, Map<String, String> extra) {
        return of(
                p,
                p.ordinal(),
                p.name(),
                p.hardwareQueues(),
                p.copyEngines(),
                p.priorities(),
                p.allocationAlignment(),
                p.peakFlops(),
                p.busId(),
                extra);
    }
}
