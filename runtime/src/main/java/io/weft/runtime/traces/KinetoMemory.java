// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.traces;

import io.weft.api.AcceleratorException;
import io.weft.memory.replay.Trace;
import io.weft.memory.replay.TraceBuilder;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/**
 * The {@code [memory]} events of a Chrome trace of {@code torch.profiler}: a signed size and a device each; newer ones have an address and what the allocator has
 * given out and holds. Without addresses a free is of the youngest allocation of its size. What the totals say beyond the events was there from the start, in one
 * block, as nothing says in how many.
 */
final class KinetoMemory {
    private static final long MOST_BYTES = 1L << 46;
    private static final int CPU = 0;
    private static final int MOST_DECIMALS = 40;
    private static final Set<String> NEEDED = Set.of("ph", "name", "ts");
    private static final String MEMORY = "[memory]";
    private static final BigDecimal LATEST = BigDecimal.valueOf(Long.MAX_VALUE / 4);

    private record Event(BigDecimal micros, long device, long bytes, long address, long allocated, long reserved) {}

    private final String place;
    private final List<Event> events = new ArrayList<>();
    private long seen;

    KinetoMemory(String place) {
        this.place = place;
    }

    /** Whether a key of an event is of use, after those that were read before. */
    static boolean needs(String key, Fields before) {
        return NEEDED.contains(key)
                || (key.equals("args") && (!before.has("name") || MEMORY.equals(before.text("name"))));
    }

    private AcceleratorException fault(String what) {
        return TraceFile.fault(place, what, null);
    }

    /** Takes one event of the trace, whatever it is of. */
    void event(Fields event) {
        seen++;
        if (!MEMORY.equals(event.text("name"))) {
            return;
        }
        String where = "memory event " + (events.size() + 1);
        if (!(event.get("args") instanceof Fields args) || !args.isWhole("Bytes") || !args.isWhole("Device Type")) {
            throw fault(where + " has no whole numbers 'Bytes' and 'Device Type'");
        }
        long bytes = args.whole("Bytes");
        if (bytes < -MOST_BYTES || bytes > MOST_BYTES) {
            throw fault(where + ": Bytes " + bytes + " is not in -" + MOST_BYTES + ".." + MOST_BYTES);
        }
        BigDecimal micros = event.decimal("ts");
        if (micros == null || micros.scale() > MOST_DECIMALS || micros.abs().compareTo(LATEST) > 0) {
            throw fault(where + " has no number 'ts'");
        }
        long type = args.whole("Device Type");
        // Of the host there is one, with the number -1.
        long number = type == CPU ? 0 : Math.max(0, args.whole("Device Id", 0));
        if (type < 0 || type > Byte.MAX_VALUE || number > Short.MAX_VALUE) {
            throw fault(where + " is of no known device: type " + type + ", number " + number);
        }
        events.add(new Event(
                micros,
                (type << Short.SIZE) | number,
                bytes,
                args.whole("Addr", 0),
                args.whole("Total Allocated", 0),
                args.whole("Total Reserved", 0)));
    }

    private static String name(long device) {
        long number = device & Short.MAX_VALUE;
        return switch ((int) (device >> Short.SIZE)) {
            case CPU -> "cpu";
            case 1 -> "cuda:" + number;
            case 6 -> "hip:" + number;
            case 12 -> "xpu:" + number;
            case 13 -> "mps:" + number;
            case 15 -> "hpu:" + number;
            case 19 -> "mtia:" + number;
            case 20 -> "privateuseone:" + number;
            default -> "type" + (device >> Short.SIZE) + ":" + number;
        };
    }

    private static boolean isNamed(long device, String wanted) {
        String plain = wanted.strip().toLowerCase(Locale.ROOT).replace(":", "");
        if (plain.matches("\\d{1,5}")) {
            return device >> Short.SIZE != CPU && (device & Short.MAX_VALUE) == Integer.parseInt(plain);
        }
        String name = name(device).replace(":", "");
        return plain.equals(name) || plain.equals(name.replace("privateuseone", "npu"));
    }

    /**
     * The trace of one device.
     *
     * @param wanted the device, null for the first that is not the host
     */
    Trace trace(String file, String wanted) {
        if (events.isEmpty()) {
            throw fault("none of the " + seen + " events is a [memory] event; record with"
                    + " torch.profiler.profile(profile_memory=True)");
        }
        long device = choose(wanted);
        List<Event> chosen = new ArrayList<>(events.stream()
                .filter(event -> event.device == device && event.bytes != 0)
                .toList());
        // Threads write their events one after the other, so times order them; events of one time stay as they are.
        chosen.sort(Comparator.comparing(Event::micros));
        TraceBuilder trace = new TraceBuilder(file);
        trace.origin("Chrome trace of torch.profiler (JSON)", name(device));
        trace.places("memory event");
        trace.timed();
        if (!chosen.isEmpty()) {
            events(chosen, trace);
        }
        return trace.build();
    }

    private long choose(String wanted) {
        for (Event event : events) {
            if (wanted == null ? event.device >> Short.SIZE != CPU : isNamed(event.device, wanted)) {
                return event.device;
            }
        }
        Set<String> names = new TreeSet<>();
        events.forEach(event -> names.add(name(event.device)));
        throw fault(
                wanted == null
                        ? "every memory event is the host's; --device cpu takes those"
                        : "no memory event is of device '" + TraceFile.shorten(wanted) + "'; there are "
                                + String.join(", ", names));
    }

    private void events(List<Event> chosen, TraceBuilder trace) {
        boolean addressed = chosen.stream().allMatch(event -> event.address != 0);
        RecordedCalls calls = new RecordedCalls();
        BigDecimal start = chosen.getFirst().micros;
        for (int i = 0; i < chosen.size(); i++) {
            Event event = chosen.get(i);
            long nanos = event.micros
                    .subtract(start)
                    .movePointRight(3)
                    .setScale(0, RoundingMode.HALF_EVEN)
                    .longValue();
            long size = Math.abs(event.bytes);
            if (event.bytes > 0 && addressed) {
                calls.allocate(event.address, size, 0, nanos, i + 1);
            } else if (event.bytes > 0) {
                calls.allocate(size, nanos, i + 1);
            } else if (addressed) {
                calls.free(event.address, size, 0, nanos, i + 1);
            } else {
                calls.free(size, nanos, i + 1);
            }
        }
        Event first = chosen.getFirst();
        long known = calls.liveBefore(trace);
        long rest = first.allocated - first.bytes - known;
        if (first.allocated > 0 && rest > 0 && rest <= MOST_BYTES) {
            trace.liveBefore("rest", rest, 0, 1);
            trace.remark(
                    rest + " bytes were out before the trace and stayed; it does not say in how many blocks, so they"
                            + " are one");
        }
        reserved(chosen, trace);
        calls.replay(trace);
        if (!addressed) {
            trace.remark(
                    "the memory events have no addresses, so a free is taken to be of the youngest allocation of its"
                            + " size");
        }
    }

    private static void reserved(List<Event> chosen, TraceBuilder trace) {
        long peak = 0;
        for (Event event : chosen) {
            peak = Math.max(peak, event.reserved);
        }
        if (peak > 0 && peak <= MOST_BYTES) {
            trace.reserved(peak, 1);
        }
    }
}
