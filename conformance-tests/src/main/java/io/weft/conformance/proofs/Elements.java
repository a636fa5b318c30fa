// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.ElementType;
import io.weft.conformance.bench.Bench;
import io.weft.conformance.bench.RuleBroken;
import io.weft.conformance.reference.Codec;
import io.weft.conformance.reference.Expectation;
import io.weft.conformance.reference.SlotMemory;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Optional;

/** Elements of views as bit patterns: made, written, read and compared. */
final class Elements {
    private Elements() {}

    /** The patterns of a view's elements, by a host read. */
    static int[] of(Bench bench, BufferView view) {
        return SlotMemory.read(bench.download((Buffer) view.memory()), view);
    }

    /** Sets a view's elements by the host; the rest of its buffer stays. */
    static void set(Bench bench, BufferView view, int[] bits) {
        Buffer buffer = (Buffer) view.memory();
        byte[] bytes = bench.download(buffer);
        SlotMemory.write(bytes, view, bits);
        buffer.write(0, MemorySegment.ofArray(bytes));
    }

    /** Patterns of a type, each from the bench's random data and none of them zero. */
    static int[] random(Bench bench, ElementType type, int count) {
        byte[] bytes = bench.randomBytes(type, count);
        int[] bits = new int[count];
        for (int i = 0; i < count; i++) {
            bits[i] = SlotMemory.get(bytes, i * type.bytes(), type);
        }
        return bits;
    }

    /** Patterns of values between 0.6 and 1.5: sums of them do not cancel, and products of eight stay in every type's range. Integers are 1 to 3. */
    static int[] positive(Bench bench, ElementType type, int count) {
        int[] bits = new int[count];
        for (int i = 0; i < count; i++) {
            double value = type.isFloating()
                    ? 0.6 + 0.9 * bench.random().nextDouble()
                    : 1 + bench.random().nextInt(3);
            bits[i] = Codec.of(type).encode(value);
        }
        return bits;
    }

    /** Patterns of small whole numbers but zero; sums and products of a few are exact in every type that has room for them. */
    static int[] whole(Bench bench, ElementType type, int count, int largest) {
        int[] bits = new int[count];
        for (int i = 0; i < count; i++) {
            int size = 1 + bench.random().nextInt(largest);
            bits[i] = Codec.of(type).encode(bench.random().nextBoolean() ? size : -size);
        }
        return bits;
    }

    /** Patterns of the given values. */
    static int[] patterns(ElementType type, double... values) {
        return Arrays.stream(values)
                .mapToInt(value -> Codec.of(type).encode(value))
                .toArray();
    }

    /** The bytes of patterns, one after the other. */
    static byte[] bytes(ElementType type, int[] bits) {
        byte[] bytes = new byte[bits.length * type.bytes()];
        for (int i = 0; i < bits.length; i++) {
            SlotMemory.put(bytes, i * type.bytes(), type, bits[i]);
        }
        return bytes;
    }

    /** Requires the elements of a view to be as expected; what lies between and around them does not matter. */
    static void expect(Bench bench, String what, Expectation expected, BufferView view) {
        Optional<Expectation.Mismatch> wrong = expected.compare(of(bench, view));
        wrong.ifPresent(mismatch -> {
            long row = mismatch.index() / view.columns();
            long column = mismatch.index() % view.columns();
            String place = view.rows() == 1 ? "element " + column : "element [" + row + ", " + column + "]";
            throw new RuleBroken(
                    what + ": " + place + " to be " + mismatch.expected()
                            + (mismatch.allowed() == 0 ? " exactly" : " within " + mismatch.allowed()),
                    "it is " + mismatch.actual() + (bench.step().isEmpty() ? "" : " (while: " + bench.step() + ")"));
        });
    }

    /** Requires the elements of a view to have exactly these patterns. */
    static void expectBits(Bench bench, String what, int[] expected, BufferView view) {
        bench.sameBytes(what, bytes(view.type(), expected), bytes(view.type(), of(bench, view)));
    }
}
