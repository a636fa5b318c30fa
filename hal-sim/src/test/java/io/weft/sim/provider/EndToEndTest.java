// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.Accelerators;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.CopyMethod;
import io.weft.api.Device;
import io.weft.api.DiscoveryOptions;
import io.weft.api.ElementType;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Figures;
import io.weft.api.Platform;
import io.weft.api.ProviderVerdict;
import io.weft.api.Stream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class EndToEndTest {
    private static final int N = 64;

    @Test
    void theProviderIsDiscoveredAndOpensByUri() {
        Accelerators accelerators = Accelerators.discover();
        assertTrue(
                accelerators.verdicts().stream()
                        .anyMatch(verdict ->
                                verdict.id().equals("sim") && verdict.state() == ProviderVerdict.State.LOADED),
                accelerators::toString);
        try (Platform platform = accelerators.open("sim:mesh-8")) {
            assertEquals(8, platform.devices().size());
            assertEquals(Figures.MODEL, platform.figures());
        }
    }

    @Test
    void aProductBehindACopyOnAnotherStreamIsRightAndTakesTheSameTimeEveryRun() {
        List<Double> first = run(true);
        assertEquals(first, run(true));
        assertEquals(2 * 3 * N, first.getFirst(), "every element is 2 * 3 * K");
    }

    @Test
    void withoutTheWaitForTheCopyTheProductIsStale() {
        List<Double> stale = run(false);
        assertEquals(stale, run(false));
        assertEquals(1 * 3 * N, stale.getFirst(), "the product saw what was there before the copy");
    }

    @Test
    void decoratorsChangeNeitherDataNorTime() {
        DiscoveryOptions decorated =
                DiscoveryOptions.defaults().decorator("validation").decorator("leaks");
        assertEquals(run(true), run(true, Accelerators.discover(decorated)));
    }

    private static List<Double> run(boolean wait) {
        return run(wait, Accelerators.discover());
    }

    /** Returns an element of the product and all times. */
    private static List<Double> run(boolean wait, Accelerators accelerators) {
        int elements = 1 << 18; // a long copy, of which the operand is the beginning
        ElementType type = ElementType.FP16;
        try (Platform platform = accelerators.open("sim:mesh-8")) {
            Device device = platform.device(0);
            try (Buffer remote = filled(platform.device(5), elements, type, 2);
                    Buffer a = filled(device, elements, type, 1);
                    Buffer b = filled(device, N * N, type, 3);
                    Buffer c = device.allocate(4L * N * N);
                    Stream copies = device.createStream();
                    Stream compute = device.createStream();
                    Event start = device.createEvent(EventOptions.timed());
                    Event copied = device.createEvent(EventOptions.timed());
                    Event done = device.createEvent(EventOptions.timed())) {
                copies.record(start);
                copies.copy(a.vector(elements, type), remote.vector(elements, type), CopyMethod.ENGINE);
                copies.record(copied);
                if (wait) {
                    compute.waitFor(copied);
                }
                compute.gemm(
                        c.matrix(N, N, ElementType.FP32), a.matrix(N, N, type), BufferView.matrix(b, 0, N, N, type));
                compute.record(done);
                done.synchronize();
                copies.synchronize();
                float[] product = c.read(ElementType.FP32, N * N);
                float[] same = new float[N * N];
                Arrays.fill(same, product[0]);
                assertEquals(Arrays.toString(same), Arrays.toString(product));
                List<Double> outcome = new ArrayList<>();
                outcome.add((double) product[0]);
                outcome.add(copied.nanosSince(start));
                outcome.add(done.nanosSince(start));
                outcome.add((double) platform.nanoTime());
                return outcome;
            }
        }
    }

    private static Buffer filled(Device device, int elements, ElementType type, float value) {
        Buffer buffer = device.allocate((long) elements * type.bytes());
        try (Stream stream = device.createStream()) {
            stream.fill(buffer.vector(elements, type), type.encode(value));
        }
        return buffer;
    }
}
