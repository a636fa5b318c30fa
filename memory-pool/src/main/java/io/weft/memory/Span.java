// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

/**
 * A run of granules cut into slots of one size class, for one stripe and one stream. Guarded by its stripe's lock.
 *
 * <p>A slot's word says what it is: 0 or more links free slots (the next one's number plus one, 0 at the end and in a magazine); a negative word is a slot that is
 * out, and its magnitude is the bytes asked for plus flags. So every double free is seen without a word more.
 */
final class Span {
    /** Added to the bytes asked for: other streams use the slot, too. */
    static final int USED_ELSEWHERE = 1 << 24;
    /** Added to the bytes asked for: the slot was freed and waits for other streams. */
    static final int DEFERRED = 1 << 25;
    /** The part of a slot's magnitude that is bytes. */
    static final int ASKED = USED_ELSEWHERE - 1;

    final int sizeClass;
    final int size;
    final int capacity;
    final int granules;
    /** The chunk of its slots' words. */
    final int[] words;
    /** Where in the chunk its first slot's word is. */
    final int first;
    /** The number of that word. */
    final int number;

    private final SizeClasses classes;

    Stripe stripe;
    Heap heap;
    int stream;
    int block;
    long start;
    /** Slots that are out or in a magazine. */
    int used;

    int free;
    int untouched;
    Span previous;
    Span next;
    boolean listed;

    Span(int sizeClass, SizeClasses classes, SlotWords all) {
        this.sizeClass = sizeClass;
        this.classes = classes;
        this.size = classes.size(sizeClass);
        this.granules = classes.granules(sizeClass);
        this.capacity = classes.slots(sizeClass);
        this.number = all.reserve(this, capacity);
        this.words = all.chunk(number);
        this.first = SlotWords.offset(number);
    }

    void open(Stripe owner, Heap list, int onStream, int blockId, long at) {
        stripe = owner;
        heap = list;
        stream = onStream;
        block = blockId;
        start = at;
        used = 0;
        free = 0;
        untouched = 0;
    }

    /** Takes a slot and returns its address. The span is not full. */
    long take(int asked) {
        int slot = free - 1;
        if (slot >= 0) {
            free = words[first + slot];
        } else {
            slot = untouched++;
        }
        words[first + slot] = -asked;
        used++;
        return start + (long) slot * size;
    }

    boolean isFull() {
        return free == 0 && untouched == capacity;
    }

    /** The slot at an address, or -1 when none starts there or it was never handed out. */
    int slotAt(long address) {
        int slot = classes.slotAt(sizeClass, (int) (address - start));
        return slot < untouched ? slot : -1;
    }

    /** A slot as a magazine keeps it: its address, whose lowest bits are 0, and in their place the number of its word. */
    static long entry(long address, int number) {
        return (address << (SlotWords.NUMBER_BITS - SizeClasses.MIN_ALIGNMENT_SHIFT)) | number;
    }

    /** The number of the word of a magazine's entry. */
    static int word(long entry) {
        return (int) entry & SlotWords.NUMBER_MASK;
    }

    /** The address in a magazine's entry. */
    static long address(long entry) {
        return (entry >>> SlotWords.NUMBER_BITS) << SizeClasses.MIN_ALIGNMENT_SHIFT;
    }

    /** Slots that are out. */
    int out() {
        int out = 0;
        for (int slot = 0; slot < untouched; slot++) {
            out += words[first + slot] < 0 ? 1 : 0;
        }
        return out;
    }

    void putBack(int slot) {
        words[first + slot] = free;
        free = slot + 1;
        used--;
    }
}
