// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Capability;
import io.weft.api.CopyMethod;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Platform;
import io.weft.api.ReduceOp;
import io.weft.api.Stream;
import io.weft.api.graph.Command;
import io.weft.api.topology.LinkKind;
import java.util.EnumSet;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The native path from the API to the libraries' functions and back, on the stand-in. */
class StandInTest {
    private static StandIn standIn;
    private static Platform platform;

    @BeforeAll
    static void open() {
        standIn = StandIn.whole();
        platform = standIn.open();
    }

    @AfterAll
    static void close() {
        if (platform != null) {
            platform.close();
        }
    }

    @Test
    void aWholeInstallationHasEveryCapabilityOfHardware() {
        EnumSet<Capability> wanted = EnumSet.allOf(Capability.class);
        wanted.remove(Capability.PERFORMANCE_MODEL);
        wanted.remove(Capability.FAULT_INJECTION); // that is a model's, for tests
        wanted.remove(Capability.COMMUNICATOR_OPTIONS); // not passed to the library yet
        assertEquals(wanted, platform.capabilities());
        assertEquals("2 x Stand-in GPU", platform.properties().machine());
        assertEquals("13.0", platform.properties().versions().get("runtime"));
        assertEquals("2.28.3", platform.properties().versions().get("NCCL"));
    }

    @Test
    void linksComeFromTheManagementLibrary() {
        assertEquals(LinkKind.FABRIC, platform.topology().link(0, 1).kind());
        assertEquals("NV6", platform.topology().link(0, 1).name());
        assertEquals(6, platform.topology().link(1, 0).width());
        assertEquals("0000:1a:00.0", platform.device(0).properties().busId());
        assertEquals("sm_90", platform.device(0).properties().architecture());
    }

    @Test
    void bytesGoInAndComeOut() {
        try (Buffer buffer = platform.device(1).allocate(4096)) {
            buffer.write(ElementType.FP32, 1, -2, 3.5f);
            assertArrayEquals(new float[] {1, -2, 3.5f}, buffer.read(ElementType.FP32, 3));
        }
    }

    @ParameterizedTest
    @EnumSource(CopyMethod.class)
    void copiesCrossDevices(CopyMethod method) {
        Device first = platform.device(0);
        try (Buffer from = first.allocate(4096);
                Buffer to = platform.device(1).allocate(4096);
                Stream stream = first.createStream()) {
            from.write(ElementType.FP32, 7, 8, 9);
            stream.copy(to.vector(1024, ElementType.FP32), from.vector(1024, ElementType.FP32), method);
            stream.synchronize();
            assertArrayEquals(new float[] {7, 8, 9}, to.read(ElementType.FP32, 3));
        }
    }

    @Test
    void stridedCopiesAndFillsLeaveGapsAlone() {
        try (Buffer from = platform.device(0).allocate(4096);
                Buffer to = platform.device(0).allocate(4096);
                Stream stream = platform.device(0).createStream()) {
            stream.fill(to.vector(1024, ElementType.FP32), Float.floatToRawIntBits(-1));
            stream.fill(from.vector(1024, ElementType.FP32), Float.floatToRawIntBits(5));
            BufferView window = BufferView.pitched(to, 4, 2, 3, 8, ElementType.FP32);
            stream.copy(window, BufferView.pitched(from, 0, 2, 3, 4, ElementType.FP32));
            stream.fill(BufferView.pitched(to, 4, 2, 1, 8, ElementType.FP32), Float.floatToRawIntBits(2));
            stream.synchronize();
            assertArrayEquals(
                    new float[] {-1, 2, 5, 5, -1, -1, -1, -1, -1, 2, 5, 5, -1}, to.read(ElementType.FP32, 13));
        }
    }

    @Test
    void anEventOrdersStreamsOfTwoDevicesAndTellsTheTime() {
        Device first = platform.device(0);
        Device second = platform.device(1);
        standIn.set("late-copy-us", 20_000);
        try (Buffer from = first.allocate(1024);
                Buffer middle = second.allocate(1024);
                Buffer to = second.allocate(1024);
                Stream one = first.createStream();
                Stream two = second.createStream();
                Event begun = first.createEvent(EventOptions.timed());
                Event done = first.createEvent(EventOptions.timed())) {
            from.write(ElementType.FP32, 11);
            one.record(begun);
            one.copy(middle.vector(256, ElementType.FP32), from.vector(256, ElementType.FP32));
            one.record(done);
            two.waitFor(done);
            two.copy(to.vector(256, ElementType.FP32), middle.vector(256, ElementType.FP32));
            two.synchronize();
            assertEquals(11, to.read(ElementType.FP32, 1)[0]);
            // The platform's clock follows the device's, which it may take to be off by a fraction of a thousandth.
            assertTrue(done.nanosSince(begun) >= 20e6 * 0.999, "a copy that took 20 ms seems to have taken less");
        } finally {
            standIn.set("late-copy-us", 0);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "BF16, BF16, false, false",
        "BF16, FP32, true, false",
        "FP16, FP16, false, true",
        "FP32, FP32, true, true",
        "FP8_E4M3, BF16, false, true",
        "FP8_E4M3, FP32, false, false",
        "FP8_E5M2, FP16, false, true",
        "FP8_E4M3, FP8_E4M3, false, true"
    })
    void productsAreThoseOfAPlainLoop(ElementType in, ElementType out, boolean transposeA, boolean transposeB) {
        int m = 16;
        int n = 32;
        int k = 48;
        RandomGenerator random = RandomGenerator.of("L64X128MixRandom");
        float[] a = values(random, m * k, in);
        float[] b = values(random, k * n, in);
        float[] c = values(random, m * n, out);
        try (Buffer bufferA = platform.device(1).allocate(4L * m * k);
                Buffer bufferB = platform.device(1).allocate(4L * k * n);
                Buffer bufferC = platform.device(1).allocate(4L * m * n);
                Stream stream = platform.device(1).createStream()) {
            bufferA.write(in, a);
            bufferB.write(in, b);
            bufferC.write(out, c);
            stream.enqueue(new Command.Gemm(
                    bufferC.matrix(m, n, out),
                    transposeA ? bufferA.matrix(k, m, in) : bufferA.matrix(m, k, in),
                    transposeB ? bufferB.matrix(n, k, in) : bufferB.matrix(k, n, in),
                    transposeA,
                    transposeB,
                    2,
                    0.5f,
                    1,
                    0,
                    0,
                    0));
            stream.synchronize();
            float[] actual = bufferC.read(out, m * n);
            for (int row = 0; row < m; row++) {
                for (int column = 0; column < n; column++) {
                    float sum = 0;
                    for (int i = 0; i < k; i++) {
                        float x = transposeA ? a[i * m + row] : a[row * k + i];
                        float y = transposeB ? b[column * k + i] : b[i * n + column];
                        sum = Math.fma(x, y, sum);
                    }
                    float wanted = out.decode(out.encode(Math.fma(0.5f, c[row * n + column], 2 * sum)));
                    assertEquals(wanted, actual[row * n + column], in + " to " + out + " at " + row + ", " + column);
                }
            }
        }
    }

    private static float[] values(RandomGenerator random, int count, ElementType type) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = type.decode(type.encode(random.nextFloat(-2, 2)));
        }
        return values;
    }

    @Test
    void whatTheLibraryRefusesOurOwnKernelComputes() {
        long before = standIn.get("reference-gemms");
        productsAreThoseOfAPlainLoop(ElementType.FP8_E4M3, ElementType.BF16, false, false);
        assertEquals(before + 1, standIn.get("reference-gemms"));
    }

    @Test
    void reductionsAddUpInFp32AndRoundOnce() {
        int count = 1003;
        try (Buffer one = platform.device(0).allocate(2 * 1024);
                Buffer two = platform.device(0).allocate(2 * 1024);
                Buffer three = platform.device(0).allocate(2 * 1024);
                Stream stream = platform.device(0).createStream()) {
            RandomGenerator random = RandomGenerator.of("L64X128MixRandom");
            float[] x = values(random, count, ElementType.BF16);
            float[] y = values(random, count, ElementType.BF16);
            float[] z = values(random, count, ElementType.BF16);
            one.write(ElementType.BF16, x);
            two.write(ElementType.BF16, y);
            three.write(ElementType.BF16, z);
            stream.reduce(
                    one.vector(count, ElementType.BF16),
                    List.of(
                            one.vector(count, ElementType.BF16),
                            two.vector(count, ElementType.BF16),
                            three.vector(count, ElementType.BF16)),
                    ReduceOp.SUM);
            stream.synchronize();
            float[] sum = one.read(ElementType.BF16, count);
            for (int i = 0; i < count; i++) {
                assertEquals(ElementType.BF16.decode(ElementType.BF16.encode(x[i] + y[i] + z[i])), sum[i]);
            }
        }
    }
}
