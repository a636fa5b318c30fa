// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend;

import io.weft.ascend.hccl.HcclListener;
import io.weft.ascend.transport.TransferReport;
import io.weft.spi.MetricSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * What a platform of this plugin counts while it works: packets of the network and how many were sent again, switches between communication groups, and how full communication buffers are. Counting allocates nothing and is safe for any thread.
 *
 * <p>Names are a contract: {@code weft doctor --ascend --metrics} reads them.
 */
public final class AscendMetrics implements MetricSource, HcclListener {
    /** Payload of a RoCE packet at its largest. */
    private static final long PACKET_BYTES = 4096;

    private final LongAdder packets = new LongAdder();
    private final LongAdder retransmitted = new LongAdder();
    private final LongAdder switches = new LongAdder();
    private final LongAdder switchNanos = new LongAdder();
    private final AtomicLong bufferUsed = new AtomicLong();
    private final AtomicLong bufferSize = new AtomicLong();

    /** Starts at zero. */
    public AscendMetrics() {}

    /** So many packets left by the network. */
    public void sent(long count) {
        packets.add(count);
    }

    /** So many packets were sent again. */
    public void sentAgain(long count) {
        retransmitted.add(count);
    }

    /**
     * Counts a finished transfer over several paths.
     *
     * @param report of the transfer; whatever a card sent again for one chunk counts as one packet, since that is the least it can have been
     */
    public void transferred(TransferReport report) {
        for (TransferReport.PathReport path : report.paths()) {
            sent(Math.ceilDiv(path.deliveredBytes(), PACKET_BYTES) + path.retransmissions());
            sentAgain(path.retransmissions());
        }
    }

    @Override
    public void switched(long nanos) {
        switches.increment();
        switchNanos.add(nanos);
    }

    @Override
    public void bufferUsed(long delta) {
        bufferUsed.addAndGet(delta);
    }

    @Override
    public void bufferSize(long delta) {
        bufferSize.addAndGet(delta);
    }

    /** Share of the buffers in use; 0 when there are none. */
    public double bufferLevel() {
        long size = bufferSize.get();
        return size == 0 ? 0 : (double) bufferUsed.get() / size;
    }

    @Override
    public List<Metric> metrics() {
        return List.of(
                Metric.counter("link.packets", "", "Packets sent by the network.", Map.of(), packets::sum),
                Metric.counter(
                        "link.retransmitted.packets",
                        "",
                        "Packets sent again; less than 0.1 % of all is well.",
                        Map.of(),
                        retransmitted::sum),
                Metric.timer(
                        "group.switch",
                        "Switches of a stream between communication groups; less than 10 us is well.",
                        Map.of(),
                        () -> switchNanos.sum() * 1e-9,
                        switches::sum),
                Metric.gauge(
                        "communication.buffer.level",
                        "ratio",
                        "Share of the communication buffers in use; 0.7 to 0.8 is well.",
                        Map.of(),
                        this::bufferLevel));
    }
}
