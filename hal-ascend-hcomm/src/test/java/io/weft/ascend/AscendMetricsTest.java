// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.weft.ascend.transport.TransferReport;
import io.weft.ascend.transport.TransferReport.PathReport;
import io.weft.spi.MetricSource.Metric;
import java.util.List;
import org.junit.jupiter.api.Test;

class AscendMetricsTest {
    private final AscendMetrics metrics = new AscendMetrics();

    private Metric metric(String name) {
        return metrics.metrics().stream()
                .filter(candidate -> candidate.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aTransfersPacketsAndThoseSentAgainAreCounted() {
        metrics.transferred(new TransferReport(
                true,
                3 * 4096 + 1,
                1000,
                List.of(new PathReport("roce0", 2 * 4096, 0, 5, true), new PathReport("roce1", 4097, 0, 0, true)),
                0,
                0,
                0));
        assertEquals(2 + 5 + 2, metric("link.packets").value().getAsDouble());
        assertEquals(5, metric("link.retransmitted.packets").value().getAsDouble());
    }

    @Test
    void aBuffersLevelIsWhatIsUsedOfWhatIsThere() {
        assertEquals(0, metric("communication.buffer.level").value().getAsDouble());
        metrics.bufferSize(1000);
        metrics.bufferUsed(900);
        metrics.bufferUsed(-150);
        assertEquals(0.75, metric("communication.buffer.level").value().getAsDouble());
    }

    @Test
    void switchesAreCountedWithTheirTime() {
        metrics.switched(400);
        metrics.switched(600);
        Metric timer = metric("group.switch");
        assertEquals(2, timer.count().getAsDouble());
        assertEquals(1e-6, timer.value().getAsDouble(), 1e-15);
    }
}
