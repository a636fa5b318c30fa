// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

/**
 * The spans of one stripe and one stream, by size class; of each class those that have a free slot are listed. In front of them a magazine holds the slots of the
 * class that were freed last, so that most calls touch no span's list. Guarded by its stripe's lock.
 */
final class Heap {
    private static final int ROW_SHIFT = 4;
    /** The most that a magazine holds. */
    static final int MAGAZINE = (1 << ROW_SHIFT) - 1;
    /** By how much the first number of a row is shifted for how many slots there may be; its low half is how many there are. */
    private static final int CAPACITY_SHIFT = 32;

    final Stripe stripe;

    /** Magazines, a row for each class: how full it is, then free slots as {@link Span#entry} has them, last freed last. */
    final long[] magazines;

    final Span[] open;
    /** Spans of each class of which nothing is out; one is kept, so that a block which comes and goes does not move a span. */
    final byte[] empty;

    /** All spans of the heap's classes, for statistics and for closing. */
    int spans;

    Heap(Stripe stripe, SizeClasses classes) {
        this.stripe = stripe;
        open = new Span[classes.count()];
        empty = new byte[classes.count()];
        // A row that is not used on either side, since other threads may have what lies before and behind.
        magazines = new long[(classes.count() + 2) << ROW_SHIFT];
        for (int index = 0; index < classes.count(); index++) {
            magazines[row(index)] = (long) classes.magazine(index) << CAPACITY_SHIFT;
        }
    }

    /** Classes. */
    int classes() {
        return open.length;
    }

    /** Where the row of a class starts. */
    static int row(int sizeClass) {
        return (sizeClass + 1) << ROW_SHIFT;
    }

    /** Slots in a magazine, by its row's first number. */
    static int filled(long head) {
        return (int) head;
    }

    /** Whether a magazine has no room, by its row's first number. */
    static boolean isFull(long head) {
        return (int) head == (int) (head >>> CAPACITY_SHIFT);
    }

    void list(Span span) {
        Span head = open[span.sizeClass];
        span.previous = null;
        span.next = head;
        if (head != null) {
            head.previous = span;
        }
        open[span.sizeClass] = span;
        span.listed = true;
    }

    void unlist(Span span) {
        if (span.previous == null) {
            open[span.sizeClass] = span.next;
        } else {
            span.previous.next = span.next;
        }
        if (span.next != null) {
            span.next.previous = span.previous;
        }
        span.previous = null;
        span.next = null;
        span.listed = false;
    }
}
