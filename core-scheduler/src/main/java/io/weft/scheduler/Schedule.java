// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.AcceleratorException;
import java.util.Locale;
import java.util.Objects;

/**
 * A point in the space of overlap schedules. Its text form, such as {@code hetero-fused-1d/chunks=8,streams=2}, leaves out what has its default.
 *
 * <p>Parameters that a kind has no use for are set to the one value that it takes, so that equal schedules are equal records.
 *
 * @param kind the step plan
 * @param chunks pieces into which one shard is cut, 1 or more
 * @param streams compute lanes on each device, 1 or more; copies have a lane for each peer
 * @param engine what moves the data
 * @param cover cover-merge only: the share of the own rows that is multiplied beside the communication, above 0 and up to 1; otherwise 0
 * @param reduction how partial products are summed; only patterns that reduce look at it
 */
public record Schedule(Kind kind, int chunks, int streams, TransferEngine engine, double cover, Reduction reduction) {
    /** The step plans. */
    public enum Kind {
        /** The whole communication, then one GEMM, or the reverse. */
        SERIAL("serial"),
        /** A whole shard from one peer at a time, beside the GEMM of the shard already held. */
        SHARD_P2P("shard-p2p"),
        /** Every step takes one chunk of every shard, the own one too, into one GEMM; all steps are equal. */
        UNIFORM_FUSED_1D("uniform-fused-1d"),
        /** The own shard first; then every step takes one chunk of every other shard into one GEMM. */
        HETERO_FUSED_1D("hetero-fused-1d"),
        /** The own shard first; then every chunk has a GEMM of its own. */
        HETERO_UNFUSED_1D("hetero-unfused-1d"),
        /** Every step takes a slab of columns of every shard; the inner sum is accumulated over the steps. */
        UNIFORM_FUSED_2D("uniform-fused-2d"),
        /** Just enough own rows to cover the communication, then one GEMM over everything else. */
        COVER_MERGE("cover-merge");

        private static final Kind[] VALUES = values();

        private final String label;

        Kind(String label) {
            this.label = label;
        }

        /** The name used in commands and JSON. */
        public String label() {
            return label;
        }

        /** Whether shards are cut into chunks. */
        public boolean isChunked() {
            return switch (this) {
                case SERIAL, SHARD_P2P, COVER_MERGE -> false;
                default -> true;
            };
        }

        /** Whether the own rows have GEMMs of their own that come last, so that they can accumulate into partial products that have arrived. */
        public boolean mayAccumulate() {
            return this == SHARD_P2P || this == HETERO_FUSED_1D || this == HETERO_UNFUSED_1D;
        }

        /**
         * Whether every result has the same bits as the serial schedule's, provided that the GEMM sums along K in one order whatever its number of rows and that {@link
         * Reduction#KERNEL} is used. Patterns that reduce cut columns of the result instead of the inner sum, so they keep the bits in 2D as well.
         */
        public boolean keepsBits(Pattern pattern) {
            return this != UNIFORM_FUSED_2D || !pattern.gathers();
        }

        /**
         * Finds a kind by its label.
         *
         * @throws AcceleratorException INVALID_ARGUMENT which lists the labels
         */
        public static Kind parse(String text) {
            String key = text.strip().toLowerCase(Locale.ROOT).replace('_', '-');
            StringBuilder known = new StringBuilder();
            for (Kind kind : VALUES) {
                if (kind.label.equals(key)) {
                    return kind;
                }
                known.append(known.isEmpty() ? "" : ", ").append(kind.label);
            }
            throw AcceleratorException.invalid("schedule", "'" + text + "' is not a schedule; known are " + known);
        }

        @Override
        public String toString() {
            return label;
        }
    }

    /** Chunks of a shard when nothing else is said. */
    public static final int DEFAULT_CHUNKS = 4;

    /** Share of the own rows in cover-merge when nothing else is said; the best or next to best of 1/4, 1/2 and 3/4 on two real devices at seven of eight shapes. */
    public static final double DEFAULT_COVER = 0.5;

    /** Larger counts only make graphs that no machine gains from. */
    private static final int MOST_CHUNKS = 1 << 16;

    private static final int MOST_STREAMS = 64;

    public Schedule {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(engine, "engine");
        Objects.requireNonNull(reduction, "reduction");
        if (chunks < 1 || chunks > MOST_CHUNKS) {
            throw AcceleratorException.invalid("schedule", "chunks must lie in 1.." + MOST_CHUNKS + ", not " + chunks);
        }
        if (streams < 1 || streams > MOST_STREAMS) {
            throw AcceleratorException.invalid(
                    "schedule", "streams must lie in 1.." + MOST_STREAMS + ", not " + streams);
        }
        if (kind == Kind.COVER_MERGE) {
            if (!(cover > 0 && cover <= 1)) {
                throw AcceleratorException.invalid("schedule", "cover must be above 0 and up to 1, not " + cover);
            }
        } else {
            cover = 0;
        }
        if (!kind.isChunked()) {
            chunks = 1;
        }
        if (!kind.mayAccumulate()) {
            reduction = Reduction.KERNEL;
        }
        if (kind == Kind.SERIAL) {
            streams = 1;
        } else if (engine == TransferEngine.COLLECTIVE) {
            throw AcceleratorException.invalid(
                    "schedule",
                    kind + " moves single chunks: its engine is copy-engine or kernel; collective goes with serial");
        }
    }

    /** The whole collective of the backend and one GEMM: what every speedup is measured against. */
    public static Schedule serial() {
        return of(Kind.SERIAL);
    }

    /** A kind with its default parameters. */
    public static Schedule of(Kind kind) {
        return new Schedule(
                kind,
                DEFAULT_CHUNKS,
                1,
                kind == Kind.SERIAL ? TransferEngine.COLLECTIVE : TransferEngine.COPY_ENGINE,
                DEFAULT_COVER,
                Reduction.KERNEL);
    }

    /** The same with another number of chunks. */
    public Schedule withChunks(int wanted) {
        return new Schedule(kind, wanted, streams, engine, cover, reduction);
    }

    /** The same with another number of compute lanes. */
    public Schedule withStreams(int wanted) {
        return new Schedule(kind, chunks, wanted, engine, cover, reduction);
    }

    /** The same with another engine. */
    public Schedule withEngine(TransferEngine wanted) {
        return new Schedule(kind, chunks, streams, wanted, cover, reduction);
    }

    /** The same with another share of own rows first. */
    public Schedule withCover(double wanted) {
        return new Schedule(kind, chunks, streams, engine, wanted, reduction);
    }

    /** The same with another way to sum. */
    public Schedule withReduction(Reduction wanted) {
        return new Schedule(kind, chunks, streams, engine, cover, wanted);
    }

    /** Whether its results have the bits of the serial schedule; see {@link Kind#keepsBits(Pattern)}. */
    public boolean keepsBits(Pattern pattern) {
        return kind.keepsBits(pattern) && !(pattern.reduces() && reduction == Reduction.ACCUMULATE);
    }

    /**
     * Reads the text form: a kind, and after a slash any of {@code chunks=}, {@code streams=}, {@code engine=}, {@code cover=}, {@code reduction=}, parted by commas.
     *
     * @throws AcceleratorException INVALID_ARGUMENT which says what would be accepted
     */
    public static Schedule parse(String text) {
        String form = text.strip();
        int slash = form.indexOf('/');
        Schedule schedule = of(Kind.parse(slash < 0 ? form : form.substring(0, slash)));
        if (slash < 0) {
            return schedule;
        }
        for (String part : form.substring(slash + 1).split(",", -1)) {
            int equals = part.indexOf('=');
            String key = (equals < 0 ? part : part.substring(0, equals)).strip().toLowerCase(Locale.ROOT);
            String value = equals < 0 ? "" : part.substring(equals + 1).strip();
            schedule = switch (key) {
                case "chunks" -> schedule.withChunks(integer(key, value));
                case "streams" -> schedule.withStreams(integer(key, value));
                case "engine" -> schedule.withEngine(TransferEngine.parse(value));
                case "cover" -> schedule.withCover(fraction(key, value));
                case "reduction" -> schedule.withReduction(Reduction.parse(value));
                default ->
                    throw AcceleratorException.invalid(
                            "schedule",
                            "'" + key + "' in '" + text
                                    + "' is no parameter; known are chunks, streams, engine, cover, reduction");
            };
        }
        return schedule;
    }

    private static int integer(String key, String value) {
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException wrong) {
            throw AcceleratorException.invalid("schedule", key + " must be a whole number, not '" + value + "'");
        }
    }

    private static double fraction(String key, String value) {
        try {
            return Double.parseDouble(value);
        } catch (NumberFormatException wrong) {
            throw AcceleratorException.invalid("schedule", key + " must be a number, not '" + value + "'");
        }
    }

    /** The text form, which {@link #parse(String)} reads. */
    @Override
    public String toString() {
        Schedule plain = of(kind);
        StringBuilder text = new StringBuilder(kind.label());
        char separator = '/';
        if (kind.isChunked()) {
            text.append(separator).append("chunks=").append(chunks);
            separator = ',';
        }
        if (streams != plain.streams) {
            text.append(separator).append("streams=").append(streams);
            separator = ',';
        }
        if (engine != plain.engine) {
            text.append(separator).append("engine=").append(engine);
            separator = ',';
        }
        if (kind == Kind.COVER_MERGE) {
            text.append(separator).append("cover=").append(cover);
            separator = ',';
        }
        if (reduction != plain.reduction) {
            text.append(separator).append("reduction=").append(reduction);
        }
        return text.toString();
    }
}
