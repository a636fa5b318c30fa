// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The pool itself, in numbers: an address is an offset in the pool's range, a stream is a small number. {@link DevicePool} puts buffers and streams over it;
 * whoever wants an allocation in nanoseconds and without garbage uses it as it is.
 *
 * <p>Sizes up to 1 MiB come from spans of a stripe (what a per-thread cache is elsewhere) and stream, in constant time; larger ones are best fit in the arena.
 * Safe for any thread. {@link #allocate} and {@link #free} allocate no Java objects once warm.
 */
public final class PoolCore {
    /** Returned by {@link #allocate} when the hard limit stands in the way. */
    public static final long LIMIT_REACHED = -1;

    /** Returned by {@link #allocate} when the source has no more. */
    public static final long DEVICE_EXHAUSTED = -2;

    private static final int SHIFT = SizeClasses.GRANULE_SHIFT;
    private static final int STRIPES_SHIFT = 4;
    private static final int STRIPES = 1 << STRIPES_SHIFT;
    private static final int MOST_STREAMS = 1 << 16;
    /** Heaps that there can be. */
    static final int PLACES = MOST_STREAMS << STRIPES_SHIFT;
    /** Spans that hold nothing may take one part in so many of a large pool before they are given up for the sake of large blocks. */
    private static final long IDLE_SPAN_SHARE = 64;
    /** What is held up to here is not counted: in a small pool a few spans are much. */
    private static final long SMALL_POOL = 1L << 30;
    /** Bytes of addresses that a magazine's entry has room for: 16 TiB. */
    private static final long MOST_RANGE = 1L << 44;

    private final PoolOptions options;
    private final SizeClasses classes;
    private final Stripe[] stripes = new Stripe[STRIPES];
    /** By place; null where there is none yet. One that is there stays, so it may be looked up without a lock. Written under the arena's lock. */
    private Heap[] heaps = new Heap[4 * STRIPES];

    private final Arena arena;
    private final GranuleMap map;
    private final SlotWords words = new SlotWords();
    private final List<ArrayDeque<Span>> spareSpans = new ArrayList<>();
    private long retries;
    private long refusals;
    private long refills;

    public PoolCore(PageSource source, StreamOrder order, PoolOptions options) {
        if (source.rangeBytes() > MOST_RANGE) {
            throw AcceleratorException.invalid(
                    "pool", "a range of " + source.rangeBytes() + " bytes is longer than " + MOST_RANGE);
        }
        this.options = options;
        this.classes = new SizeClasses(options.alignment());
        this.arena = new Arena(source, order, options.segmentBytes());
        this.map = arena.map;
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new Stripe(i);
        }
        for (int i = 0; i < classes.count(); i++) {
            spareSpans.add(new ArrayDeque<>());
        }
    }

    /** The stripe of a span's entry. */
    private Stripe stripeOf(long entry) {
        return stripes[GranuleMap.place(entry) & (STRIPES - 1)];
    }

    /** The span that covers a granule. The caller holds the arena's lock. */
    private Span spanAt(int granule) {
        return words.span(GranuleMap.word(map.at(granule)));
    }

    private static int stripeNumber() {
        return (int) Thread.currentThread().threadId() & (STRIPES - 1);
    }

    private Stripe stripe() {
        return stripes[stripeNumber()];
    }

    /** The place of the heap of a stream and a stripe. */
    static int place(int stream, Stripe stripe) {
        return (stream << STRIPES_SHIFT) | stripe.number;
    }

    /** The heap at a place, null for none. */
    private Heap heap(int place) {
        Heap[] all = heaps;
        return place >= 0 && place < all.length ? all[place] : null;
    }

    /** The heap of a stripe and a stream that is known. The caller holds the stripe's and the arena's lock. */
    private Heap openHeap(Stripe stripe, int stream) {
        int place = place(stream, stripe);
        if (place >= heaps.length) {
            heaps = Arrays.copyOf(heaps, Math.max(place + 1, 2 * heaps.length));
        }
        if (heaps[place] == null) {
            heaps[place] = new Heap(stripe, classes);
            stripe.heaps.add(heaps[place]);
        }
        return heaps[place];
    }

    /**
     * Memory in the order of a stream.
     *
     * @param bytes 1 or more
     * @param stream 0 or more; small, since the pool keeps a table
     * @return the address, or {@link #LIMIT_REACHED} or {@link #DEVICE_EXHAUSTED}
     */
    public long allocate(long bytes, int stream) {
        if (bytes <= 0 || bytes > SizeClasses.MAX_SMALL) {
            return allocateLarge(bytes, stream);
        }
        int asked = (int) bytes;
        int sizeClass = classes.classOf(asked);
        // Loads behind the lock wait for it, so what never changes once it is there is loaded before.
        Heap heap = heap((stream << STRIPES_SHIFT) | stripeNumber());
        if (heap == null) {
            return allocateFromNewSpan(asked, sizeClass, stream);
        }
        Stripe stripe = heap.stripe;
        long[] magazines = heap.magazines;
        int row = Heap.row(sizeClass);
        stripe.lock();
        long head = magazines[row];
        int filled = Heap.filled(head);
        if (filled > 0) {
            magazines[row] = head - 1;
            long entry = magazines[row + filled];
            int number = Span.word(entry);
            words.chunk(number)[SlotWords.offset(number)] = -asked;
            count(stripe, asked);
            stripe.unlock();
            return Span.address(entry);
        }
        Span span = heap.open[sizeClass];
        if (span != null) {
            long address = take(stripe, heap, span, asked);
            stripe.unlock();
            return address;
        }
        stripe.unlock();
        return allocateFromNewSpan(asked, sizeClass, stream);
    }

    private static long take(Stripe stripe, Heap heap, Span span, int asked) {
        long address = span.take(asked);
        if (span.used == 1) {
            heap.empty[span.sizeClass]--;
        }
        if (span.isFull()) {
            heap.unlist(span);
        }
        count(stripe, asked);
        return address;
    }

    private static void count(Stripe stripe, int asked) {
        stripe.allocations++;
        long live = stripe.live + asked;
        stripe.live = live;
        if (live > stripe.maxLive) {
            stripe.maxLive = live;
        }
    }

    /**
     * Frees in the order of a stream.
     *
     * @throws AcceleratorException {@link ErrorCode#CLOSED} for a double free, {@link ErrorCode#INVALID_ARGUMENT} for an address that is not this pool's
     */
    public void free(long address, int stream) {
        long granule = address >>> SHIFT;
        long entry = map.at(granule);
        if (entry < GranuleMap.SPAN) {
            freeLarge(address, stream);
            return;
        }
        // Loads behind the lock wait for it, so all is looked up before. It stays so while a slot is out; a faulty free
        // may meet a span that another thread gives up and opens elsewhere, which is seen behind the lock.
        int place = GranuleMap.place(entry);
        Heap heap = heap(place);
        int sizeClass = GranuleMap.sizeClass(entry);
        int slot = classes.slotAt(sizeClass, (GranuleMap.before(entry) << SHIFT) + ((int) address & (1 << SHIFT) - 1));
        if (slot >= 0 && place >>> STRIPES_SHIFT == stream && heap != null) {
            Stripe stripe = heap.stripe;
            int number = GranuleMap.word(entry) + slot;
            int[] chunk = words.chunk(number);
            int at = SlotWords.offset(number);
            long[] magazines = heap.magazines;
            int row = Heap.row(sizeClass);
            stripe.lock();
            int asked = -chunk[at];
            if (map.at(granule) == entry && asked > 0 && asked <= SizeClasses.MAX_SMALL) {
                stripe.frees++;
                stripe.live -= asked;
                chunk[at] = 0;
                long head = magazines[row];
                if (Heap.isFull(head)) {
                    unload(stripe, heap, sizeClass, Heap.filled(head) >> 1);
                    head = magazines[row];
                }
                magazines[row] = head + 1;
                magazines[row + Heap.filled(head) + 1] = Span.entry(address, number);
                stripe.unlock();
                return;
            }
            stripe.unlock();
        }
        freeSlot(address, stream, entry);
    }

    /** Puts the oldest slots of a magazine back to their spans until so many are left. */
    private void unload(Stripe stripe, Heap heap, int sizeClass, int left) {
        int row = Heap.row(sizeClass);
        int gone = Heap.filled(heap.magazines[row]) - left;
        for (int i = 1; i <= gone; i++) {
            Span span = putBack(Span.word(heap.magazines[row + i]));
            if (span.used == 0 && heap.empty[sizeClass] > 1) {
                arena.lock();
                arena.note(stripe);
                giveUp(span);
                arena.unlock();
            }
        }
        System.arraycopy(heap.magazines, row + 1 + gone, heap.magazines, row + 1, left);
        heap.magazines[row] -= gone;
    }

    /** Puts a slot back to its span, which may be empty then. */
    private Span putBack(int word) {
        Span span = words.span(word);
        span.putBack(word - span.number);
        if (!span.listed) {
            span.heap.list(span);
        }
        if (span.used == 0) {
            span.heap.empty[span.sizeClass]++;
        }
        return span;
    }

    /** Returns an empty span to the arena. The caller holds its stripe's and the arena's lock. */
    private void giveUp(Span span) {
        Heap heap = span.heap;
        heap.unlist(span);
        heap.empty[span.sizeClass]--;
        heap.spans--;
        span.stripe.spanBytes -= (long) span.granules << SHIFT;
        map.set((int) (span.start >> SHIFT), span.granules, GranuleMap.FREED);
        arena.free(span.block, span.stream);
        span.stripe = null;
        spareSpans.get(span.sizeClass).push(span);
    }

    /** The rare ways of freeing a slot: a fault, another stream, or uses elsewhere. */
    private void freeSlot(long address, int stream, long entry) {
        Stripe stripe = stripeOf(entry);
        stripe.lock();
        arena.lock();
        try {
            if (map.at(address >>> SHIFT) != entry) {
                throw wrongFree(address, true);
            }
            Span span = words.span(GranuleMap.word(entry));
            int slot = span.slotAt(address);
            int word = slot < 0 ? 0 : -span.words[span.first + slot];
            if (word <= 0 || (word & Span.DEFERRED) != 0) {
                throw wrongFree(address, slot >= 0);
            }
            openStream(stream);
            int asked = word & Span.ASKED;
            stripe.frees++;
            stripe.live -= asked;
            span.words[span.first + slot] = -(asked | Span.DEFERRED);
            arena.note(stripe);
            arena.defer(address, stream == span.stream ? -1 : stream);
            poll(stripe);
        } finally {
            arena.unlock();
            stripe.unlock();
        }
    }

    private void freeLarge(long address, int stream) {
        Stripe stripe = stripe();
        stripe.lock();
        arena.lock();
        try {
            arena.note(stripe);
            long granule = address >>> SHIFT;
            long entry = outAt(address);
            openStream(stream);
            if (entry < 0 && entry != GranuleMap.FREED) {
                long asked = arena.freePlanned((int) granule, entry, stream);
                if (asked > 0) {
                    stripe.frees++;
                    arena.total -= asked;
                    return;
                }
                entry = asked == 0 ? GranuleMap.FREED : map.at(granule);
            }
            int block = liveBlock(entry, granule);
            if (block == 0) {
                throw wrongFree(address, entry == GranuleMap.FREED || entry > 0);
            }
            stripe.frees++;
            arena.total -= arena.blocks.asked(block);
            arena.largeLiveBytes -= (long) arena.blocks.length(block) << SHIFT;
            arena.noteFree(block, stream);
            if (arena.blocks.usedElsewhere(block)) {
                arena.blocks.state(block, Blocks.DEFERRED);
                arena.blocks.owner(block, stream + 1, 0);
                arena.defer(address, -1);
                poll(stripe);
            } else {
                map.set((int) granule, GranuleMap.FREED);
                arena.free(block, stream);
            }
        } finally {
            arena.unlock();
            stripe.unlock();
        }
    }

    /** What the map has at an address where a block may start, 0 for none. The caller holds the arena's lock. */
    private long outAt(long address) {
        long granule = address >>> SHIFT;
        return (address & ((1L << SHIFT) - 1)) == 0 && granule < arena.topGranule() ? map.at(granule) : 0;
    }

    /** The block of an entry, when it is one that is out and starts at the granule; 0 otherwise. */
    private int liveBlock(long entry, long granule) {
        if (entry <= 0 || entry >= GranuleMap.SPAN) {
            return 0;
        }
        int block = (int) entry;
        return arena.blocks.state(block) == Blocks.LIVE && arena.blocks.start(block) == granule ? block : 0;
    }

    private AcceleratorException wrongFree(long address, boolean known) {
        String where = "address 0x" + Long.toHexString(address) + " of pool " + options.name();
        return known
                ? new AcceleratorException(ErrorCode.CLOSED, "free", where + " was freed before (double free)")
                : AcceleratorException.invalid("free", where + " is no start of a buffer of this pool (foreign free)");
    }

    // ---------------------------------------------------------------- slow allocation

    private void openStream(int stream) {
        if (stream < 0 || stream >= MOST_STREAMS) {
            throw AcceleratorException.invalid(
                    "stream", "stream number " + stream + " is not in 0.." + (MOST_STREAMS - 1));
        }
        if (!arena.knows(stream)) {
            arena.openStream(stream);
        }
    }

    private long allocateFromNewSpan(int asked, int sizeClass, int stream) {
        Stripe stripe = stripe();
        stripe.lock();
        arena.lock();
        try {
            arena.note(stripe);
            openStream(stream);
            Heap heap = openHeap(stripe, stream);
            if (arena.deferredCount > 0) {
                poll(stripe);
            }
            Span span = heap.open[sizeClass];
            if (span == null) {
                refills++;
                if (stripe.spanBytes >= stripe.flushAt) {
                    flush(stripe);
                    long more = Math.max(stripe.spanBytes / 2, (arena.reserved - SMALL_POOL) / IDLE_SPAN_SHARE);
                    stripe.flushAt = Math.max(Stripe.FEW_SPANS, stripe.spanBytes + more);
                }
                int granules = classes.granules(sizeClass);
                long block = obtainForSpan(granules, stream, stripe);
                if (block <= 0) {
                    return refused(block);
                }
                span = heap.open[sizeClass];
                if (span == null) {
                    span = openSpan(stripe, heap, sizeClass, stream, (int) block);
                } else {
                    // A deferred free came back while room was made.
                    arena.blocks.owner((int) block, stream + 1, 0);
                    arena.free((int) block, stream);
                }
            }
            long address = take(stripe, heap, span, asked);
            arena.note(stripe);
            return address;
        } finally {
            arena.unlock();
            stripe.unlock();
        }
    }

    private long obtainForSpan(int granules, int stream, Stripe stripe) {
        int block = arena.takeForSpan(granules, stream, false);
        if (block != 0) {
            return block;
        }
        if (arena.reserved + PoolOptions.SEGMENT_STEP <= options.softLimit()) {
            long region = obtain(Arena.REGION, stream, stripe);
            if (region > 0) {
                return arena.cutRegion((int) region, granules);
            }
        }
        block = arena.takeForSpan(granules, stream, true);
        return block != 0 ? block : obtain(granules, stream, stripe);
    }

    private Span openSpan(Stripe stripe, Heap heap, int sizeClass, int stream, int block) {
        Span span = spareSpans.get(sizeClass).poll();
        if (span == null) {
            span = new Span(sizeClass, classes, words);
        }
        int start = arena.blocks.start(block);
        span.open(stripe, heap, stream, block, (long) start << SHIFT);
        arena.blocks.handOut(block, Blocks.SPAN, 0, stream + 1, -1, 0);
        map.set(span);
        heap.list(span);
        heap.empty[sizeClass]++;
        heap.spans++;
        stripe.spanBytes += (long) span.granules << SHIFT;
        return span;
    }

    private long allocateLarge(long bytes, int stream) {
        if (bytes < 1) {
            throw AcceleratorException.invalid("allocate", "size must be at least 1 byte, not " + bytes);
        }
        long granules = ((bytes - 1) >> SHIFT) + 1;
        Stripe stripe = stripe();
        stripe.lock();
        arena.lock();
        try {
            arena.note(stripe);
            openStream(stream);
            if (granules > Integer.MAX_VALUE >> 1) {
                refusals++;
                return options.hardLimit() < bytes ? LIMIT_REACHED : DEVICE_EXHAUSTED;
            }
            int operation = arena.noteAllocation((int) granules, stream);
            int start = arena.place(operation, bytes, stream);
            if (start < 0) {
                long block = arena.take((int) granules, stream);
                if (block == 0) {
                    block = obtain((int) granules, stream, stripe);
                    if (block <= 0) {
                        return refused(block);
                    }
                }
                arena.handOut((int) block, bytes, stream, operation);
                start = arena.blocks.start((int) block);
            }
            stripe.allocations++;
            arena.total += bytes;
            arena.peak = Math.max(arena.peak, arena.total);
            return (long) start << SHIFT;
        } finally {
            arena.unlock();
            stripe.unlock();
        }
    }

    private long refused(long code) {
        refusals++;
        return code == 0 ? LIMIT_REACHED : DEVICE_EXHAUSTED;
    }

    /**
     * A block, by ever costlier means: what is free, what streams have passed, idle spans, a wait on another stream, memory from the device up to the soft limit,
     * idle memory moved, memory up to the hard limit, and waiting for all streams. Returns the block, 0 for the limit, or -1 for the device.
     */
    private long obtain(int granules, int stream, Stripe stripe) {
        int block = arena.take(granules, stream);
        if (block != 0) {
            return block;
        }
        if (arena.marks.streams() > 1 || arena.deferredCount > 0) {
            poll(stripe);
            block = arena.take(granules, stream);
            if (block == 0 && arena.sweepIfDue()) {
                block = arena.take(granules, stream);
            }
            if (block != 0) {
                return block;
            }
        }
        if (flushSpans(stripe)) {
            block = arena.take(granules, stream);
            if (block != 0) {
                return block;
            }
        }
        if (options.waitAcrossStreams()) {
            block = arena.takeForeign(granules, stream);
            if (block != 0) {
                return block;
            }
        }
        if (arena.marks.streams() == 1) {
            settle(stripe);
        }
        block = arena.grow(granules, stream, options.softLimit());
        return block > 0 ? block : obtainUnderPressure(granules, stream, stripe);
    }

    private long obtainUnderPressure(int granules, int stream, Stripe stripe) {
        long bytes = ((long) granules << SHIFT) + (1L << (SHIFT + arena.stepShift));
        settle(stripe);
        int grown = 0;
        for (int coolest = Tiers.COLD; coolest >= Tiers.HOT; coolest--) {
            if (coolest == Tiers.HOT && grown == 0 && options.hardLimit() > options.softLimit()) {
                // The hottest tier is kept while there is room up to the hard limit.
                grown = arena.grow(granules, stream, options.hardLimit());
                if (grown > 0) {
                    return grown;
                }
            }
            long limit = coolest == Tiers.HOT ? options.hardLimit() : options.softLimit();
            arena.giveBack(Math.max(0, Math.min(limit, arena.reserved) - bytes), coolest, -1, 0);
            grown = arena.grow(granules, stream, limit);
            if (grown > 0) {
                return grown;
            }
        }
        if (arena.dissolveAll()) {
            int block = arena.take(granules, stream);
            if (block != 0) {
                return block;
            }
        }
        int block = arena.takeForeign(granules, stream);
        if (block != 0) {
            retries++;
            return block;
        }
        // Waiting before giving up turns many refusals into successes.
        arena.marks.synchronize();
        poll(stripe);
        arena.sweep();
        block = arena.take(granules, stream);
        if (block == 0) {
            arena.giveBack(Math.max(0, Math.min(options.hardLimit(), arena.reserved) - bytes), Tiers.HOT, -1, 0);
            block = arena.grow(granules, stream, options.hardLimit());
            if (block <= 0) {
                return block;
            }
        }
        retries++;
        return block;
    }

    /** Asks how far the streams are, and takes back what has passed. The caller holds one stripe's and the arena's lock. */
    private void poll(Stripe held) {
        arena.sweepDue |= arena.marks.poll();
        if (arena.deferredCount > 0) {
            for (int stream = 0; stream < arena.marks.streams(); stream++) {
                MarkedQueue queue = arena.deferred(stream);
                while (queue != null && !queue.isEmpty() && arena.marks.isPassed(stream, queue.firstTag())) {
                    if (!comeBack(queue.firstAddress(), held)) {
                        break;
                    }
                    queue.removeFirst();
                }
            }
        }
    }

    /** The same, and joins what everybody may have now. */
    private void settle(Stripe held) {
        poll(held);
        arena.sweepIfDue();
    }

    /** One stream has passed a deferred address; false when its stripe is busy, so that it must be tried again. */
    private boolean comeBack(long entry, Stripe held) {
        long address = entry < 0 ? ~entry : entry;
        long known = map.at(address >>> SHIFT);
        if (known < GranuleMap.SPAN) {
            if (arena.isLastWait(entry)) {
                int block = (int) known;
                map.set((int) (address >>> SHIFT), GranuleMap.FREED);
                arena.free(block, arena.blocks.owner(block) - 1);
                arena.deferredCount--;
            }
            return true;
        }
        Stripe stripe = stripeOf(known);
        if (stripe != held && !stripe.tryLock()) {
            return false;
        }
        if (arena.isLastWait(entry)) {
            Span span = words.span(GranuleMap.word(known));
            putBack(span.number + span.slotAt(address));
            if (span.used == 0 && span.heap.empty[span.sizeClass] > 1) {
                giveUp(span);
            }
            arena.deferredCount--;
        }
        if (stripe != held) {
            stripe.unlock();
        }
        return true;
    }

    /** Gives empty spans up, of every stripe that is not busy. Says whether there were any. The caller holds one stripe's and the arena's lock. */
    private boolean flushSpans(Stripe held) {
        boolean any = false;
        for (Stripe stripe : stripes) {
            if (stripe != held && !stripe.tryLock()) {
                continue;
            }
            any |= flush(stripe);
            if (stripe != held) {
                stripe.unlock();
            }
        }
        return any;
    }

    /** Gives empty spans up, of stripes that served nothing since the last time: a thread or a stream that has ended keeps no memory. */
    private void flushResting(Stripe held) {
        for (Stripe stripe : stripes) {
            if (stripe.spanBytes == 0 || (stripe != held && !stripe.tryLock())) {
                continue;
            }
            if (stripe.allocations == stripe.allocationsAtUpkeep) {
                flush(stripe);
            }
            stripe.allocationsAtUpkeep = stripe.allocations;
            if (stripe != held) {
                stripe.unlock();
            }
        }
    }

    private boolean flush(Stripe stripe) {
        boolean any = false;
        for (Heap heap : stripe.heaps) {
            if (heap.spans > 0) {
                any |= flush(heap);
            }
        }
        return any;
    }

    private boolean flush(Heap heap) {
        boolean any = false;
        for (int sizeClass = 0; sizeClass < heap.classes(); sizeClass++) {
            int row = Heap.row(sizeClass);
            int filled = Heap.filled(heap.magazines[row]);
            for (int i = filled; i > 0; i--) {
                putBack(Span.word(heap.magazines[row + i]));
            }
            heap.magazines[row] -= filled;
        }
        for (Span head : heap.open) {
            Span next;
            for (Span span = head; span != null; span = next) {
                next = span.next;
                if (span.used == 0) {
                    giveUp(span);
                    any = true;
                }
            }
        }
        return any;
    }

    // ---------------------------------------------------------------- upkeep

    /**
     * Tells that work issued to a stream uses memory which is out; its free then also waits for what is issued to that stream until then.
     *
     * @throws AcceleratorException {@link ErrorCode#INVALID_ARGUMENT} when the address is not out
     */
    public void recordUse(long address, int stream) {
        long granule = address >>> SHIFT;
        long entry = map.at(granule);
        Stripe stripe = entry < GranuleMap.SPAN ? stripe() : stripeOf(entry);
        stripe.lock();
        arena.lock();
        try {
            openStream(stream);
            if (entry >= GranuleMap.SPAN && map.at(granule) == entry) {
                Span span = words.span(GranuleMap.word(entry));
                int slot = span.slotAt(address);
                int word = slot < 0 ? 0 : -span.words[span.first + slot];
                if (word > 0 && word < Span.DEFERRED) {
                    if (stream != span.stream) {
                        span.words[span.first + slot] = -(word | Span.USED_ELSEWHERE);
                        arena.addUse(address, stream);
                    }
                    return;
                }
            } else {
                entry = outAt(address);
                if (entry < 0 && entry != GranuleMap.FREED) {
                    // A layout that is learned knows one stream only.
                    arena.dissolve(Arena.planStream(entry));
                    entry = map.at(granule);
                }
                int block = liveBlock(entry, granule);
                if (block != 0) {
                    if (stream != arena.blocks.owner(block) - 1) {
                        arena.blocks.usedElsewhere(block, true);
                        arena.addUse(address, stream);
                    }
                    return;
                }
            }
        } finally {
            arena.unlock();
            stripe.unlock();
        }
        throw AcceleratorException.invalid(
                "record use", "address 0x" + Long.toHexString(address) + " of pool " + options.name() + " is not out");
    }

    /**
     * Ends an iteration: layouts are learned, tiers move, idle memory goes back.
     *
     * @param now ns of the platform's clock
     */
    public void nextIteration(long now) {
        Stripe stripe = stripe();
        stripe.lock();
        arena.lock();
        try {
            arena.note(stripe);
            if (arena.isAboutToLearn()) {
                // Idle spans would stand in the layout's way.
                flushSpans(stripe);
            }
            settle(stripe);
            arena.nextIteration();
            flushResting(stripe);
            // What those two freed is idle from now on, if its stream has passed.
            settle(stripe);
            arena.giveBackIdle(options.idleNanos(), now);
        } finally {
            arena.unlock();
            stripe.unlock();
        }
    }

    /**
     * Hands memory back that is COLD and was idle for long enough.
     *
     * @param now ns of the platform's clock
     * @return bytes handed back
     */
    public long giveBackIdle(long now) {
        return giveBack(now, false);
    }

    /** Hands everything back that is idle and that every stream has passed. Returns the bytes. */
    public long trim() {
        return giveBack(0, true);
    }

    private long giveBack(long now, boolean all) {
        Stripe stripe = stripe();
        stripe.lock();
        arena.lock();
        try {
            long before = arena.reserved;
            settle(stripe);
            if (all) {
                arena.dissolveAll();
                flushSpans(stripe);
                settle(stripe);
                // What is given back leaves parts of pages beside it, which may join into whole ones.
                long left;
                do {
                    left = arena.reserved;
                    arena.sweep();
                    arena.giveBack(0, Tiers.HOT, -1, 0);
                } while (arena.reserved < left);
            } else {
                flushResting(stripe);
                arena.giveBackIdle(options.idleNanos(), now);
            }
            return before - arena.reserved;
        } finally {
            arena.unlock();
            stripe.unlock();
        }
    }

    /** Waits until every stream has passed everything, so that all that was freed is free for everybody. */
    public void synchronize() {
        Stripe stripe = stripe();
        stripe.lock();
        arena.lock();
        try {
            arena.marks.synchronize();
            poll(stripe);
            arena.sweep();
        } finally {
            arena.unlock();
            stripe.unlock();
        }
    }

    /** Largest request that free memory could serve now without growing, bytes, whoever may have it. */
    public long largestFree() {
        arena.lock();
        try {
            return (long) arena.largestFree() << SHIFT;
        } finally {
            arena.unlock();
        }
    }

    /** Bytes reserved now. */
    public long reservedBytes() {
        return arena.reserved;
    }

    /** Figures now. Walks the pool's blocks and spans. */
    public PoolStatistics statistics() {
        for (Stripe stripe : stripes) {
            stripe.lock();
        }
        arena.lock();
        try {
            long allocations = 0;
            long frees = 0;
            long spanBytes = 0;
            for (Stripe stripe : stripes) {
                arena.note(stripe);
                allocations += stripe.allocations;
                frees += stripe.frees;
                spanBytes -= magazineBytes(stripe);
            }
            long[] tierBytes = new long[3];
            for (int block = arena.firstBlock(); block != 0; block = arena.blocks.next(block)) {
                if (arena.blocks.state(block) == Blocks.SPAN) {
                    Span span = spanAt(arena.blocks.start(block));
                    spanBytes += (long) span.used * span.size;
                } else if (arena.blocks.state(block) == Blocks.FREE || arena.blocks.state(block) == Blocks.PLAN) {
                    for (int at = arena.blocks.start(block); at < arena.blocks.end(block); ) {
                        int step = at >> arena.stepShift;
                        int end = Math.min(arena.blocks.end(block), (step + 1) << arena.stepShift);
                        tierBytes[arena.tiers.tier(step)] += (long) (end - at) << SHIFT;
                        at = end;
                    }
                }
            }
            long smallHits = allocations - refills - arena.planned - arena.misses;
            long hot = arena.tiers.hits[Tiers.HOT];
            long warm = arena.tiers.hits[Tiers.WARM];
            long cold = arena.tiers.hits[Tiers.COLD];
            smallHits -= hot + warm + cold;
            return new PoolStatistics(
                    allocations,
                    frees,
                    allocations - frees,
                    arena.total,
                    arena.peak,
                    spanBytes + arena.largeLiveBytes,
                    arena.reserved,
                    arena.peakReserved,
                    arena.obtained,
                    arena.givenBack,
                    arena.marks.recorded(),
                    arena.waits,
                    arena.deferredTotal,
                    retries,
                    refusals,
                    new PoolStatistics.Tier(tierBytes[Tiers.HOT], hot + arena.planned + Math.max(0, smallHits)),
                    new PoolStatistics.Tier(tierBytes[Tiers.WARM], warm),
                    new PoolStatistics.Tier(tierBytes[Tiers.COLD], cold),
                    arena.misses,
                    arena.planned,
                    arena.deviations);
        } finally {
            arena.unlock();
            for (Stripe stripe : stripes) {
                stripe.unlock();
            }
        }
    }

    private long magazineBytes(Stripe stripe) {
        long bytes = 0;
        for (Heap heap : stripe.heaps) {
            for (int sizeClass = 0; sizeClass < heap.classes(); sizeClass++) {
                bytes += (long) Heap.filled(heap.magazines[Heap.row(sizeClass)]) * classes.size(sizeClass);
            }
        }
        return bytes;
    }

    /**
     * Memory that is out.
     *
     * @param address where it starts
     * @param bytes as asked for
     * @param stream on which it was allocated
     */
    public record Live(long address, long bytes, int stream) {}

    /** What is out, largest first, no more than so many. */
    public List<Live> live(int most) {
        for (Stripe stripe : stripes) {
            stripe.lock();
        }
        arena.lock();
        try {
            List<Live> live = new ArrayList<>();
            for (int block = arena.firstBlock(); block != 0; block = arena.blocks.next(block)) {
                int start = arena.blocks.start(block);
                if (arena.blocks.state(block) == Blocks.LIVE) {
                    live.add(new Live((long) start << SHIFT, arena.blocks.asked(block), arena.blocks.owner(block) - 1));
                } else if (arena.blocks.state(block) == Blocks.SPAN) {
                    Span span = spanAt(start);
                    for (int slot = 0; slot < span.untouched; slot++) {
                        int word = -span.words[span.first + slot];
                        if (word > 0 && word < Span.DEFERRED) {
                            live.add(new Live(span.start + (long) slot * span.size, word & Span.ASKED, span.stream));
                        }
                    }
                }
            }
            arena.addPlanned(live);
            live.sort(
                    (a, b) -> a.bytes != b.bytes ? Long.compare(b.bytes, a.bytes) : Long.compare(a.address, b.address));
            return List.copyOf(live.subList(0, Math.min(most, live.size())));
        } finally {
            arena.unlock();
            for (Stripe stripe : stripes) {
                stripe.unlock();
            }
        }
    }

    /** One piece of the pool's range in a snapshot. */
    public enum Use {
        /** A buffer above 1 MiB. */
        BUFFER,
        /** A span of small buffers. */
        SPAN,
        /** Free. */
        FREE,
        /** Held for a learned layout. */
        LAYOUT,
        /** Freed, waits for a stream. */
        DEFERRED,
        /** No memory behind it. */
        VOID
    }

    /**
     * One piece of the pool's range.
     *
     * @param start bytes from the range's start
     * @param bytes its length
     * @param use what it is
     * @param usedBytes bytes of it that are out
     */
    public record Piece(long start, long bytes, Use use, long usedBytes) {}

    /** The whole range in address order, for drawings. */
    public List<Piece> snapshot() {
        arena.lock();
        try {
            List<Piece> pieces = new ArrayList<>();
            for (int block = arena.firstBlock(); block != 0; block = arena.blocks.next(block)) {
                long start = (long) arena.blocks.start(block) << SHIFT;
                long bytes = (long) arena.blocks.length(block) << SHIFT;
                Use use = switch (arena.blocks.state(block)) {
                    case Blocks.FREE -> Use.FREE;
                    case Blocks.LIVE -> Use.BUFFER;
                    case Blocks.SPAN -> Use.SPAN;
                    case Blocks.PLAN -> Use.LAYOUT;
                    case Blocks.DEFERRED -> Use.DEFERRED;
                    default -> Use.VOID;
                };
                long used = switch (use) {
                    case BUFFER -> arena.blocks.asked(block);
                    case SPAN -> {
                        Span span = spanAt(arena.blocks.start(block));
                        yield (long) span.out() * span.size;
                    }
                    default -> 0;
                };
                pieces.add(new Piece(start, bytes, use, used));
            }
            return pieces;
        } finally {
            arena.unlock();
        }
    }
}
