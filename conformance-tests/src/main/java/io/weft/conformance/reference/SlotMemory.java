// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.reference;

import io.weft.api.BufferView;
import io.weft.api.ElementType;
import io.weft.api.MatrixLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Plain arrays behind views: reads and writes the elements of a view in row-major order of its indices, whatever its layout and pitch. */
public final class SlotMemory {
    private SlotMemory() {}

    /** The patterns of a view's elements. */
    public static int[] read(byte[] memory, BufferView view) {
        return read(memory, view, 0);
    }

    /**
     * The patterns of a view's elements.
     *
     * @param shift elements from the view to the one that is meant, for batches
     */
    public static int[] read(byte[] memory, BufferView view, long shift) {
        int[] bits = new int[Math.toIntExact(view.elements())];
        for (int i = 0; i < bits.length; i++) {
            bits[i] = get(memory, address(view, i, shift), view.type());
        }
        return bits;
    }

    /** Sets the elements of a view. */
    public static void write(byte[] memory, BufferView view, int[] bits) {
        write(memory, view, 0, bits);
    }

    /** Sets the elements of a view that lies {@code shift} elements on. */
    public static void write(byte[] memory, BufferView view, long shift, int[] bits) {
        for (int i = 0; i < bits.length; i++) {
            put(memory, address(view, i, shift), view.type(), bits[i]);
        }
    }

    private static int address(BufferView view, int index, long shift) {
        long row = index / view.columns();
        long column = index % view.columns();
        long element =
                view.layout() == MatrixLayout.ROW_MAJOR ? row * view.pitch() + column : column * view.pitch() + row;
        return Math.toIntExact(view.offset() + (element + shift) * view.type().bytes());
    }

    /** The pattern of the element at a byte offset. */
    public static int get(byte[] memory, int offset, ElementType type) {
        ByteBuffer bytes = ByteBuffer.wrap(memory).order(ByteOrder.nativeOrder());
        return switch (type.bytes()) {
            case 1 -> bytes.get(offset) & 0xFF;
            case 2 -> bytes.getShort(offset) & 0xFFFF;
            default -> bytes.getInt(offset);
        };
    }

    /** Sets the element at a byte offset. */
    public static void put(byte[] memory, int offset, ElementType type, int bits) {
        ByteBuffer bytes = ByteBuffer.wrap(memory).order(ByteOrder.nativeOrder());
        switch (type.bytes()) {
            case 1 -> bytes.put(offset, (byte) bits);
            case 2 -> bytes.putShort(offset, (short) bits);
            default -> bytes.putInt(offset, bits);
        }
    }
}
