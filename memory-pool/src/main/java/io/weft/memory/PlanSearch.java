// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import java.util.Arrays;
import java.util.Comparator;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Searches for a layout within a capacity. Blocks are placed from low to high offsets, each at the lowest place above those it meets in time, so that every layout
 * which cannot be pushed down is met exactly once. The ideas are MiniMalloc's (Moffitt, ASPLOS 2023: canonical order, bounds by section with a floor that only
 * rises, dominance, blocks without a hat, splitting in time, orders tried in turn under a growing budget); the code is our own.
 *
 * <p>A <em>section</em> is a moment at which the set of living blocks is largest in itself. What lives in a section must fit between the section's floor, below
 * which nothing more can be put, and the capacity; that is the bound which ends most branches.
 */
final class PlanSearch {
    private static final int FOUND = 0;
    /** The whole tree was searched. */
    private static final int NONE = 1;

    private static final int GIVEN_UP = 2;

    private static final int PLACE_BITS = 20;

    private final LayoutProblem problem;
    private final long capacity;
    private final int count;
    private final long[] size;
    private final int[][] sections;
    private final int[] firstSection;
    private final int[] lastSection;
    private final int[][] neighbours;
    private final long[] total;
    private final int[] cuts;

    private final boolean[] placed;
    /** The place of a placed block, the lowest possible one of any other. */
    private final long[] offset;
    /** By section: nothing more fits below. */
    private final long[] floor;
    /** By section: units of the blocks that are not placed. */
    private final long[] remaining;
    /** By section: blocks not placed which also live in the next section; 0 where the problem falls apart. */
    private final int[] cut;

    private int[] movedBlock = new int[1024];
    private long[] movedFrom = new long[1024];
    private int moved;
    private int[] raisedSection = new int[1024];
    private long[] raisedFrom = new long[1024];
    private int raised;
    private final int[] placing;
    private int placings;
    /** The last placement, counted, that moved a block of a section; spares looking at a section twice. */
    private final int[] touched;

    private int touch;
    /** Two for each depth. */
    private final int[][] rows;

    private final int[] identity;
    private int[] byRank;
    /** Equal for blocks that the order does not tell apart. */
    private final long[] group;

    private long nodes;
    private long nodeLimit;
    private long deadline;

    PlanSearch(LayoutProblem problem, long capacity) {
        this.problem = problem;
        this.capacity = capacity;
        this.count = problem.count();
        this.size = new long[count];
        for (int block = 0; block < count; block++) {
            size[block] = problem.size(block);
        }
        this.offset = new long[count];
        this.placed = new boolean[count];
        this.placing = new int[count];
        this.rows = new int[2 * count + 2][];
        this.identity = IntStream.range(0, count).toArray();
        this.firstSection = new int[count];
        this.lastSection = new int[count];
        this.sections = sections();
        this.neighbours = neighbours();
        this.total = new long[sections.length];
        this.cuts = new int[sections.length];
        for (int block = 0; block < count; block++) {
            for (int section = firstSection[block]; section <= lastSection[block]; section++) {
                total[section] += size[block];
                cuts[section] += section < lastSection[block] ? 1 : 0;
            }
        }
        this.remaining = new long[sections.length];
        this.floor = new long[sections.length];
        this.cut = new int[sections.length];
        this.touched = new int[sections.length];
        this.group = new long[count];
    }

    private int[][] neighbours() {
        int[][] all = new int[count][];
        int[] met = new int[count];
        for (int block = 0; block < count; block++) {
            int found = 0;
            for (int other = 0; other < count; other++) {
                if (other != block && problem.overlap(block, other)) {
                    met[found++] = other;
                }
            }
            all[block] = Arrays.copyOf(met, found);
        }
        return all;
    }

    private int[][] sections() {
        long[] times = new long[count];
        for (int block = 0; block < count; block++) {
            times[block] = problem.lower(block);
        }
        times = withoutSubsets(Arrays.stream(times).sorted().distinct().toArray());
        int[][] all = new int[times.length][];
        Arrays.fill(firstSection, -1);
        for (int section = 0; section < times.length; section++) {
            int[] living = new int[count];
            int found = 0;
            for (int block = 0; block < count; block++) {
                if (problem.lower(block) <= times[section] && times[section] < problem.upper(block)) {
                    living[found++] = block;
                    if (firstSection[block] < 0) {
                        firstSection[block] = section;
                    }
                    lastSection[block] = section;
                }
            }
            all[section] = Arrays.copyOf(living, found);
        }
        return all;
    }

    /** A start after which nothing ends before the next start has all its blocks in that one's set, too. */
    private long[] withoutSubsets(long[] starts) {
        long[] kept = new long[starts.length];
        int found = 0;
        for (int i = 0; i < starts.length; i++) {
            boolean ends = i == starts.length - 1;
            for (int block = 0; block < count && !ends; block++) {
                ends = problem.upper(block) > starts[i] && problem.upper(block) <= starts[i + 1];
            }
            if (ends) {
                kept[found++] = starts[i];
            }
        }
        return Arrays.copyOf(kept, found);
    }

    /** Nodes visited so far. */
    long nodes() {
        return nodes;
    }

    /**
     * Orders in which blocks at the same offset are tried; which one leads to a layout soon differs by problem by orders of magnitude. Crowded sections are those
     * where most is left to be placed.
     */
    private enum Order {
        WIDEST(Crowd.LAST),
        CROWDED_THEN_LARGEST(Crowd.FIRST),
        CROWDED_THEN_WIDEST(Crowd.FIRST),
        TALLEST(Crowd.NOT),
        LARGEST(Crowd.LAST);

        /** Where the crowd comes among the reasons. */
        private enum Crowd {
            FIRST,
            LAST,
            NOT
        }

        private final Crowd crowd;

        Order(Crowd crowd) {
            this.crowd = crowd;
        }
    }

    /** A layout, or null when none was found in time. */
    long[] run(long deadlineNanos) {
        deadline = deadlineNanos;
        for (int round = 0; System.nanoTime() - deadline < 0; round++) {
            long limit = (4L * count) << Math.min(round, 40);
            for (Order order : Order.values()) {
                rank(order, round);
                reset();
                nodeLimit = nodes + limit;
                int found = solveParts(byRank, count, 0, sections.length, order);
                if (found == FOUND) {
                    return offset.clone();
                }
                if (found == NONE) {
                    return null;
                }
            }
        }
        return null;
    }

    private void reset() {
        Arrays.fill(offset, 0);
        Arrays.fill(floor, 0);
        Arrays.fill(placed, false);
        System.arraycopy(total, 0, remaining, 0, total.length);
        System.arraycopy(cuts, 0, cut, 0, cuts.length);
        moved = 0;
        raised = 0;
        placings = 0;
    }

    /** Solves what falls apart in time one after the other. */
    private int solveParts(int[] blocks, int blockCount, int from, int to, Order order) {
        int start = from;
        for (int section = from; section < to; section++) {
            if (section + 1 < to && cut[section] != 0) {
                continue;
            }
            int[] part = new int[blockCount];
            int found = 0;
            for (int i = 0; i < blockCount; i++) {
                int block = blocks[i];
                if (!placed[block] && firstSection[block] >= start && lastSection[block] <= section) {
                    part[found++] = block;
                }
            }
            if (found > 0) {
                int result = solve(Arrays.copyOf(part, found), found, start, section + 1, order);
                if (result != FOUND) {
                    return result;
                }
            }
            start = section + 1;
        }
        return FOUND;
    }

    /** Solves blocks of sections {@code from..to}, anew in order by what is left of the crowd; ties stay as they are. */
    private int solve(int[] blocks, int blockCount, int from, int to, Order order) {
        if (order.crowd == Order.Crowd.LAST) {
            sort(blocks, blockCount, true);
        }
        sort(blocks, blockCount, false);
        if (order.crowd == Order.Crowd.FIRST) {
            sort(blocks, blockCount, true);
        }
        return place(blocks, identity, blockCount, from, to, 0, -1, order);
    }

    /** Sorts stably by what is left of the crowd or by group. */
    private void sort(int[] blocks, int blockCount, boolean byCrowd) {
        long[] keys = new long[blockCount];
        for (int i = 0; i < blockCount; i++) {
            keys[i] = ((byCrowd ? -crowd(blocks[i]) : group[blocks[i]]) << PLACE_BITS) | i;
        }
        Arrays.sort(keys);
        int[] before = blocks.clone();
        for (int i = 0; i < blockCount; i++) {
            blocks[i] = before[(int) keys[i] & ((1 << PLACE_BITS) - 1)];
        }
    }

    private long crowd(int block) {
        long crowd = 0;
        for (int section = firstSection[block]; section <= lastSection[block]; section++) {
            crowd = Math.max(crowd, remaining[section]);
        }
        return crowd;
    }

    /** Ties go by number in the first round and are drawn in later ones, since a few unlucky ones can cost any time. */
    private void rank(Order order, int round) {
        int[] drawn = identity.clone();
        SplittableRandom random = new SplittableRandom(round);
        for (int i = count - 1; i > 0 && round > 0; i--) {
            int other = random.nextInt(i + 1);
            int swap = drawn[i];
            drawn[i] = drawn[other];
            drawn[other] = swap;
        }

        Comparator<Integer> byWidth = Comparator.comparingLong(block -> problem.lower(block) - problem.upper(block));
        Comparator<Integer> byArea =
                Comparator.comparingLong(block -> (problem.lower(block) - problem.upper(block)) * size[block]);
        Comparator<Integer> bySize = Comparator.comparingLong(block -> -size[block]);
        Comparator<Integer> compare = switch (order) {
            case WIDEST, CROWDED_THEN_WIDEST -> byWidth.thenComparing(byArea);
            case CROWDED_THEN_LARGEST, LARGEST -> byArea.thenComparing(byWidth);
            case TALLEST -> bySize.thenComparing(byWidth);
        };
        byRank = Arrays.stream(drawn)
                .boxed()
                .sorted(compare)
                .mapToInt(Integer::intValue)
                .toArray();
        for (int i = 0; i < count; i++) {
            group[byRank[i]] = i > 0 && compare.compare(byRank[i - 1], byRank[i]) == 0 ? group[byRank[i - 1]] : i;
        }
    }

    /**
     * Places what is left of a part.
     *
     * @param order the part's blocks in the order in which they are tried at equal offsets
     * @param left places in that order, of which those of blocks already placed are skipped
     * @param lowest no block goes below this offset, and at it only places behind {@code lastPlace} do
     */
    private int place(int[] order, int[] left, int leftCount, int from, int to, long lowest, int lastPlace, Order by) {
        if (++nodes > nodeLimit || ((nodes & 255) == 0 && System.nanoTime() - deadline >= 0)) {
            return GIVEN_UP;
        }
        int[] unplaced = row(2 * placings, leftCount);
        int unplacedCount = 0;
        // A block that starts at or above another one's lowest possible top would leave room for that one below it.
        long lowestTop = Long.MAX_VALUE;
        for (int i = 0; i < leftCount; i++) {
            int block = order[left[i]];
            if (!placed[block]) {
                unplaced[unplacedCount++] = left[i];
                lowestTop = Math.min(lowestTop, offset[block] + size[block]);
            }
        }
        if (unplacedCount == 0) {
            return FOUND;
        }
        // Offsets only rise from here on, and each section needs room for what is left of it.
        long highest = lowestTop - 1;
        for (int section = from; section < to; section++) {
            highest = Math.min(highest, capacity - remaining[section]);
        }
        int[] candidates = row(2 * placings + 1, unplacedCount);
        int found = 0;
        for (int i = 0; i < unplacedCount; i++) {
            int place = unplaced[i];
            long at = offset[order[place]];
            if (at <= highest && (at > lowest || (at == lowest && place > lastPlace))) {
                int target = found++;
                while (target > 0 && offset[order[candidates[target - 1]]] > at) {
                    candidates[target] = candidates[target - 1];
                    target--;
                }
                candidates[target] = place;
            }
        }
        int movedMark = moved;
        int raisedMark = raised;
        int placingMark = placings;
        for (int i = 0; i < found; i++) {
            int place = candidates[i];
            int block = order[place];
            long at = offset[block];
            if (put(block)) {
                int result = fallsApart(block)
                        ? solveParts(order, order.length, from, to, by)
                        : place(order, unplaced, unplacedCount, from, to, at, place, by);
                if (result != NONE) {
                    return result;
                }
            }
            boolean hatless = isHatless(block);
            undo(movedMark, raisedMark, placingMark);
            if (hatless) {
                // Nothing can stand on it, so its place is not what went wrong.
                return NONE;
            }
        }
        return NONE;
    }

    private int[] row(int number, int length) {
        int[] row = rows[number];
        if (row == null || row.length < length) {
            row = new int[length];
            rows[number] = row;
        }
        return row;
    }

    private boolean isHatless(int block) {
        for (int section = firstSection[block]; section <= lastSection[block]; section++) {
            if (remaining[section] > 0) {
                return false;
            }
        }
        return true;
    }

    private boolean fallsApart(int block) {
        for (int section = firstSection[block]; section < lastSection[block]; section++) {
            if (cut[section] == 0) {
                return true;
            }
        }
        return false;
    }

    /** Places a block at its offset and says whether what is left of each section still fits. */
    private boolean put(int block) {
        long top = offset[block] + size[block];
        placed[block] = true;
        placing[placings++] = block;
        touch++;
        boolean fits = true;
        for (int section = firstSection[block]; section <= lastSection[block]; section++) {
            remaining[section] -= size[block];
            cut[section] -= section < lastSection[block] ? 1 : 0;
            fits &= raise(section, top);
            touched[section] = touch;
        }
        if (!fits) {
            return false;
        }
        int from = firstSection[block];
        int to = lastSection[block];
        for (int other : neighbours[block]) {
            long was = offset[other];
            if (was < top && !placed[other]) {
                if (top + size[other] > capacity) {
                    return false;
                }
                if (moved == movedBlock.length) {
                    movedBlock = Arrays.copyOf(movedBlock, 2 * moved);
                    movedFrom = Arrays.copyOf(movedFrom, 2 * moved);
                }
                movedBlock[moved] = other;
                movedFrom[moved++] = was;
                offset[other] = top;
                for (int section = firstSection[other]; section <= lastSection[other]; section++) {
                    // Only what stood at the floor can have held it down.
                    if (was <= floor[section] && touched[section] != touch) {
                        touched[section] = touch;
                        from = Math.min(from, section);
                        to = Math.max(to, section);
                    }
                }
            }
        }
        for (int section = from; section <= to; section++) {
            if (touched[section] != touch || remaining[section] == 0) {
                continue;
            }
            long lowest = Long.MAX_VALUE;
            long now = floor[section];
            for (int living : sections[section]) {
                if (offset[living] < lowest && !placed[living]) {
                    lowest = offset[living];
                    if (lowest <= now) {
                        break;
                    }
                }
            }
            if (lowest != Long.MAX_VALUE && lowest > now && !raise(section, lowest)) {
                return false;
            }
        }
        return true;
    }

    /** Raises a section's floor and says whether what is left of it fits above. */
    private boolean raise(int section, long to) {
        if (raised == raisedSection.length) {
            raisedSection = Arrays.copyOf(raisedSection, 2 * raised);
            raisedFrom = Arrays.copyOf(raisedFrom, 2 * raised);
        }
        raisedSection[raised] = section;
        raisedFrom[raised++] = floor[section];
        floor[section] = to;
        return to + remaining[section] <= capacity;
    }

    private void undo(int movedMark, int raisedMark, int placingMark) {
        while (moved > movedMark) {
            moved--;
            offset[movedBlock[moved]] = movedFrom[moved];
        }
        while (raised > raisedMark) {
            raised--;
            floor[raisedSection[raised]] = raisedFrom[raised];
        }
        while (placings > placingMark) {
            int block = placing[--placings];
            placed[block] = false;
            for (int section = firstSection[block]; section <= lastSection[block]; section++) {
                remaining[section] += size[block];
                cut[section] += section < lastSection[block] ? 1 : 0;
            }
        }
    }
}
