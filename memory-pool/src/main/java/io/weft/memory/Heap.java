// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

/** The spans of one stripe and one stream, by size class; of each class those that have a free slot are listed. Guarded by its stripe's lock. */
final class Heap {
    final Span[] open;
    /** Spans of each class of which nothing is out; one is kept, so that a block which comes and goes does not move a span. */
    final byte[] empty;

    /** All spans of the heap's classes, for statistics and for closing. */
    int spans;

    Heap(int classes) {
        open = new Span[classes];
        empty = new byte[classes];
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
