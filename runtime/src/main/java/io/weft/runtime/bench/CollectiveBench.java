// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.bench;

import io.weft.api.AcceleratorException;
import io.weft.api.Capability;
import io.weft.api.Communicator;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Figures;
import io.weft.api.Platform;
import io.weft.api.ReduceOp;
import io.weft.runtime.bench.CollectiveReport.Row;
import io.weft.runtime.bench.CollectiveReport.Table;
import io.weft.runtime.bench.CollectiveReport.Timing;
import io.weft.runtime.plan.Progress;
import io.weft.spi.PerformanceModel;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Times collectives by size, as rccl-tests does: so many calls one after the other, from the first to the completion of the last, divided by their number.
 *
 * <p>Where figures are a model's, that run is predicted, which needs no memory and gives what a run in virtual time would; otherwise it happens. Data are checked
 * in a run of their own, on platforms that hold data. Safe for any thread as long as each call has a platform of its own.
 */
public final class CollectiveBench {
    /** How much longer a size takes than the next larger one before it is noted; RCCL's own steps between protocols stay below. */
    private static final double CLIFF = 2;

    /** Hears of results as they come, in the order of the report. */
    @FunctionalInterface
    public interface Listener {
        /** A row is there, of the table of an operation over so many ranks. */
        void row(CollectiveOperation operation, int ranks, Row row);
    }

    /** A service without state. */
    public CollectiveBench() {}

    /**
     * Runs.
     *
     * @throws AcceleratorException INVALID_ARGUMENT when ranks or root do not fit the platform, or a size does not fit a device; UNSUPPORTED when the platform has
     *     no collectives
     */
    public CollectiveReport run(Platform platform, CollectiveRequest request, Progress progress) {
        return run(platform, request, progress, (operation, ranks, row) -> {});
    }

    /**
     * Runs, and tells of each row as it comes.
     *
     * @throws AcceleratorException as {@link #run(Platform, CollectiveRequest, Progress)}, before the first row if the request is at fault
     */
    public CollectiveReport run(Platform platform, CollectiveRequest request, Progress progress, Listener listener) {
        List<Long> sizes = request.sizes().all();
        requireFits(platform, request, sizes.getLast());
        Set<String> notes = new LinkedHashSet<>();
        List<Table> tables = new ArrayList<>();
        progress.begin("timing", steps(request, sizes.size()));
        platform.extension(PerformanceModel.class).ifPresent(model -> progress.counts("events", model::events));
        try {
            for (CollectiveOperation operation : request.operations()) {
                for (int ranks : request.ranks()) {
                    tables.add(table(platform, request, operation, ranks, sizes, notes, progress, listener));
                }
            }
        } finally {
            progress.end();
        }
        return new CollectiveReport(
                platform.figures().label(),
                platform.uri().toString(),
                platform.properties().machine(),
                request,
                tables,
                List.copyOf(notes));
    }

    private static int steps(CollectiveRequest request, int sizes) {
        long rows = 0;
        for (CollectiveOperation operation : request.operations()) {
            rows += (long) reductions(request, operation).size()
                    * request.types().size()
                    * request.ranks().size();
        }
        return (int) Math.min(Integer.MAX_VALUE, rows * sizes);
    }

    /** One entry for operations that reduce nothing. */
    private static List<BenchReduction> reductions(CollectiveRequest request, CollectiveOperation operation) {
        return operation.kind().reduces()
                ? request.reductions()
                : request.reductions().subList(0, 1);
    }

    private static void requireFits(Platform platform, CollectiveRequest request, long largest) {
        int devices = platform.devices().size();
        for (int ranks : request.ranks()) {
            if (ranks < 1 || ranks > devices) {
                throw AcceleratorException.invalid(
                        "bench", ranks + " ranks do not fit " + platform.uri() + "; accepted are 1 to " + devices);
            }
            if (request.root() < 0 || request.root() >= ranks) {
                throw AcceleratorException.invalid(
                        "bench",
                        "root " + request.root() + " is none of " + ranks + " ranks; accepted are 0 to " + (ranks - 1));
            }
            for (CollectiveOperation operation : request.operations()) {
                if (operation == CollectiveOperation.SENDRECV && ranks < 2) {
                    throw AcceleratorException.invalid("bench", "sendrecv needs 2 ranks or more, not " + ranks);
                }
                for (ElementType type : request.types()) {
                    long count = operation.count(largest, type.bytes(), ranks);
                    CollectiveShape shape = new CollectiveShape(
                            operation, count, type, request.reductions().getFirst(), request.root(), ranks, false);
                    for (int rank = 0; rank < ranks; rank++) {
                        long there = platform.device(rank).properties().memoryBytes();
                        if (shape.bytes(rank) < 0 || shape.bytes(rank) > there) {
                            throw AcceleratorException.invalid(
                                    "bench",
                                    operation.label() + " of " + largest + " bytes needs two buffers of that size on"
                                            + " device " + rank + ", which has " + there
                                            + " bytes of memory; accepted is a smaller -e");
                        }
                    }
                }
            }
        }
    }

    private static Table table(
            Platform platform,
            CollectiveRequest request,
            CollectiveOperation operation,
            int ranks,
            List<Long> sizes,
            Set<String> notes,
            Progress progress,
            Listener listener) {
        List<Device> devices = platform.devices().subList(0, ranks);
        List<Row> rows = new ArrayList<>();
        try (Communicator communicator = Communicator.over(platform, devices)) {
            CollectiveClock clock = clock(platform, communicator, request);
            for (ElementType type : request.types()) {
                for (BenchReduction reduction : reductions(request, operation)) {
                    for (long size : sizes) {
                        long count = operation.count(size, type.bytes(), ranks);
                        CollectiveShape shape =
                                new CollectiveShape(operation, count, type, reduction, request.root(), ranks, false);
                        rows.add(row(communicator, clock, request, shape, notes));
                        listener.row(operation, ranks, rows.getLast());
                        progress.step(operation.label() + " " + size + " B");
                    }
                }
            }
        }
        noteCliffs(operation, rows, notes);
        return new Table(operation, ranks, rows);
    }

    /** A size that takes much longer than a larger one is a fault of the library or the node, as in ROCm/rccl#1490, and easily missed in a table. */
    private static void noteCliffs(CollectiveOperation operation, List<Row> rows, Set<String> notes) {
        for (int i = 0; i + 1 < rows.size(); i++) {
            Row row = rows.get(i);
            Row next = rows.get(i + 1);
            boolean alike = row.type() == next.type() && row.reduction().equals(next.reduction());
            double micros = row.outOfPlace().us();
            double larger = next.outOfPlace().us();
            if (alike && next.bytes() > row.bytes() && larger > 0 && micros > CLIFF * larger) {
                notes.add(String.format(
                        Locale.ROOT,
                        "%s of %d bytes takes %.1f us, and of %d bytes %.1f us: look for a cliff between two protocols",
                        operation.label(),
                        row.bytes(),
                        micros,
                        next.bytes(),
                        larger));
            }
        }
    }

    private static CollectiveClock clock(Platform platform, Communicator communicator, CollectiveRequest request) {
        Optional<PerformanceModel> model =
                platform.figures() == Figures.MODEL && platform.has(Capability.PERFORMANCE_MODEL)
                        ? platform.extension(PerformanceModel.class)
                        : Optional.empty();
        return model.isPresent()
                ? new PredictedClock(model.get(), request.iterations())
                : new RunningClock(communicator, request.warmup(), request.iterations());
    }

    private static Row row(
            Communicator communicator,
            CollectiveClock clock,
            CollectiveRequest request,
            CollectiveShape shape,
            Set<String> notes) {
        CollectiveOperation operation = shape.operation();
        Timing apart = timing(communicator, clock, request, shape, notes);
        Optional<Timing> together = operation.hasInPlace()
                ? Optional.of(timing(communicator, clock, request, shape.together(), notes))
                : Optional.empty();
        long bytes = operation.size(shape.count(), shape.type().bytes(), shape.ranks());
        boolean reduces = operation.kind().reduces();
        String algorithm = "";
        if (request.explain()) {
            ReduceOp op = reduces ? shape.reduction().of(0) : ReduceOp.SUM;
            algorithm = communicator.driver().describe(operation.kind(), op, shape.type(), bytes);
            if (algorithm.isEmpty()) {
                algorithm = "-";
                notes.add("this platform does not tell its algorithms");
            }
        }
        return new Row(
                bytes,
                shape.count(),
                shape.type(),
                reduces ? Optional.of(shape.reduction()) : Optional.empty(),
                operation.rooted() ? shape.root() : -1,
                apart,
                together,
                algorithm);
    }

    private static Timing timing(
            Communicator communicator,
            CollectiveClock clock,
            CollectiveRequest request,
            CollectiveShape shape,
            Set<String> notes) {
        // Nothing moves, and the libraries return at once.
        double nanos = shape.count() == 0 ? 0 : clock.nanos(shape);
        double algorithm =
                shape.operation().algorithmBandwidth(shape.count(), shape.type().bytes(), shape.ranks(), nanos);
        return new Timing(
                nanos / 1e3,
                algorithm,
                algorithm * shape.operation().busFactor(shape.ranks()),
                wrong(communicator, request, shape, notes));
    }

    private static OptionalLong wrong(
            Communicator communicator, CollectiveRequest request, CollectiveShape shape, Set<String> notes) {
        Platform platform = communicator.platform();
        if (request.checkBytes() == 0) {
            return OptionalLong.empty();
        }
        if (!platform.has(Capability.STORAGE)) {
            notes.add(platform.uri() + " keeps time but holds no data, so nothing is checked (wrong: N/A)");
            return OptionalLong.empty();
        }
        long bytes = 0;
        for (int rank = 0; rank < shape.ranks(); rank++) {
            bytes += shape.bytes(rank);
        }
        if (bytes > request.checkBytes()) {
            notes.add("data are checked where all ranks' buffers take " + request.checkBytes()
                    + " bytes together at most (--check-limit); above, wrong is N/A");
            return OptionalLong.empty();
        }
        try {
            return OptionalLong.of(new CollectiveCheck(communicator, shape, request.seed()).wrong());
        } catch (AcceleratorException refusal) {
            if (refusal.code() == ErrorCode.OUT_OF_MEMORY) {
                notes.add("there is no memory to check larger messages; there, wrong is N/A");
                return OptionalLong.empty();
            }
            throw refusal;
        }
    }
}
