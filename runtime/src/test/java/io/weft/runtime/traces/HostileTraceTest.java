// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.traces;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that were cut off, damaged or made to do harm: one line each, and nothing run. */
class HostileTraceTest {
    private static final Path FIXTURES = Path.of("src", "test", "resources", "traces");

    @TempDir
    Path folder;

    private String refusal(byte[] bytes) throws IOException {
        Path file = Files.write(folder.resolve("file"), bytes);
        AcceleratorException refusal = assertThrows(AcceleratorException.class, () -> TraceFile.read(file, null));
        assertOneLine(refusal);
        return refusal.getMessage();
    }

    private static void assertOneLine(AcceleratorException refusal) {
        assertEquals(ErrorCode.BAD_DOCUMENT, refusal.code());
        assertFalse(refusal.getMessage().contains("\n"), refusal.getMessage());
        assertTrue(refusal.getMessage().length() < 900, refusal.getMessage());
    }

    /** Bytes of a text in which {@code \xHH} is one byte. */
    private static byte[] bytes(String text) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int i = 0; i < text.length(); i++) {
            if (text.startsWith("\\x", i)) {
                out.write(Integer.parseInt(text.substring(i + 2, i + 4), 16));
                i += 3;
            } else {
                out.write(text.charAt(i) == '~' ? '\n' : text.charAt(i));
            }
        }
        return out.toByteArray();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "\\x80\\x02cos~system~U\\x02id\\x85R.|byte 2: the pickle names the class or function 'os.system', which would run code",
                "\\x80\\x04\\x8c\\x02os\\x8c\\x06system\\x93.|byte 14: the pickle names the class or function 'os.system'",
                "(dp0~(S'a'~ios~system~.|the pickle names the class or function 'os.system'",
                "\\x80\\x02]N\\x85R.|byte 5: the pickle makes an object of a class",
                "\\x80\\x02N)\\x81.|makes an object of a class",
                "\\x80\\x02NN}\\x92.|makes an object of a class",
                "\\x80\\x02(No.|makes an object of a class",
                "\\x80\\x02}}b.|makes an object of a class",
                "\\x80\\x02\\x82\\x01.|names a class by an extension code",
                "\\x80\\x02P1~.|refers to data that are not in it",
                "\\x80\\x02NQ.|refers to data that are not in it",
                "\\x80\\x05\\x97.|refers to data that are not in it",
                "\\x80\\x04\\x8f.|holds a set",
                "\\x80\\x09.|the pickle is damaged",
                "\\x80\\x02X\\xff\\xff\\xff\\xffa.|declares a text of 4294967295 bytes",
                "\\x80\\x02X\\xff\\xff\\xff\\x7fa.|declares a text of 2147483647 bytes",
                "\\x80\\x04\\x8d\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x7fa.|declares a text of 9223372036854775807 bytes",
                "\\x80\\x04\\x8e\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xffa.|declares a text of 18446744073709551615 bytes",
                "\\x80\\x02\\x8b\\x00\\x00\\x00\\x40a.|declares a number of 1073741824 bytes",
                "\\x80\\x02X\\x10\\x00\\x00\\x00ab|ends in the middle",
                "\\x80|damaged",
                "\\x80\\x02.|damaged",
                "\\x80\\x02a.|damaged",
                "\\x80\\x02h\\x05.|damaged",
                "\\x80\\x02Nu.|damaged",
                "\\x80\\x02}(Nu.|damaged",
                "\\x80\\x02]Ns.|damaged",
                "\\x80\\x02Ix~.|damaged",
                "\\x80\\x02\\xfe.|damaged",
                "\\x80\\x02].|holds a list, but not of segments",
                "\\x80\\x02}.|with the keys none; accepted is a memory snapshot",
                "\\x80\\x02}U\\x01aNs.|with the keys a; accepted",
                "\\x80\\x02N.|neither a dictionary nor a list",
                "\\x80\\x04]\\x94h\\x00a.|holds a list, but not of segments",
                "\\x80\\x04}\\x94\\x8c\\x08segmentsh\\x00s.|with the keys segments",
            })
    void whatAPickleMustNotDoIsSaidWithItsPlace(String pickle, String expected) throws IOException {
        String message = refusal(bytes(pickle));
        assertTrue(message.contains(expected), message);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "snapshot-0.pickle",
                "snapshot-2.pickle",
                "snapshot-4.pickle",
                "snapshot.json",
                "snapshot.pickle.gz",
                "kineto.json",
                "timeline.raw.json.gz"
            })
    void aFileThatIsCutOffAnywhereIsRefused(String name) throws IOException {
        byte[] whole = Files.readAllBytes(FIXTURES.resolve(name));
        for (int length = 0; length < whole.length - 8; length += 1 + length / 40) {
            refusal(Arrays.copyOf(whole, length));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"snapshot-0.pickle", "snapshot-4.pickle", "snapshot.json", "kineto.json"})
    void damagedBytesGiveATraceOrARefusalAndNothingElse(String name) throws IOException {
        byte[] whole = Files.readAllBytes(FIXTURES.resolve(name));
        SplittableRandom random = new SplittableRandom(11);
        int refused = 0;
        for (int i = 0; i < 500; i++) {
            byte[] bytes = whole.clone();
            for (int change = random.nextInt(1, 6); change > 0; change--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            Path file = Files.write(folder.resolve("file"), bytes);
            try {
                TraceFile.read(file, null);
            } catch (AcceleratorException refusal) {
                assertOneLine(refusal);
                refused++;
            }
        }
        assertTrue(refused > 50, "seed 11: only " + refused + " of 500 were refused");
    }

    @Test
    void rubbishThatCallsItselfAPickleIsRefused() throws IOException {
        SplittableRandom random = new SplittableRandom(12);
        for (int i = 0; i < 500; i++) {
            byte[] bytes = new byte[3 + random.nextInt(300)];
            random.nextBytes(bytes);
            bytes[0] = (byte) 0x80;
            bytes[1] = 4;
            refusal(bytes);
        }
    }

    @Test
    void deepNestingIsNoTrouble() throws IOException {
        int depth = 300_000;
        refusal(bytes("\\x80\\x02" + "]".repeat(depth) + "a".repeat(depth - 1) + "."));
        refusal(bytes("\\x80\\x02" + "(".repeat(depth) + "l".repeat(depth) + "."));
        refusal(("{\"segments\": " + "[".repeat(depth)).getBytes(StandardCharsets.UTF_8));
        refusal(("{\"a\": " + "{\"a\": ".repeat(depth)).getBytes(StandardCharsets.UTF_8));
        refusal("[".repeat(depth).getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void aPickleGetsNoMoreMemoryThanThereIs() throws IOException {
        for (String operation : new String[] {"}", "]", "N", "(", "2", "K\u0001", "}\\x94"}) {
            byte[] pickle = bytes("\\x80\\x04N" + operation.repeat(100_000));
            AcceleratorException refusal = assertThrows(
                    AcceleratorException.class,
                    () -> new DataUnpickler(TraceInput.open(new ByteArrayInputStream(pickle)), "file", 1 << 19).read());
            assertOneLine(refusal);
            assertTrue(refusal.getMessage().contains("JDK_JAVA_OPTIONS"), refusal.getMessage());
        }
    }

    @Test
    void linesOfAnOldPickleHaveAnEnd() throws IOException {
        assertTrue(refusal(bytes("\\x80\\x02I" + "1".repeat(200_000))).contains("a line of more than 64"));
        assertTrue(refusal(bytes("\\x80\\x02V" + "1".repeat(200_000))).contains("a line of more than 65536"));
    }

    @Test
    void aBombInGzipIsStopped() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(bytes("\\x80\\x02V"));
            for (int i = 0; i < 1000; i++) {
                gzip.write(new byte[100_000]);
            }
        }
        assertTrue(refusal(out.toByteArray()).contains("a line of more than"));
    }
}
