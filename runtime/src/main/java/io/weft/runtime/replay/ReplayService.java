// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.replay;

import io.weft.api.AcceleratorException;
import io.weft.api.Device;
import io.weft.memory.StreamOrder;
import io.weft.memory.replay.BestFitModel;
import io.weft.memory.replay.CachingModel;
import io.weft.memory.replay.DevicePoolTarget;
import io.weft.memory.replay.DeviceTarget;
import io.weft.memory.replay.PoolTarget;
import io.weft.memory.replay.RecountedReplay;
import io.weft.memory.replay.Replay;
import io.weft.memory.replay.ReplayCurve;
import io.weft.memory.replay.ReplayReport;
import io.weft.memory.replay.ReplayTarget;
import io.weft.memory.replay.Trace;
import io.weft.runtime.plan.Progress;
import io.weft.runtime.traces.TraceFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongFunction;

/** Replays recorded allocations, each pool after the other on one thread. Safe for any thread; times mean something only while nothing else runs. */
public final class ReplayService {
    /** What a trace can be replayed through: Weft's pool, the caching allocator that PyTorch has, and best fit over one growing range. */
    public static final String POOLS = "weft, caching, bestfit";

    /** What a trace can be replayed through on a device: Weft's pool, and the device's allocator by itself. */
    public static final String DEVICE_POOLS = "weft, device";

    /** Samples of a curve: more than a page has dots across. */
    private static final int SAMPLES = 1200;

    private static final int LEAST_PASSES = 3;

    /** Events of a log that is counted anew: a tenth of a second. */
    private static final long MOST_RECOUNTED = 200_000;

    private static final long WARM_NANOS = 400_000_000L;

    /** A service without state. */
    public ReplayService() {}

    /**
     * Replays.
     *
     * @throws AcceleratorException NOT_FOUND or BAD_DOCUMENT for the file, with file and line; INVALID_ARGUMENT for a pool that there is not
     */
    public ReplayOutcome replay(ReplayRequest request, Progress progress) {
        List<LongFunction<ReplayTarget>> pools =
                request.pools().stream().map(name -> pool(name, request)).toList();
        Trace trace = TraceFile.read(request.file(), request.device().orElse(null));
        List<ReplayReport> reports = new ArrayList<>();
        List<ReplayCurve> curves = new ArrayList<>();
        progress.begin("replaying", pools.size());
        try {
            for (int i = 0; i < pools.size(); i++) {
                warm(trace, pools.get(i), request.limit());
                try (ReplayTarget target = pools.get(i).apply(request.limit())) {
                    reports.add(Replay.run(trace, target, request.passes()));
                }
                if (request.curves()) {
                    try (ReplayTarget target = pools.get(i).apply(request.limit())) {
                        curves.add(ReplayCurve.of(trace, target, SAMPLES));
                    }
                }
                progress.step(request.pools().get(i));
            }
        } finally {
            progress.end();
        }
        return new ReplayOutcome(trace, request.limit(), request.on(), reports, curves, recount(trace, request));
    }

    /** Our pool once more, with a log that is counted anew; not for so long as the timed passes, where those take long. */
    private static Optional<RecountedReplay> recount(Trace trace, ReplayRequest request) {
        if (!request.pools().contains("weft") || request.on().isPresent()) {
            return Optional.empty();
        }
        long passes = Math.clamp(MOST_RECOUNTED / Math.max(1, trace.count()), LEAST_PASSES, request.passes());
        return Optional.of(RecountedReplay.of(trace, request.limit(), (int) passes));
    }

    /** Lets the JVM compile what is going to be timed, on targets of their own, so that a cold pass means a cold pool. */
    private static void warm(Trace trace, LongFunction<ReplayTarget> pool, long limit) {
        long start = System.nanoTime();
        do {
            try (ReplayTarget target = pool.apply(limit)) {
                Replay.run(trace, target, LEAST_PASSES);
            }
        } while (System.nanoTime() - start < WARM_NANOS);
    }

    private static LongFunction<ReplayTarget> pool(String name, ReplayRequest request) {
        LongFunction<ReplayTarget> pool =
                request.on().isPresent() ? onDevice(name, request.on().get().device(0)) : onNumbers(name);
        if (pool == null) {
            throw AcceleratorException.invalid(
                    "replay",
                    "'" + name + "' is not a pool"
                            + request.on().map(on -> " on a device").orElse("") + "; accepted are " + request.names());
        }
        return pool;
    }

    private static LongFunction<ReplayTarget> onDevice(String name, Device device) {
        return switch (name) {
            case "weft" -> limit -> new DevicePoolTarget(device, limit);
            case "device" -> limit -> new DeviceTarget(device, limit);
            default -> null;
        };
    }

    private static LongFunction<ReplayTarget> onNumbers(String name) {
        return switch (name) {
            case "weft" -> limit -> new PoolTarget(limit, StreamOrder.immediate());
            case "caching" -> CachingModel::new;
            case "bestfit" -> BestFitModel::new;
            default -> null;
        };
    }
}
