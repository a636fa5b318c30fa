// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.heap;

import io.weft.api.AcceleratorException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The name under which memory is given to other processes: at most 64 ASCII characters, which travel in a field of 65 bytes that ends with zeros.
 *
 * @param text 1 to 64 printable ASCII characters
 */
public record IpcKey(String text) {
    /** Bytes of the field. */
    public static final int BYTES = 65;

    public IpcKey {
        if (text.isEmpty()
                || text.length() >= BYTES
                || text.chars().anyMatch(character -> character <= ' ' || character > '~')) {
            throw AcceleratorException.invalid(
                    "IPC key", "a key has 1 to " + (BYTES - 1) + " printable ASCII characters, not '" + text + "'");
        }
    }

    /** Reads a field. */
    public static IpcKey of(byte[] field) {
        if (field.length != BYTES || field[BYTES - 1] != 0) {
            throw AcceleratorException.invalid(
                    "IPC key",
                    "a key's field has " + BYTES + " bytes, the last of which is 0; this one has " + field.length);
        }
        int length = 0;
        while (field[length] != 0) {
            length++;
        }
        return new IpcKey(new String(field, 0, length, StandardCharsets.US_ASCII));
    }

    /** The field. */
    public byte[] field() {
        return Arrays.copyOf(text.getBytes(StandardCharsets.US_ASCII), BYTES);
    }
}
