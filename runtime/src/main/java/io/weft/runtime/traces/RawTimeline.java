// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.traces;

import io.weft.api.AcceleratorException;
import io.weft.memory.replay.Trace;
import io.weft.memory.replay.TraceBuilder;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * A memory timeline as {@code export_memory_timeline} writes it to a name with {@code .raw.json}: rows of time in ns (-1 for what was there before), action, bytes
 * and category. It names no blocks, so a free is of the youngest allocation of its size.
 */
final class RawTimeline {
    private static final long MOST_BYTES = 1L << 46;
    private static final int COLUMNS = 4;
    private static final int PREEXISTING = 1;
    private static final int CREATE = 2;
    private static final int INCREMENT_VERSION = 3;
    private static final int DESTROY = 4;

    private final String place;
    private final TraceBuilder trace;
    private final RecordedCalls calls = new RecordedCalls();
    private long start = -1;
    private long latest;
    private int row;

    RawTimeline(String place, String name) {
        this.place = place;
        this.trace = new TraceBuilder(name);
    }

    private AcceleratorException fault(String what) {
        return TraceFile.fault(place + ": row " + row, what, null);
    }

    private AcceleratorException sums() {
        return TraceFile.fault(
                place,
                "this memory timeline has only sums by category and no allocations; export_memory_timeline writes those to"
                        + " a name that ends in .raw.json.gz",
                null);
    }

    /** Reads the rows; the parser is at the start of the first one. */
    Trace read(JsonParser parser) {
        trace.origin("PyTorch memory timeline (raw JSON)", "");
        trace.places("row");
        trace.timed();
        long[] cells = new long[COLUMNS];
        for (JsonToken token = parser.currentToken(); token != JsonToken.END_ARRAY; token = parser.nextToken()) {
            row++;
            if (token != JsonToken.START_ARRAY) {
                throw fault("this is no list of time, action, bytes and category");
            }
            int count = 0;
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                if (parser.currentToken() == JsonToken.START_ARRAY || (count == COLUMNS && row == 1)) {
                    throw sums();
                }
                if (count == COLUMNS || !parser.currentToken().isNumeric()) {
                    throw fault("this is no list of the four numbers time, action, bytes and category");
                }
                cells[count++] = whole(parser);
            }
            if (count < COLUMNS) {
                if (row == 1
                        && parser.nextToken() == JsonToken.START_ARRAY
                        && parser.nextToken() != null
                        && !parser.currentToken().isNumeric()) {
                    throw sums();
                }
                throw fault("there are " + count + " numbers and not time, action, bytes and category");
            }
            take(cells);
        }
        calls.liveBefore(trace);
        calls.replay(trace);
        trace.remark("the timeline names no blocks, so a free is taken to be of the youngest allocation of its size");
        return trace.build();
    }

    private long whole(JsonParser parser) {
        if (parser.currentToken() == JsonToken.VALUE_NUMBER_INT) {
            return switch (parser.getNumberType()) {
                case INT, LONG -> parser.getLongValue();
                default -> throw fault("a number has more than 64 bits");
            };
        }
        double value = parser.getDoubleValue();
        if (value != Math.rint(value) || Math.abs(value) > 1L << 62) {
            throw fault(value + " is no whole number");
        }
        return (long) value;
    }

    private void take(long[] cells) {
        long bytes = cells[2];
        if (bytes < -MOST_BYTES || bytes > MOST_BYTES) {
            throw fault("bytes " + bytes + " is not in -" + MOST_BYTES + ".." + MOST_BYTES);
        }
        if (bytes < 0 && (cells[1] == PREEXISTING || cells[1] == CREATE)) {
            throw fault("bytes " + bytes + " of a block that begins; accepted are 0.." + MOST_BYTES);
        }
        // What ends is written with a minus.
        long size = Math.abs(bytes);
        if (cells[0] >= 0) {
            start = start < 0 ? cells[0] : start;
            latest = Math.max(latest, cells[0] - start);
        }
        switch (Math.clamp(cells[1], 0, DESTROY + 1)) {
            case PREEXISTING -> {
                if (size > 0) {
                    calls.before(size, trace, row);
                }
            }
            case CREATE -> {
                if (size > 0) {
                    calls.allocate(size, latest, row);
                }
            }
            case INCREMENT_VERSION -> {}
            case DESTROY -> {
                if (size > 0) {
                    calls.free(size, latest, row);
                }
            }
            default ->
                throw fault("unknown action " + cells[1]
                        + "; accepted are 1 (existed before), 2 (created), 3 (new version) and 4 (destroyed)");
        }
    }
}
