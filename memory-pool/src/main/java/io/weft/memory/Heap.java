// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

/**
 * The spans of one stripe and one stream, by size class; of each class those that have a free slot are listed. In front of them a magazine holds the slots of the
 * class that were freed last, so that most calls touch no span's list. Guarded by its stripe's lock.
 */
final class Heap {
    static final int MAGAZINE_SHIFT = 4;
    /** The most that a magazine holds. */
    static final int MAGAZINE = 1 << MAGAZINE_SHIFT;

    /** Free slots as {@link Span#entry} has them, last freed last, {@link #MAGAZINE} places for each class. */
    final long[] magazine;
    /** How many of them there are, by class. */
    final int[] filled;
    /** How many there may be, by class. */
    final int[] capacity;

    final Span[] open;
    /** Spans of each class of which nothing is out; one is kept, so that a block which comes and goes does not move a span. */
    final byte[] empty;

    /** All spans of the heap's classes, for statistics and for closing. */
    int spans;

    Heap(SizeClasses classes) {
        open = new Span[classes.count()];
        empty = new byte[classes.count()];
        magazine = new long[classes.count() << MAGAZINE_SHIFT];
        filled = new int[classes.count()];
        capacity = new int[classes.count()];
        for (int index = 0; index < capacity.length; index++) {
            capacity[index] = classes.magazine(index);
        }
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
