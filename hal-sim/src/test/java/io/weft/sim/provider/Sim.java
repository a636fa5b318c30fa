// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.api.PlatformUri;
import io.weft.api.numeric.RandomData;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.junit.jupiter.api.function.Executable;

/** Opens platforms and looks at buffers, for the tests of this package. */
final class Sim {
    static final long SEED = 7_2026;

    private Sim() {}

    static Platform open(String uri) {
        PlatformUri parsed = PlatformUri.parse(uri);
        return new Platform(parsed, new SimProvider().open(parsed));
    }

    static Platform mesh() {
        return open("sim:mesh-8");
    }

    /** Random elements of a seeded stream. */
    static byte[] random(ElementType type, int count, long stream) {
        byte[] data = new byte[count * type.bytes()];
        RandomData.fill(MemorySegment.ofArray(data), type, SEED, stream);
        return data;
    }

    static void write(Buffer buffer, byte[] data) {
        buffer.write(0, MemorySegment.ofArray(data));
    }

    static byte[] read(Buffer buffer, int bytes) {
        byte[] data = new byte[bytes];
        buffer.read(MemorySegment.ofArray(data), 0);
        return data;
    }

    static byte[] filled(int bytes, int value) {
        byte[] data = new byte[bytes];
        Arrays.fill(data, (byte) value);
        return data;
    }

    /** Runs something that must be refused with a code, and hands out the refusal. */
    static AcceleratorException refused(ErrorCode code, Executable call, String... words) {
        AcceleratorException refusal = assertThrows(AcceleratorException.class, call);
        assertEquals(code, refusal.code(), refusal::getMessage);
        for (String word : words) {
            assertTrue(
                    refusal.getMessage().contains(word), () -> "'" + word + "' is missing in: " + refusal.getMessage());
        }
        return refusal;
    }

    /** The first failure of a chain of causes. */
    static AcceleratorException root(AcceleratorException failure) {
        AcceleratorException at = failure;
        while (at.getCause() instanceof AcceleratorException deeper) {
            at = deeper;
        }
        return at;
    }
}
