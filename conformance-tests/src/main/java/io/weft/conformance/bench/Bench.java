// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.bench;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Communicator;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.MemoryKind;
import io.weft.api.Platform;
import io.weft.api.Stream;
import io.weft.api.StreamOptions;
import io.weft.api.numeric.Comparison;
import io.weft.api.numeric.Expected;
import io.weft.api.numeric.HostMatrix;
import io.weft.api.numeric.RandomData;
import io.weft.conformance.Subject;
import io.weft.spi.DeviceMemory;
import io.weft.spi.PlatformDriver;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiPredicate;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * The place of one proof: the open platform, fresh handles that are closed with the bench, guarded and poisoned buffers, random data from the run's seed, and
 * comparisons which say what was expected and what was seen.
 *
 * <p>Used by the proof's thread; {@link #together} starts others.
 */
public final class Bench {
    /** How many steps a poll takes before it counts as a hang on its own; the watchdog usually comes first. */
    private static final int MAX_POLLS = 50_000_000;

    /** The order in which handles are closed, so that work is over before its buffers go. */
    private enum Kind {
        PLATFORM,
        COMMUNICATOR,
        OTHER,
        STREAM,
        EVENT,
        BUFFER
    }

    private record Held(Kind kind, String what, AutoCloseable handle, BooleanSupplier gone) {}

    private record Guarded(Buffer whole, Buffer part, long front, long bytes) {}

    private final Subject subject;
    private final Platform platform;
    private final long seed;
    private final RandomGenerator random;
    private final List<Held> held = new ArrayList<>();
    private final List<Guarded> guards = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final List<Runnable> endings = new ArrayList<>();
    private volatile String step = "";
    private long draws;

    /**
     * Prepares a bench.
     *
     * @param seed of all its data
     */
    public Bench(Subject subject, Platform platform, long seed) {
        this.subject = subject;
        this.platform = platform;
        this.seed = seed;
        this.random = RandomGeneratorFactory.of("SplittableRandom").create(seed);
    }

    // What is judged.

    /** The backend's provider and URI. */
    public Subject subject() {
        return subject;
    }

    /** The open platform, validated by the API. */
    public Platform platform() {
        return platform;
    }

    /** The backend's side of it. */
    public PlatformDriver driver() {
        return platform.driver();
    }

    /** An extension that the rule's capability promises. */
    public <T> T extension(Class<T> type) {
        return platform.extension(type)
                .orElseThrow(() -> new RuleBroken(
                        "the extension " + type.getSimpleName() + " of a declared capability", "there is none"));
    }

    /** Another platform of the same provider, closed with the bench. */
    public Platform openAnother() {
        Platform other = new Platform(subject.uri(), subject.open(subject.uri()));
        return hold(Kind.PLATFORM, "a second platform", other, () -> false);
    }

    /** The first device. */
    public Device device() {
        return platform.devices().getFirst();
    }

    /**
     * The first devices.
     *
     * @throws NotApplicable when there are fewer
     */
    public List<Device> devices(int count) {
        List<Device> all = platform.devices();
        if (all.size() < count) {
            throw new NotApplicable("the platform has " + all.size() + " devices and the proof needs " + count);
        }
        return all.subList(0, count);
    }

    /** As many devices as there are, but no more than this. */
    public List<Device> devicesUpTo(int count) {
        return devices(Math.min(count, platform.devices().size()));
    }

    /**
     * The first pair of different devices that a condition holds for.
     *
     * @throws NotApplicable when there is none
     */
    public List<Device> pair(String which, BiPredicate<Device, Device> condition) {
        for (Device from : platform.devices()) {
            for (Device to : platform.devices()) {
                if (from != to && condition.test(from, to)) {
                    return List.of(from, to);
                }
            }
        }
        throw new NotApplicable("the platform has no two devices " + which);
    }

    /** Two devices of which the first can copy to and from the second. */
    public List<Device> copyablePair() {
        return pair(
                "that can copy to each other",
                (a, b) -> platform.topology().link(a.ordinal(), b.ordinal()).copyable()
                        && platform.topology().link(b.ordinal(), a.ordinal()).copyable());
    }

    // Handles.

    /** A buffer with guard bytes around it and poison in it. */
    public Buffer buffer(Device device, long bytes) {
        return buffer(device, MemoryKind.DEVICE, bytes);
    }

    /** A buffer with guard bytes around it and poison in it. */
    public Buffer buffer(Device device, MemoryKind kind, long bytes) {
        if (!Leftovers.hasStorage(device)) {
            return raw(device, kind, Math.max(bytes, 1));
        }
        long front = Math.max(Leftovers.GUARD_BYTES, device.properties().allocationAlignment());
        Buffer whole = device.allocate(kind, front + bytes + Leftovers.GUARD_BYTES);
        Buffer part = whole.suballocate(front, bytes, closing -> whole.close());
        hold(Kind.BUFFER, "a buffer", part, part::isClosed);
        byte[] poison = new byte[Math.toIntExact(bytes)];
        Arrays.fill(poison, POISON);
        part.write(0, MemorySegment.ofArray(poison));
        Leftovers.guard(whole, front, bytes);
        guards.add(new Guarded(whole, part, front, bytes));
        return part;
    }

    /** The byte that fresh buffers are filled with: no zero, no usual number in any type. */
    public static final byte POISON = (byte) 0xA7;

    /** An allocation as the backend makes it, without guards or poison. */
    public Buffer raw(Device device, MemoryKind kind, long bytes) {
        Buffer buffer = device.allocate(kind, bytes);
        return hold(Kind.BUFFER, "a buffer", buffer, buffer::isClosed);
    }

    /** A buffer that somebody else made, closed with the bench unless it was closed before. */
    public Buffer held(Buffer buffer) {
        return hold(Kind.BUFFER, "a buffer", buffer, buffer::isClosed);
    }

    /** A buffer over memory that an extension made; the bench gives it back to its device. */
    public Buffer adopted(Device device, DeviceMemory memory) {
        Buffer buffer = device.adopt(memory, closing -> device.driver().free(closing.memory()));
        return hold(Kind.BUFFER, "memory of an extension", buffer, buffer::isClosed);
    }

    /** A buffer that holds these bytes, where buffers hold data. */
    public Buffer upload(Device device, byte[] data) {
        Buffer buffer = buffer(device, data.length);
        if (Leftovers.hasStorage(device)) {
            buffer.write(0, MemorySegment.ofArray(data));
        }
        return buffer;
    }

    /** A buffer of random elements. */
    public Buffer randomBuffer(Device device, ElementType type, int count) {
        return upload(device, randomBytes(type, count));
    }

    /** A non-blocking stream. */
    public Stream stream(Device device) {
        return stream(device, StreamOptions.defaults());
    }

    /** A stream. */
    public Stream stream(Device device, StreamOptions options) {
        Stream stream = device.createStream(options);
        return hold(Kind.STREAM, "a stream", stream, stream::isClosed);
    }

    /** An event without a time stamp. */
    public Event event(Device device) {
        return event(device, EventOptions.untimed());
    }

    /** An event. */
    public Event event(Device device, EventOptions options) {
        Event event = device.createEvent(options);
        return hold(Kind.EVENT, "an event", event, () -> isClosed(event));
    }

    private static boolean isClosed(Event event) {
        try {
            event.query();
            return false;
        } catch (AcceleratorException refusal) {
            return refusal.code() == ErrorCode.CLOSED;
        }
    }

    /** A communicator over the first devices. */
    public Communicator communicator(int ranks) {
        return communicator(devices(ranks));
    }

    /** A communicator, rank i on the i-th device. */
    public Communicator communicator(List<Device> devices) {
        return closing("a communicator", Communicator.over(platform, devices));
    }

    /** A communicator that somebody else made. */
    public Communicator closing(String what, Communicator communicator) {
        return hold(Kind.COMMUNICATOR, what, communicator, () -> false);
    }

    /** Anything else that is to be closed once, before streams and buffers are. */
    public <T extends AutoCloseable> T closing(String what, T handle) {
        return hold(Kind.OTHER, what, handle, () -> false);
    }

    /** Something to do before anything is closed, whether the proof holds or not. */
    public void atEnd(Runnable ending) {
        endings.add(ending);
    }

    private synchronized <T extends AutoCloseable> T hold(Kind kind, String what, T handle, BooleanSupplier gone) {
        held.add(new Held(kind, what, handle, gone));
        return handle;
    }

    // Data.

    /** The seed of this bench. */
    public long seed() {
        return seed;
    }

    /** Random choices. */
    public RandomGenerator random() {
        return random;
    }

    /** Random elements, none of them zero; each call gives others. */
    public byte[] randomBytes(ElementType type, int count) {
        byte[] bytes = new byte[Math.multiplyExact(count, type.bytes())];
        RandomData.fill(MemorySegment.ofArray(bytes), type, seed, draws++);
        return bytes;
    }

    /** Random bytes, none of them zero or the poison; each call gives others. */
    public byte[] randomBytes(int count) {
        byte[] bytes = randomBytes(ElementType.INT32, (count + 3) / 4);
        byte[] result = new byte[count];
        for (int i = 0; i < count; i++) {
            int value = (bytes[i] * 31 + random.nextInt(256)) & 0xFF;
            result[i] = (byte) (value == 0 || value == (POISON & 0xFF) ? 0x5B : value);
        }
        return result;
    }

    /** The content of a buffer, by a host read. */
    public byte[] download(Buffer buffer) {
        byte[] bytes = new byte[Math.toIntExact(buffer.bytes())];
        buffer.read(MemorySegment.ofArray(bytes), 0);
        return bytes;
    }

    /** A row-major matrix over bytes. */
    public static HostMatrix matrix(byte[] bytes, ElementType type, int rows, int columns) {
        return HostMatrix.rowMajor(MemorySegment.ofArray(bytes), type, rows, columns);
    }

    /** A buffer's bytes as a view of one row. */
    public static BufferView bytes(Buffer buffer) {
        return buffer.vector(buffer.bytes(), ElementType.INT8);
    }

    /** Bytes of one value. */
    public static byte[] filled(int count, int value) {
        byte[] bytes = new byte[count];
        Arrays.fill(bytes, (byte) value);
        return bytes;
    }

    /**
     * Units in the last place by which a sum over ranks may be off, as the collective libraries' own tests allow: {@code 1 + floor(c * n^p)} with c and p of 1.25 and .51 for
     * fp32, .75 and .91 for fp16, .66 and .91 for bf16 and fp8; integers are exact.
     */
    public static long tolerance(ElementType type, int terms) {
        if (!type.isFloating()) {
            return 0;
        }
        return switch (type) {
            case FP32 -> 1 + (long) (1.25 * Math.pow(terms, .51));
            case FP16 -> 1 + (long) (.75 * Math.pow(terms, .91));
            default -> 1 + (long) (.66 * Math.pow(terms, .91));
        };
    }

    // Saying what goes on.

    /** Says what comes next, for the report of a failure or a hang. */
    public void step(String what) {
        step = what;
    }

    /** What the proof said last. */
    public String step() {
        return step;
    }

    // Comparisons.

    /** Requires a condition. */
    public void that(boolean holds, String expected, String actual) {
        if (!holds) {
            throw new RuleBroken(expected, during(actual));
        }
    }

    /** Requires two values to be equal. */
    public void equal(String what, Object expected, Object actual) {
        if (!Objects.equals(expected, actual)) {
            throw new RuleBroken(what + " to be " + expected, during("it is " + actual));
        }
    }

    /** Requires bytes to be equal. */
    public void sameBytes(String what, byte[] expected, byte[] actual) {
        int first = Arrays.mismatch(expected, actual);
        if (first < 0) {
            return;
        }
        if (expected.length != actual.length) {
            throw new RuleBroken(what + " of " + expected.length + " bytes", during(actual.length + " bytes"));
        }
        int wrong = 0;
        int poison = 0;
        for (int i = 0; i < expected.length; i++) {
            if (expected[i] != actual[i]) {
                wrong++;
                poison += actual[i] == POISON ? 1 : 0;
            }
        }
        throw new RuleBroken(
                what + ": byte " + first + " of " + expected.length + " to be " + hex(expected[first]),
                during("it is " + hex(actual[first]) + "; " + wrong + " bytes differ"
                        + (poison == 0 ? "" : ", " + poison + " of them were never written")));
    }

    /** Requires the content of a buffer. */
    public void holds(String what, byte[] expected, Buffer buffer) {
        sameBytes(what, expected, download(buffer));
    }

    /** Requires a result to lie within a tolerance. */
    public void near(String what, Expected expected, HostMatrix actual, long maxUlp) {
        Comparison comparison = expected.compare(actual, maxUlp);
        if (!comparison.right()) {
            Comparison.Mismatch first = comparison.first();
            throw new RuleBroken(
                    what + ": element [" + (first.entry() == 0 ? "" : first.entry() + ", ") + first.row() + ", "
                            + first.column() + "] within " + maxUlp + " ULP of " + first.expected(),
                    during("it is " + first.actual() + ", "
                            + (first.ulps() == Long.MAX_VALUE ? "which cannot be compared" : first.ulps() + " ULP off")
                            + "; " + comparison.wrong() + " of " + comparison.elements() + " elements are wrong"));
        }
    }

    /** Requires a call to be refused with one of these codes. */
    public AcceleratorException refuses(String what, Runnable call, ErrorCode... codes) {
        String expected = what + " to be refused with "
                + String.join(" or ", Arrays.stream(codes).map(Enum::name).toList());
        try {
            call.run();
        } catch (AcceleratorException refusal) {
            if (Arrays.asList(codes).contains(refusal.code())) {
                return refusal;
            }
            throw new RuleBroken(
                    expected, during("it was refused with " + refusal.code() + ": " + refusal.getMessage()));
        } catch (RuleBroken broken) {
            throw broken;
        } catch (RuntimeException other) {
            throw new RuleBroken(expected, during("it threw " + other));
        }
        throw new RuleBroken(expected, during("it was accepted"));
    }

    /**
     * Does what a backend may refuse with UNSUPPORTED, and nothing else.
     *
     * @return whether it was done
     */
    public boolean unlessRefused(Runnable action) {
        try {
            action.run();
            return true;
        } catch (AcceleratorException refusal) {
            if (refusal.code() == ErrorCode.UNSUPPORTED) {
                return false;
            }
            throw refusal;
        }
    }

    /** Polls until something is so. Never gives up by the clock; the watchdog ends a poll that goes on for ever. */
    public void eventually(String what, BooleanSupplier condition) {
        step("polling until " + what);
        for (int polls = 0; !condition.getAsBoolean(); polls++) {
            if (Thread.currentThread().isInterrupted() || polls == MAX_POLLS) {
                throw new RuleBroken(what, during("it is not so after " + polls + " polls"));
            }
            Thread.onSpinWait();
        }
    }

    private String during(String actual) {
        return step.isEmpty() ? actual : actual + " (while: " + step + ")";
    }

    private static String hex(byte value) {
        return String.format("0x%02x", value);
    }

    // Threads.

    /** Runs one body on a thread for each rank and waits for all; the first failure is thrown on. */
    public void together(int ranks, IntConsumer body) {
        AtomicReference<Throwable> first = new AtomicReference<>();
        List<Thread> started = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            int own = rank;
            Thread thread = Thread.ofPlatform()
                    .daemon()
                    .name("conformance rank " + rank)
                    .unstarted(() -> {
                        try {
                            body.accept(own);
                        } catch (Throwable failure) {
                            first.compareAndSet(null, failure);
                        }
                    });
            started.add(thread);
        }
        synchronized (this) {
            threads.addAll(started);
        }
        started.forEach(Thread::start);
        for (Thread thread : started) {
            try {
                thread.join();
            } catch (InterruptedException stopped) {
                started.forEach(Thread::interrupt);
                Thread.currentThread().interrupt();
                throw new RuleBroken("all ranks to come to an end", during("the watchdog stopped them"));
            }
        }
        switch (first.get()) {
            case null -> {}
            case RuntimeException failure -> throw failure;
            case Error failure -> throw failure;
            case Throwable failure -> throw new IllegalStateException(failure);
        }
    }

    /** Threads that the proof started. */
    public synchronized List<Thread> threads() {
        return List.copyOf(threads);
    }

    // The end.

    /**
     * Closes every handle and looks at what is left.
     *
     * @param freeBefore free bytes of every device before the proof
     */
    public Leftovers close(long[] freeBefore) {
        Leftovers leftovers = new Leftovers();
        for (Runnable ending : endings.reversed()) {
            try {
                ending.run();
            } catch (RuntimeException failure) {
                leftovers.closing().add("what a proof had begun could not be ended: " + failure);
            }
        }
        List<Held> order = new ArrayList<>(held.reversed());
        order.sort(Comparator.comparing(Held::kind));
        for (Held one : order) {
            if (one.kind().compareTo(Kind.EVENT) >= 0) {
                break;
            }
            close(one, leftovers);
        }
        for (Guarded guard : guards) {
            if (!guard.whole().isClosed()) {
                try {
                    leftovers.compareGuards(guard.whole(), guard.front(), guard.bytes());
                } catch (RuntimeException unreadable) {
                    // A lost device cannot be read; that is told by the proof that lost it.
                }
            }
        }
        for (Held one : order) {
            if (one.kind().compareTo(Kind.EVENT) >= 0) {
                close(one, leftovers);
            }
        }
        try {
            leftovers.compareFree(platform, freeBefore);
        } catch (RuntimeException unreadable) {
            leftovers.closing().add("asking for free memory: " + unreadable.getMessage());
        }
        return leftovers;
    }

    private static void close(Held one, Leftovers leftovers) {
        try {
            if (!one.gone().getAsBoolean()) {
                one.handle().close();
            }
        } catch (Exception failure) {
            leftovers.closing().add("closing " + one.what() + " threw " + failure);
        }
    }
}
