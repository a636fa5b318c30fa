// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.BufferView;
import io.weft.api.ElementType;
import io.weft.api.Platform;
import io.weft.api.PlatformUri;
import io.weft.api.Priority;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.runtime.sketch.FlatModel;
import io.weft.runtime.sketch.SketchPlatform;
import io.weft.spi.DeviceDriver;
import io.weft.spi.MetricSource;
import io.weft.spi.PerformanceModel;
import io.weft.spi.PlatformDriver;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class MetricsEndpointTest {
    private final AtomicLong packets = new AtomicLong();

    /** A platform that counts. */
    private Platform counting() {
        PlatformDriver sketch = SketchPlatform.ring(2, 50, "sketch").driver();
        MetricSource source = () -> List.of(
                MetricSource.Metric.counter("link.packets", "", "Packets.", Map.of("card", "0"), packets::doubleValue),
                MetricSource.Metric.gauge("communication.buffer.level", "ratio", "Level.", Map.of(), () -> 0.75),
                MetricSource.Metric.timer("group.switch", "Switches.", Map.of(), () -> 0.002, () -> 100));
        return new Platform(PlatformUri.parse("sketch:ring-2"), new PlatformDriver() {
            @Override
            public io.weft.api.PlatformProperties properties() {
                return sketch.properties();
            }

            @Override
            public List<? extends DeviceDriver> devices() {
                return sketch.devices();
            }

            @Override
            public io.weft.api.topology.Topology topology() {
                return sketch.topology();
            }

            @Override
            public Set<io.weft.api.Capability> capabilities() {
                return sketch.capabilities();
            }

            @Override
            public <T> Optional<T> extension(Class<T> type) {
                return type == MetricSource.class ? Optional.of(type.cast(source)) : sketch.extension(type);
            }

            @Override
            public long nanoTime() {
                return 0;
            }

            @Override
            public void close() {}
        });
    }

    @Test
    void aPlatformsMetricsAreServedInPrometheusFormatUntilItIsClosed() throws Exception {
        try (MetricsEndpoint endpoint = MetricsEndpoint.start(0)) {
            AutoCloseable watched = endpoint.metrics().watch(counting());
            packets.set(42);
            endpoint.metrics().exposedCommunication(0.125);
            collectGarbage();
            String text = get(endpoint.port(), "/metrics");
            assertTrue(text.contains("weft_link_packets_total{card=\"0\",platform=\"sketch:ring-2\"} 42.0"), text);
            assertTrue(text.contains("weft_communication_buffer_level_ratio{platform=\"sketch:ring-2\"} 0.75"), text);
            assertTrue(text.contains("weft_group_switch_seconds_count{platform=\"sketch:ring-2\"} 100"), text);
            assertTrue(text.contains("weft_group_switch_seconds_sum{platform=\"sketch:ring-2\"} 0.002"), text);
            assertTrue(text.contains("weft_exposed_communication_ratio 0.125"), text);
            assertEquals("404", get(endpoint.port(), "/metrics/x"));
            watched.close();
            assertFalse(endpoint.scrape().contains("weft_link_packets_total"), endpoint.scrape());
        }
    }

    /** The source's metrics are reachable from nowhere but the registry: they outlive a collection. */
    private static void collectGarbage() {
        WeakReference<Object> witness = new WeakReference<>(new Object());
        while (witness.get() != null) {
            System.gc();
        }
    }

    private static String get(int port, String path) throws IOException {
        HttpURLConnection connection = (HttpURLConnection)
                URI.create("http://127.0.0.1:" + port + path).toURL().openConnection();
        if (connection.getResponseCode() != 200) {
            return Integer.toString(connection.getResponseCode());
        }
        try (InputStream in = connection.getInputStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void aTakenPortIsRefusedInOneLine() {
        try (MetricsEndpoint endpoint = MetricsEndpoint.start(0)) {
            AcceleratorException refusal =
                    assertThrows(AcceleratorException.class, () -> MetricsEndpoint.start(endpoint.port()));
            assertTrue(refusal.detail().contains("set metrics.port"), refusal.detail());
        }
    }

    @Test
    void communicationBesideComputeIsHiddenAndTheRestIsExposed() {
        CommandGraph.Builder graph = CommandGraph.builder(1);
        Slot a = graph.slot(0, "a", 1 << 20, Slot.Role.INPUT);
        Slot b = graph.slot(0, "b", 1 << 20, Slot.Role.OUTPUT);
        Slot c = graph.slot(0, "c", 1 << 20, Slot.Role.OUTPUT);
        // At 1 PFLOP/s and 50 GB/s: a product of 256^3 takes 33.6 ns, a copy of 1000 bytes 20 ns and one of 2000 bytes
        // 40 ns.
        BufferView matrix = BufferView.matrix(a, 0, 256, 256, ElementType.BF16);
        graph.add(
                0,
                0,
                Priority.NORMAL,
                new Command.Gemm(
                        BufferView.matrix(b, 0, 256, 256, ElementType.BF16),
                        matrix,
                        matrix,
                        false,
                        false,
                        1,
                        0,
                        1,
                        0,
                        0,
                        0),
                "gemm");
        graph.add(
                0,
                1,
                Priority.NORMAL,
                new Command.Copy(
                        BufferView.vector(c, 0, 1000, ElementType.BF16),
                        BufferView.vector(a, 0, 1000, ElementType.BF16),
                        io.weft.api.CopyMethod.AUTO),
                "copy");
        double share = ExposedCommunication.share(new FlatModel()
                .estimate(graph.build(), PerformanceModel.Issue.STREAMS, PerformanceModel.Detail.SUMMARY));
        assertEquals((40 - 33.554432) / 40, share, 1e-6);
    }
}
