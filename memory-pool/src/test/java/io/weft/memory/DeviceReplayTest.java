// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.memory.replay.DevicePoolTarget;
import io.weft.memory.replay.DeviceTarget;
import io.weft.memory.replay.Replay;
import io.weft.memory.replay.ReplayReport;
import io.weft.memory.replay.ReplayTarget;
import io.weft.memory.replay.Trace;
import io.weft.memory.replay.TraceReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Replays in the memory of a device. */
class DeviceReplayTest {
    private static final long MB = 1L << 20;

    @TempDir
    Path folder;

    private final FakePlatform fake = new FakePlatform(1, 1L << 30, true, true);
    private Trace trace;

    @BeforeEach
    void write() throws IOException {
        StringBuilder text = new StringBuilder("op,id,bytes,stream\n");
        for (int i = 0; i < 40; i++) {
            text.append("a,")
                    .append(i)
                    .append(',')
                    .append((1 + i % 7) * MB)
                    .append(',')
                    .append(i % 2)
                    .append('\n');
            text.append("a,").append(100 + i).append(",700,0\n");
            text.append("f,").append(100 + i).append(",700,0\n");
        }
        for (int i = 0; i < 40; i++) {
            text.append("f,")
                    .append(i)
                    .append(',')
                    .append((1 + i % 7) * MB)
                    .append(',')
                    .append(i % 2)
                    .append('\n');
        }
        trace = TraceReader.read(Files.writeString(folder.resolve("step.csv"), text.toString()), null);
    }

    private ReplayReport replay(ReplayTarget target) {
        try (target) {
            return Replay.run(trace, target, 4);
        }
    }

    @Test
    void theDevicesAllocatorIsCalledForEachAllocationAndFree() {
        ReplayReport report = replay(new DeviceTarget(fake.platform.device(0), 1L << 30));
        assertEquals(160, report.deviceCalls());
        assertEquals(3 * 160, report.deviceCallsWarm());
        assertEquals(0, report.refusals());
        assertEquals(0, fake.devices.getFirst().held);
    }

    @Test
    void thePoolCallsItSeldomAndHandsEverythingBack() {
        ReplayReport report = replay(new DevicePoolTarget(fake.platform.device(0), 1L << 30));
        assertTrue(report.deviceCalls() < 80, report::toString);
        assertTrue(report.deviceCallsWarm() < 10, report::toString);
        assertEquals(trace.peakLiveBytes(), report.peakAllocatedBytes());
        assertEquals(0, report.refusals());
        assertEquals(0, fake.devices.getFirst().held);
    }

    @Test
    void whatALimitOrTheDeviceRefusesIsCountedAndNotFatal() {
        long most = trace.peakLiveBytes() / 2;
        assertTrue(replay(new DeviceTarget(fake.platform.device(0), most)).refusals() > 0);
        assertTrue(replay(new DevicePoolTarget(fake.platform.device(0), most)).refusals() > 0);
        FakePlatform small = new FakePlatform(1, most / (2 * MB) * (2 * MB), true, true);
        assertTrue(replay(new DeviceTarget(small.platform.device(0), 1L << 30)).refusals() > 0);
        assertTrue(
                replay(new DevicePoolTarget(small.platform.device(0), 1L << 30)).refusals() > 0);
        assertEquals(0, small.devices.getFirst().held);
    }
}
