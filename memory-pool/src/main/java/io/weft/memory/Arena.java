// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * A pool's address range in granules: best fit with coalescing over blocks of memory, growth and return in steps of the source, stream order of free blocks. All
 * of it is guarded by its own lock, which is taken after a stripe's and never the other way round.
 */
final class Arena extends SpinLock {
    static final int SHIFT = SizeClasses.GRANULE_SHIFT;
    /** Streams below this can have a learned layout. */
    static final int LAYOUTS = 64;
    /** Granules of a region that is kept for spans: 2 MiB. */
    static final int REGION = 1 << (21 - SHIFT);
    /** Granules from which on a hole is too good for one span, 16 MiB: there a whole region is cut. */
    private static final int ROOMY = 1 << (24 - SHIFT);
    /** Free blocks of another stream that are looked at for one that it has passed. */
    private static final int MOST_LOOKED = 16;
    /** The pool moves pages rather than grow beyond peak live bytes and one part in so many of them. */
    private static final long SLACK_SHARE = 128;
    /** Holes closed at the end of one iteration, each with two device calls: some 20 ms where those are dear, and in the first iterations only. */
    private static final int MOST_MOVES = 512;

    // What every call writes comes first, where it is on the lock's line of the cache, which changes hands anyway.

    /** Live bytes and their peak as of the last note of each stripe. */
    long total;

    long peak;
    long largeLiveBytes;

    final PageSource source;
    final Marks marks;
    final Blocks blocks = new Blocks();
    final Tiers tiers = new Tiers();
    private final IdleTime idleTime = new IdleTime();
    final long segmentBytes;
    final int stepShift;

    /** By granule: the block that starts there, the span over it, or minus one minus (operation times 64 plus stream) for a block of a learned layout. */
    final GranuleMap map = new GranuleMap();

    private FreeBins[] bins = new FreeBins[4];
    private Layout[] layouts = new Layout[4];
    private MarkedQueue[] deferred = new MarkedQueue[4];
    /** Streams that an address which is out, or deferred, still waits for. */
    private final Map<Long, int[]> uses = new HashMap<>();
    /** Starts of separate pieces of memory, granule to length; blocks never span two. Empty for a contiguous source. */
    private final Map<Integer, Integer> segments = new HashMap<>();

    private int first;
    private int last;
    private int top;
    private int voids;
    /** Whether pages were moved since the last look at holes. */
    private boolean moved;

    /** Whether a stream has passed a mark since the last sweep. */
    boolean sweepDue;

    int deferredCount;
    long deferredTotal;
    long reserved;
    long peakReserved;
    long obtained;
    long givenBack;
    long waits;
    long misses;
    long planned;
    long deviations;

    Arena(PageSource source, StreamOrder order, long segmentBytes) {
        this.source = source;
        this.marks = new Marks(order);
        this.segmentBytes = Math.max(segmentBytes, source.stepBytes());
        this.stepShift = Long.numberOfTrailingZeros(source.stepBytes()) - SHIFT;
        bins[0] = new FreeBins(blocks);
        bins[1] = new FreeBins(blocks);
    }

    /** The bin for blocks like this one. */
    private FreeBins bin(int block) {
        return bins[2 * blocks.owner(block) + blocks.small(block)];
    }

    void openStream(int stream) {
        marks.open(stream);
        int at = 2 * (stream + 1);
        if (at + 1 >= bins.length) {
            bins = Arrays.copyOf(bins, 2 * (at + 2));
        }
        if (bins[at] == null) {
            bins[at] = new FreeBins(blocks);
            bins[at + 1] = new FreeBins(blocks);
        }
        if (stream >= deferred.length) {
            deferred = Arrays.copyOf(deferred, 2 * (stream + 1));
            layouts = Arrays.copyOf(layouts, 2 * (stream + 1));
        }
        if (deferred[stream] == null) {
            deferred[stream] = new MarkedQueue();
            layouts[stream] = stream < LAYOUTS ? new Layout() : null;
        }
    }

    boolean knows(int stream) {
        return 2 * stream + 3 < bins.length && bins[2 * stream + 2] != null;
    }

    /** Takes note of what a stripe did since the last time. The caller holds the stripe's lock. */
    void note(Stripe stripe) {
        peak = Math.max(peak, total + stripe.maxLive - stripe.noted);
        total += stripe.live - stripe.noted;
        stripe.noted = stripe.live;
        stripe.maxLive = stripe.live;
    }

    // ---------------------------------------------------------------- taking and freeing blocks

    /** The best fit among what the stream may have, cut to length and out of its bin; 0 for none. */
    int take(int granules, int stream) {
        return take(granules, stream, 0);
    }

    /**
     * The same for a span: from a region of spans, so that spans, which may live long, stand in no large block's way; or from a small hole; or of a new region.
     *
     * @param anywhere whether a place outside of such regions will do, where there is nothing else
     */
    int takeForSpan(int granules, int stream, boolean anywhere) {
        int block = take(granules, stream, 1);
        if (block != 0) {
            return block;
        }
        int hole = best(granules, stream, 0);
        if (hole != 0 && blocks.length(hole) < ROOMY) {
            return claim(hole, granules);
        }
        block = take(REGION, stream, 0);
        if (block == 0) {
            return anywhere ? take(granules, stream, 0) : 0;
        }
        return cutRegion(block, granules);
    }

    /** Keeps what a span needs of a block and makes the rest a region for spans. */
    int cutRegion(int block, int granules) {
        blocks.small(block, 1);
        if (blocks.length(block) > granules) {
            int rest = splitKeepingLast(block, granules);
            blocks.state(block, Blocks.SPAN);
            join(rest);
        }
        return block;
    }

    private int best(int granules, int stream, int small) {
        int own = bins[2 * stream + 2 + small].find(granules);
        int clean = bins[small].find(granules);
        int best = own == 0 || (clean != 0 && blocks.length(clean) < blocks.length(own)) ? clean : own;
        return best != 0 || marks.streams() == 1 ? best : bestPassed(granules, stream, small);
    }

    /**
     * The best fit among what other streams freed and are known to have passed; 0 for none. Streams so take from each other only what they need, and each
     * thread works on its own part of the pool.
     */
    private int bestPassed(int granules, int stream, int small) {
        int best = 0;
        for (int owner = 1; owner <= marks.streams(); owner++) {
            FreeBins bin = owner == stream + 1 ? null : bins[2 * owner + small];
            int block = bin == null ? 0 : bin.find(granules);
            for (int looked = 1; block != 0 && !marks.isPassed(owner - 1, blocks.mark(block)); looked++) {
                block = looked == MOST_LOOKED ? 0 : bin.after(block);
            }
            if (block != 0 && (best == 0 || blocks.length(block) < blocks.length(best))) {
                best = block;
            }
        }
        return best;
    }

    private int take(int granules, int stream, int small) {
        int block = best(granules, stream, small);
        return block == 0 ? 0 : claim(block, granules);
    }

    private int claim(int block, int granules) {
        FreeBins bin = bin(block);
        bin.remove(block);
        if (blocks.length(block) > granules) {
            bin.add(splitKeepingLast(block, granules));
        }
        // Its steps count as used when it is freed, or at the end of the iteration when it is still out.
        tiers.hits[tiers.tier(blocks.start(block) >> stepShift)]++;
        return block;
    }

    /** Frees a block in the order of a stream. */
    void free(int block, int stream) {
        int start = blocks.start(block);
        tiers.touch(start >> stepShift, (start + blocks.length(block) - 1) >> stepShift);
        blocks.free(block, stream + 1, marks.tag(stream));
        join(block);
        if (marks.streams() > 1) {
            marks.record(stream);
        }
    }

    /** Joins a free block which is in no bin with its free neighbours, puts the whole in its bin, and returns it. */
    private int join(int block) {
        int result = block;
        boolean waits = effectiveOwner(block) != 0;
        // More than one on each side: a neighbour whose stream has passed may have others beside it that it could not
        // join before.
        for (int previous = blocks.previous(result);
                previous != 0 && canJoin(previous, result, waits);
                previous = blocks.previous(result)) {
            bin(previous).remove(previous);
            absorb(previous, result);
            result = previous;
        }
        for (int next = blocks.next(result); next != 0 && canJoin(result, next, waits); next = blocks.next(result)) {
            bin(next).remove(next);
            absorb(result, next);
        }
        if (isOrphan(result)) {
            blocks.small(result, 0);
            return join(result);
        }
        bin(result).add(result);
        return result;
    }

    /** Whether a block is of a region for spans of which nothing else is left. */
    private boolean isOrphan(int block) {
        return blocks.small(block) != 0
                && blocks.small(blocks.previous(block)) == 0
                && blocks.small(blocks.next(block)) == 0;
    }

    /**
     * Whether two neighbours may be one.
     *
     * @param waits whether the one that is to be joined with others waits for its stream; what streams have passed may then come to wait with it
     */
    private boolean canJoin(int left, int right, boolean waits) {
        if (blocks.state(left) != Blocks.FREE || blocks.state(right) != Blocks.FREE) {
            return false;
        }
        if (blocks.small(left) != blocks.small(right)) {
            return false;
        }
        if (!segments.isEmpty() && segments.containsKey(blocks.start(right))) {
            return false;
        }
        int a = effectiveOwner(left);
        int b = effectiveOwner(right);
        // With one stream there is nobody to keep memory from.
        if (a == b || (marks.streams() == 1 && (a == 0 || b == 0))) {
            return true;
        }
        // What everybody may have waits for a stream again only where that stream adds as much to it.
        return waits
                && (a == 0
                        ? blocks.length(left) <= blocks.length(right)
                        : b == 0 && blocks.length(right) <= blocks.length(left));
    }

    /** The owner, or 0 once its stream has passed the mark. */
    private int effectiveOwner(int block) {
        int owner = blocks.owner(block);
        return owner != 0 && marks.isPassed(owner - 1, blocks.mark(block)) ? 0 : owner;
    }

    private void absorb(int left, int right) {
        int leftOwner = effectiveOwner(left);
        int rightOwner = effectiveOwner(right);
        boolean takeRight;
        if (leftOwner == 0 && rightOwner == 0) {
            // Both may go to anybody, and stay with the one who has more of it.
            takeRight = blocks.length(right) > blocks.length(left);
        } else if (leftOwner == rightOwner) {
            takeRight = blocks.mark(right) - blocks.mark(left) > 0;
        } else {
            takeRight = leftOwner == 0;
        }
        if (takeRight) {
            blocks.owner(left, blocks.owner(right), blocks.mark(right));
        }
        if (last == right) {
            last = left;
        }
        blocks.absorbNext(left);
    }

    /** Joins what streams have passed, and gives it to everybody where its stream rests. */
    void sweep() {
        sweepDue = false;
        for (int block = first; block != 0; block = blocks.next(block)) {
            if (blocks.state(block) != Blocks.FREE) {
                continue;
            }
            int owner = blocks.owner(block);
            int next = blocks.next(block);
            boolean abandoned = owner != 0 && effectiveOwner(block) == 0 && marks.isResting(owner - 1);
            if (abandoned || isOrphan(block) || (next != 0 && canJoin(block, next, false))) {
                bin(block).remove(block);
                if (abandoned) {
                    blocks.owner(block, 0, 0);
                }
                block = join(block);
            }
        }
        marks.lookForResting();
    }

    /** The same, if a stream has come further since the last time. Says whether one had. */
    boolean sweepIfDue() {
        boolean due = sweepDue;
        if (due) {
            sweep();
        }
        return due;
    }

    /** The best fit among what other streams freed and have not passed, behind a wait of this stream; 0 for none. */
    int takeForeign(int granules, int stream) {
        int best = 0;
        for (int owner = 1; owner <= marks.streams(); owner++) {
            if (owner != stream + 1 && bins[2 * owner] != null) {
                int block = bins[2 * owner].find(granules);
                if (block != 0 && (best == 0 || blocks.length(block) < blocks.length(best))) {
                    best = block;
                }
            }
        }
        if (best == 0) {
            return 0;
        }
        marks.await(stream, blocks.owner(best) - 1, blocks.mark(best));
        waits++;
        return claim(best, granules);
    }

    // ---------------------------------------------------------------- growing and giving back

    /**
     * A block with memory from the device, in no bin; 0 when the limit stands in the way, -1 when the device has no more. What joins it is free for everybody or
     * the stream's own, so it serves the request for which it was made.
     */
    int grow(int granules, int stream, long limit) {
        misses++;
        idleTime.noteGrowth();
        return source.contiguous() ? growRange(granules, stream, limit) : growSegment(granules, limit);
    }

    /** Where a request can be put by mapping the fewest pages: blocks in a row that are free or void, and perhaps addresses behind the last one. */
    private void findWindow(int granules, int stream) {
        int step = 1 << stepShift;
        windowFirst = 0;
        windowLast = 0;
        windowNeed = Integer.MAX_VALUE;
        int head = first;
        int length = 0;
        int missing = 0;
        for (int block = first; block != 0; block = blocks.next(block)) {
            boolean isVoid = blocks.state(block) == Blocks.VOID;
            if (!isVoid && usable(block, stream) == 0) {
                head = blocks.next(block);
                length = 0;
                missing = 0;
                continue;
            }
            length += blocks.length(block);
            missing += isVoid ? blocks.length(block) : 0;
            while (length - blocks.length(head) >= granules) {
                length -= blocks.length(head);
                missing -= blocks.state(head) == Blocks.VOID ? blocks.length(head) : 0;
                head = blocks.next(head);
            }
            if (length >= granules) {
                int spare = isVoid ? (length - granules) >> stepShift << stepShift : 0;
                spare = Math.min(spare, blocks.length(block));
                if (missing - spare < windowNeed) {
                    windowFirst = head;
                    windowLast = block;
                    windowNeed = missing - spare;
                    windowKeep = isVoid ? 0 : blocks.length(block) - (length - granules);
                }
            }
        }
        // What is left is a row that ends at the last block; addresses go on behind it.
        int beyond = roundUp(Math.max(0, granules - length), step);
        if (windowNeed > missing + beyond && ((long) top + beyond) << SHIFT <= source.rangeBytes()) {
            windowFirst = head;
            windowLast = 0;
            windowNeed = missing + beyond;
            windowKeep = 0;
        }
    }

    private int windowFirst;
    /** The last block of the window, 0 when it goes on behind the last block. */
    private int windowLast;
    /** Granules to be mapped. */
    private int windowNeed;
    /** Granules of the window's last block that are needed, 0 when all are. */
    private int windowKeep;

    private int growRange(int granules, int stream, long limit) {
        findWindow(granules, stream);
        if (windowNeed == Integer.MAX_VALUE) {
            return -1;
        }
        long out = Math.max(peak, total + ((long) granules << SHIFT));
        long excess = reserved + ((long) windowNeed << SHIFT) - (out + out / SLACK_SHARE + (1L << (SHIFT + stepShift)));
        if (excess > 0) {
            movePages(Math.min(excess, (long) windowNeed << SHIFT));
            findWindow(granules, stream);
        }
        return mapWindow(granules, limit);
    }

    /**
     * Hands whole idle pages outside of the window back, largest blocks first, so that the new pages are the old ones in a better place: the pool then holds
     * little more than was ever out at one time, however its free memory is scattered. Blocks may join by it, so that the window must be looked for again.
     */
    private void movePages(long bytes) {
        int spared = windowLast;
        int rest = 0;
        if (windowKeep > 0 && windowKeep < blocks.length(spared)) {
            bin(spared).remove(spared);
            rest = splitKeepingLast(spared, windowKeep);
            bin(spared).add(spared);
            bin(rest).add(rest);
        }
        movePages(
                bytes,
                windowFirst == 0 ? top : blocks.start(windowFirst),
                spared == 0 ? Integer.MAX_VALUE : blocks.end(spared));
        if (rest != 0 && blocks.state(rest) == Blocks.FREE) {
            bin(rest).remove(rest);
            join(rest);
        }
    }

    private void movePages(long bytes, int from, int to) {
        long target = reserved - bytes;
        while (reserved > target) {
            int best = 0;
            for (int owner = 0; owner <= marks.streams(); owner++) {
                int block = bins[2 * owner] == null ? 0 : bins[2 * owner].largestOutside(from, to);
                if (block != 0
                        && effectiveOwner(block) == 0
                        && (best == 0 || blocks.length(block) > blocks.length(best))) {
                    best = block;
                }
            }
            if (best == 0) {
                return;
            }
            int first = (blocks.start(best) + (1 << stepShift) - 1) >> stepShift;
            int end = blocks.end(best) >> stepShift;
            if (end <= first) {
                return;
            }
            int most = (int) ((reserved - target + (1L << (SHIFT + stepShift)) - 1) >> (SHIFT + stepShift));
            release(best, first << stepShift, Math.min(most, end - first) << stepShift);
            moved = true;
        }
    }

    /**
     * Puts the last idle pages into the first holes, a few at a time, so that free memory is one range again. Holes come from pages that were moved while blocks
     * stood in the way; at the end of an iteration most of those are gone, and blocks of the next one would have to be put around the holes.
     */
    private void closeHoles() {
        if (!moved) {
            return;
        }
        moved = false;
        int moves = 0;
        for (int hole = voids == 0 ? 0 : first; hole != 0; hole = blocks.next(hole)) {
            if (blocks.state(hole) != Blocks.VOID) {
                continue;
            }
            int at = blocks.start(hole);
            int donor = last;
            while (donor != hole && !hasIdlePage(donor)) {
                donor = blocks.previous(donor);
            }
            if (donor == hole) {
                return;
            }
            if (++moves > MOST_MOVES) {
                moved = true;
                return;
            }
            int end = blocks.end(donor) >> stepShift << stepShift;
            int idle = end - roundUp(blocks.start(donor), 1 << stepShift);
            int length = Math.min(blocks.length(hole), idle);
            release(donor, end - length, length);
            if (!source.obtain((long) at << SHIFT, (long) length << SHIFT)) {
                return;
            }
            if (at >= top) {
                // The hole was the last but one and is gone with the block behind it.
                hole = append(length);
            } else {
                if (blocks.length(hole) > length) {
                    splitKeepingLast(hole, length);
                } else {
                    voids--;
                }
                count(length);
                blocks.owner(hole, 0, 0);
                blocks.state(hole, Blocks.FREE);
            }
            hole = join(hole);
        }
    }

    private boolean hasIdlePage(int block) {
        return blocks.state(block) == Blocks.FREE
                && blocks.small(block) == 0
                && effectiveOwner(block) == 0
                && blocks.end(block) >> stepShift > roundUp(blocks.start(block), 1 << stepShift) >> stepShift;
    }

    /** Maps what is missing in the window and makes one block of it; 0 when the limit stands in the way, -1 when the device has no more. */
    private int mapWindow(int granules, long limit) {
        if (windowNeed > (limit - reserved) >> SHIFT) {
            return 0;
        }
        int need = windowNeed;
        int merged = 0;
        int length = 0;
        for (int block = windowFirst; block != 0 && length < granules; block = merged == 0 ? 0 : blocks.next(merged)) {
            if (blocks.state(block) == Blocks.VOID) {
                int wanted = Math.min(blocks.length(block), roundUp(granules - length, 1 << stepShift));
                if (!source.obtain((long) blocks.start(block) << SHIFT, (long) wanted << SHIFT)) {
                    settle(merged);
                    return -1;
                }
                if (blocks.length(block) > wanted) {
                    splitKeepingLast(block, wanted);
                } else {
                    voids--;
                }
                count(wanted);
                need -= wanted;
                blocks.owner(block, 0, 0);
                blocks.state(block, Blocks.FREE);
            } else {
                bin(block).remove(block);
            }
            length += blocks.length(block);
            if (merged == 0) {
                merged = block;
            } else {
                absorb(merged, block);
            }
        }
        if (length < granules) {
            // Grows by an eighth of what it has, so that a small pool stays small and a large one asks seldom.
            long growth = Math.min(Math.min(segmentBytes, reserved / 8), limit - reserved) >> SHIFT;
            int wish = Math.max(need, (int) (growth >> stepShift << stepShift));
            wish = (int) Math.min(wish, (source.rangeBytes() >> SHIFT) - top);
            if (!source.obtain((long) top << SHIFT, (long) wish << SHIFT)) {
                if (wish == need || !source.obtain((long) top << SHIFT, (long) need << SHIFT)) {
                    settle(merged);
                    return -1;
                }
                wish = need;
            }
            int block = append(wish);
            if (merged == 0) {
                merged = block;
            } else {
                absorb(merged, block);
            }
        }
        return claim(join(merged), granules);
    }

    private void settle(int block) {
        if (block != 0) {
            join(block);
        }
    }

    private int usable(int block, int stream) {
        if (block == 0 || blocks.state(block) != Blocks.FREE || blocks.small(block) != 0) {
            return 0;
        }
        int owner = effectiveOwner(block);
        return owner == 0 || owner == stream + 1 ? blocks.length(block) : 0;
    }

    private int append(int granules) {
        int block = blocks.create(top, granules, Blocks.FREE, 0, 0);
        blocks.insertAfter(last, block);
        if (last == 0) {
            first = block;
        }
        last = block;
        top += granules;
        map.ensure(top);
        count(granules);
        return block;
    }

    private void count(int granules) {
        obtained++;
        reserved += (long) granules << SHIFT;
        peakReserved = Math.max(peakReserved, reserved);
    }

    private int growSegment(int granules, long limit) {
        int step = 1 << stepShift;
        int need = roundUp(granules, step);
        int wish = roundUp(Math.max(need, (int) (segmentBytes >> SHIFT)), step);
        if (wish > (limit - reserved) >> SHIFT) {
            wish = need;
        }
        if (wish > (limit - reserved) >> SHIFT) {
            return 0;
        }
        int hole = 0;
        for (int block = voids == 0 ? 0 : first; block != 0 && hole == 0; block = blocks.next(block)) {
            if (blocks.state(block) == Blocks.VOID && blocks.length(block) >= wish) {
                hole = block;
            }
        }
        int at = hole == 0 ? top : blocks.start(hole);
        if (!source.obtain((long) at << SHIFT, (long) wish << SHIFT)) {
            if (wish == need || !source.obtain((long) at << SHIFT, (long) need << SHIFT)) {
                return -1;
            }
            wish = need;
        }
        segments.put(at, wish);
        if (hole == 0) {
            return claim(join(append(wish)), granules);
        }
        if (blocks.length(hole) > wish) {
            int rest = blocks.split(hole, wish);
            if (last == hole) {
                last = rest;
            }
        } else {
            voids--;
        }
        count(wish);
        blocks.owner(hole, 0, 0);
        blocks.state(hole, Blocks.FREE);
        return claim(join(hole), granules);
    }

    /**
     * Hands idle memory back until no more than so many bytes are reserved.
     *
     * @param coolest tiers from this one on go
     * @param idleNanos ns for which a step must have been idle, -1 for any
     */
    void giveBack(long target, int coolest, long idleNanos, long now) {
        // From the end, so that holes do not come between blocks that are still used.
        int previous;
        for (int block = last; block != 0 && reserved > target; block = previous) {
            previous = blocks.previous(block);
            if (blocks.state(block) != Blocks.FREE || effectiveOwner(block) != 0) {
                continue;
            }
            int from = blocks.start(block);
            int to = blocks.end(block);
            if (segments.isEmpty()) {
                int lowest = (from + (1 << stepShift) - 1) >> stepShift;
                int end = to >> stepShift;
                while (end > lowest && !idle(end - 1, end - 1, coolest, idleNanos, now)) {
                    end--;
                }
                int start = end;
                long most = (reserved - target + ((1L << (SHIFT + stepShift)) - 1)) >> (SHIFT + stepShift);
                while (start > lowest && end - start < most && idle(start - 1, start - 1, coolest, idleNanos, now)) {
                    start--;
                }
                from = start << stepShift;
                to = end << stepShift;
            } else {
                Integer length = segments.get(from);
                if (length == null
                        || length != to - from
                        || !idle(from >> stepShift, (to - 1) >> stepShift, coolest, idleNanos, now)) {
                    continue;
                }
                segments.remove(from);
            }
            if (to > from) {
                int hole = release(block, from, to - from);
                // What is left of the block in front of the hole has another look, if it was all idle in between.
                previous = hole == 0 ? last : blocks.previous(hole);
            }
        }
    }

    /** Hands memory back that is cold and was idle for long enough. */
    void giveBackIdle(long idleNanos, long now) {
        long before = givenBack;
        giveBack(0, Tiers.COLD, idleTime.at(idleNanos, now), now);
        if (givenBack > before) {
            idleTime.noteGiveBack(now);
        }
    }

    private boolean idle(int from, int to, int coolest, long idleNanos, long now) {
        // Every step is asked, also after one that is not idle: asking is what starts its time.
        boolean all = true;
        for (int step = from; step <= to; step++) {
            boolean rested = idleNanos < 0 || now - tiers.idleSince(step, now) >= idleNanos;
            all &= rested && tiers.tier(step) >= coolest;
        }
        return all;
    }

    /** Hands part of a free block back and returns the block without memory that is there now. */
    private int release(int block, int start, int granules) {
        bin(block).remove(block);
        blocks.owner(block, 0, 0);
        int hole = block;
        if (start > blocks.start(block)) {
            hole = splitKeepingLast(block, start - blocks.start(block));
        }
        int rest = blocks.length(hole) > granules ? splitKeepingLast(hole, granules) : 0;
        source.giveBack((long) start << SHIFT, (long) granules << SHIFT);
        givenBack++;
        reserved -= (long) granules << SHIFT;
        blocks.small(hole, 0);
        blocks.state(hole, Blocks.VOID);
        voids++;
        if (hole != block) {
            join(block);
        }
        if (rest != 0) {
            join(rest);
        }
        int previous = blocks.previous(hole);
        if (previous != 0 && blocks.state(previous) == Blocks.VOID) {
            if (last == hole) {
                last = previous;
            }
            blocks.absorbNext(previous);
            voids--;
            hole = previous;
        }
        int next = blocks.next(hole);
        if (next != 0 && blocks.state(next) == Blocks.VOID) {
            if (last == next) {
                last = hole;
            }
            blocks.absorbNext(hole);
            voids--;
        }
        if (hole == last) {
            top = blocks.start(hole);
            last = blocks.removeLast(hole);
            first = last == 0 ? 0 : first;
            voids--;
            return last;
        }
        return hole;
    }

    // ---------------------------------------------------------------- large blocks, with learned layouts

    /** Notes an allocation for learning; its number in the iteration, or -1 where nothing is learned. */
    int noteAllocation(int granules, int stream) {
        Layout layout = layouts[stream];
        return layout == null ? -1 : layout.allocate(granules);
    }

    /** Serves from the learned layout; the granule, or -1 when the arena has to. */
    int place(int operation, long bytes, int stream) {
        Layout layout = layouts[stream];
        if (layout == null || !layout.isPlanned()) {
            return -1;
        }
        if (!layout.isSame()) {
            dissolve(stream);
            return -1;
        }
        int at = layout.place(operation, bytes);
        if (at >= 0) {
            planned++;
            map.set(at, -1 - (((long) operation << 6) + stream));
        }
        return at;
    }

    void handOut(int block, long bytes, int stream, int operation) {
        blocks.handOut(block, Blocks.LIVE, bytes, stream + 1, operation, tiers.iterations());
        map.set(blocks.start(block), block);
        largeLiveBytes += (long) blocks.length(block) << SHIFT;
    }

    /** The stream of the learned layout to which an entry of the map belongs. */
    static int planStream(long entry) {
        return (int) (-1 - entry) & (LAYOUTS - 1);
    }

    /** Takes the block of a learned layout back; bytes asked for, or 0 when it is not out. */
    long freePlanned(int granule, long entry, int stream) {
        int planStream = planStream(entry);
        int number = (int) ((-1 - entry) >> 6);
        Layout layout = layouts[planStream];
        if (layout == null || !layout.isPlanned() || layout.start(number) != granule) {
            return 0;
        }
        if (layout.asked(number) == 0) {
            return 0;
        }
        if (stream == planStream) {
            layout.free(number, true, 0);
            if (layout.isSame()) {
                map.set(granule, GranuleMap.FREED);
                return layout.release(number);
            }
        }
        dissolve(planStream);
        return -1;
    }

    void noteFree(int block, int stream) {
        Layout layout = layouts[stream];
        if (layout == null || blocks.operation(block) < 0) {
            return;
        }
        layout.free(
                blocks.operation(block),
                blocks.owner(block) == stream + 1 && blocks.iteration(block) == tiers.iterations(),
                blocks.length(block));
        if (layout.isPlanned() && !layout.isSame()) {
            dissolve(stream);
        }
    }

    /** Turns a learned layout into ordinary blocks: what is out stays where it is, the rest is free. */
    void dissolve(int stream) {
        Layout layout = layouts[stream];
        int rest = layout.planBlock();
        int[] pieces = new int[16];
        int free = 0;
        for (int number : layout.live()) {
            int gap = layout.start(number) - blocks.start(rest);
            if (gap > 0) {
                pieces = free == pieces.length ? Arrays.copyOf(pieces, 2 * free) : pieces;
                pieces[free++] = rest;
                rest = splitKeepingLast(rest, gap);
            }
            int length = layout.granules(number);
            int block = rest;
            rest = blocks.length(block) > length ? splitKeepingLast(block, length) : 0;
            blocks.handOut(block, Blocks.LIVE, layout.asked(number), stream + 1, number, tiers.iterations());
            map.set(blocks.start(block), block);
            largeLiveBytes += (long) length << SHIFT;
        }
        if (rest != 0) {
            pieces = free == pieces.length ? Arrays.copyOf(pieces, 2 * free) : pieces;
            pieces[free++] = rest;
        }
        layout.dissolve();
        deviations++;
        for (int i = 0; i < free; i++) {
            free(pieces[i], stream);
        }
    }

    /** Adds what learned layouts have out. */
    void addPlanned(java.util.List<PoolCore.Live> live) {
        for (int stream = 0; stream < layouts.length; stream++) {
            Layout layout = layouts[stream];
            if (layout != null && layout.isPlanned()) {
                for (int number : layout.live()) {
                    live.add(new PoolCore.Live((long) layout.start(number) << SHIFT, layout.asked(number), stream));
                }
            }
        }
    }

    private int splitKeepingLast(int block, int granules) {
        int rest = blocks.split(block, granules);
        if (last == block) {
            last = rest;
        }
        return rest;
    }

    /** Gives up every layout, so that its idle memory serves everybody. Says whether there was one. */
    boolean dissolveAll() {
        boolean any = false;
        for (int stream = 0; stream < layouts.length; stream++) {
            if (layouts[stream] != null && layouts[stream].isPlanned()) {
                dissolve(stream);
                any = true;
            }
        }
        return any;
    }

    /** Whether the end of this iteration will try to lay one out. */
    boolean isAboutToLearn() {
        for (Layout layout : layouts) {
            if (layout != null && !layout.isPlanned() && layout.repeated()) {
                return true;
            }
        }
        return false;
    }

    /** Ends an iteration for layouts and tiers. */
    void nextIteration() {
        for (int block = first; block != 0; block = blocks.next(block)) {
            int state = blocks.state(block);
            if (state != Blocks.FREE && state != Blocks.VOID) {
                tiers.touch(blocks.start(block) >> stepShift, (blocks.end(block) - 1) >> stepShift);
            }
        }
        if (source.contiguous()) {
            closeHoles();
        }
        for (int stream = 0; stream < layouts.length; stream++) {
            Layout layout = layouts[stream];
            if (layout == null) {
                continue;
            }
            boolean repeated = layout.repeated();
            if (layout.isPlanned() && !repeated) {
                dissolve(stream);
            }
            layout.nextIteration();
            if (repeated && !layout.isPlanned()) {
                learn(layout, stream);
            }
        }
        tiers.nextIteration();
    }

    private void learn(Layout layout, int stream) {
        LayoutProblem problem = layout.problem();
        if (problem.count() == 0) {
            return;
        }
        StaticPlanner.Plan plan = StaticPlanner.quick(problem);
        int block = take((int) plan.height(), stream);
        if (block == 0 && source.contiguous()) {
            findWindow((int) plan.height(), stream);
            long excess = windowNeed == Integer.MAX_VALUE ? -1 : reserved + ((long) windowNeed << SHIFT) - peakReserved;
            if (excess > 0) {
                movePages(excess);
                findWindow((int) plan.height(), stream);
            }
            if (windowNeed != Integer.MAX_VALUE) {
                block = mapWindow((int) plan.height(), peakReserved);
            }
        }
        if (block <= 0) {
            // The free memory is in pieces. Growing for the sake of a layout would cost what it is to save.
            return;
        }
        blocks.handOut(block, Blocks.PLAN, 0, stream + 1, -1, tiers.iterations());
        layout.plan(problem, plan.offsets(), block, blocks.start(block));
    }

    // ---------------------------------------------------------------- other streams

    void addUse(long address, int stream) {
        int[] streams = uses.get(address);
        if (streams == null) {
            uses.put(address, new int[] {stream});
            return;
        }
        for (int known : streams) {
            if (known == stream) {
                return;
            }
        }
        streams = Arrays.copyOf(streams, streams.length + 1);
        streams[streams.length - 1] = stream;
        uses.put(address, streams);
    }

    /** Lets a freed address wait for the streams that use it, and for one more unless that is -1. */
    void defer(long address, int alsoStream) {
        int[] streams = uses.remove(address);
        if (alsoStream >= 0) {
            if (streams == null) {
                streams = new int[] {alsoStream};
            } else {
                boolean known = false;
                for (int stream : streams) {
                    known |= stream == alsoStream;
                }
                if (!known) {
                    streams = Arrays.copyOf(streams, streams.length + 1);
                    streams[streams.length - 1] = alsoStream;
                }
            }
        }
        for (int i = 1; i < streams.length; i++) {
            int stream = streams[i];
            deferred[stream].add(~address, marks.tag(stream));
            marks.record(stream);
        }
        if (streams.length > 1) {
            uses.put(~address, new int[] {streams.length});
        }
        deferred[streams[0]].add(streams.length > 1 ? ~address : address, marks.tag(streams[0]));
        marks.record(streams[0]);
        deferredCount++;
        deferredTotal++;
    }

    /** What a passed entry of a queue means: whether the address waits for nobody else. */
    boolean isLastWait(long entry) {
        if (entry >= 0) {
            return true;
        }
        int[] left = uses.get(entry);
        if (--left[0] > 0) {
            return false;
        }
        uses.remove(entry);
        return true;
    }

    MarkedQueue deferred(int stream) {
        return stream < deferred.length ? deferred[stream] : null;
    }

    /** Forgets the uses of an address that was freed without waiting. */
    void forgetUses(long address) {
        uses.remove(address);
    }

    int firstBlock() {
        return first;
    }

    int topGranule() {
        return top;
    }

    int largestFree() {
        int most = 0;
        for (FreeBins bin : bins) {
            int block = bin == null ? 0 : bin.largest();
            most = Math.max(most, block == 0 ? 0 : blocks.length(block));
        }
        return most;
    }

    private static int roundUp(int value, int unit) {
        return (value + unit - 1) & -unit;
    }
}
