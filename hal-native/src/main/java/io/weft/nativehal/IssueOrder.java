// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * In which order streams hold collectives while some of them are not complete. Two collectives whose ranks issue them in different orders wait for each other on the device for ever, and nothing but this order tells. A collective that all ranks
 * issue at once comes behind everything on all its streams, so only while one is open can a circle arise, and only then anything is noted. Safe for any thread.
 */
final class IssueOrder {
    /** A collective, or a transfer, as far as its order goes. */
    interface Entry {
        /** Whether all its parts have been issued. */
        boolean isComplete();

        /** What it is, for people. */
        String describe();
    }

    /** What each stream holds, the oldest first. */
    private final Map<Object, List<Entry>> streams = new HashMap<>();

    private final Map<Entry, Set<Object>> streamsOf = new HashMap<>();
    private final List<List<Entry>> circles = new ArrayList<>();
    private final OpenCalls calls;

    /** An order that tells of circles there, so that nobody waits for them without end. */
    IssueOrder(OpenCalls calls) {
        this.calls = calls;
    }

    /** Whether an incomplete one is known, so that what is issued now has to be noted. */
    synchronized boolean isNoting() {
        return !streamsOf.isEmpty();
    }

    /** A part was issued to a stream. */
    synchronized void issued(Entry entry, Object stream) {
        if (streamsOf.computeIfAbsent(entry, ignored -> new HashSet<>()).add(stream)) {
            streams.computeIfAbsent(stream, ignored -> new ArrayList<>()).add(entry);
        }
    }

    /** Looks for a circle after parts were issued. Forgets everything when all is complete and there is none, as it will all end then. */
    synchronized void look() {
        for (Entry entry : streamsOf.keySet()) {
            List<Entry> path = new ArrayList<>();
            if (entry.isComplete()
                    && circles.stream().noneMatch(circle -> circle.contains(entry))
                    && leadsTo(entry, entry, path, new HashSet<>())) {
                List<Entry> circle = List.copyOf(path);
                circles.add(circle);
                calls.add(circle, () -> describe(circle));
            }
        }
        if (circles.isEmpty() && streamsOf.keySet().stream().allMatch(Entry::isComplete)) {
            streams.clear();
            streamsOf.clear();
        }
    }

    /** Whether one of these is in a circle. */
    synchronized boolean isCircular(Iterable<? extends Entry> entries) {
        for (Entry entry : entries) {
            if (circles.stream().anyMatch(circle -> circle.contains(entry))) {
                return true;
            }
        }
        return false;
    }

    private static String describe(List<Entry> circle) {
        return circle.stream().map(Entry::describe).collect(Collectors.joining(" and "))
                + " wait for each other, as their ranks issue them in different orders";
    }

    /** Whether one waits for another, by way of what stands before it on its streams. The path is filled with those between, the start first. */
    private boolean leadsTo(Entry from, Entry goal, List<Entry> path, Set<Entry> seen) {
        path.add(from);
        for (Object stream : streamsOf.getOrDefault(from, Set.of())) {
            List<Entry> order = streams.get(stream);
            int at = order.indexOf(from);
            if (at > 0) {
                Entry before = order.get(at - 1);
                if (before.equals(goal) || (seen.add(before) && leadsTo(before, goal, path, seen))) {
                    return true;
                }
            }
        }
        path.removeLast();
        return false;
    }

    /** They have ended, or were ended. */
    synchronized void forget(Iterable<? extends Entry> entries) {
        for (Entry entry : entries) {
            for (Object stream : streamsOf.getOrDefault(entry, Set.of())) {
                List<Entry> order = streams.get(stream);
                order.remove(entry);
                if (order.isEmpty()) {
                    streams.remove(stream);
                }
            }
            streamsOf.remove(entry);
            for (List<Entry> circle : List.copyOf(circles)) {
                if (circle.contains(entry)) {
                    circles.remove(circle);
                    calls.remove(circle);
                }
            }
        }
    }
}
