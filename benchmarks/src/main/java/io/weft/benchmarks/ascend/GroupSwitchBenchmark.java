// SPDX-License-Identifier: Apache-2.0
package io.weft.benchmarks.ascend;

import io.weft.ascend.group.Group;
import io.weft.ascend.group.GroupTable;
import io.weft.ascend.group.Launch;
import io.weft.ascend.group.LaunchDescriptor;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** One stream that serves several groups in turn, so that every launch changes the group: host time of the change alone, and of a launch and its end around it. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class GroupSwitchBenchmark {
    /** Groups that take turns. */
    @Param({"2", "8"})
    public int groups;

    private final LaunchDescriptor descriptor = new LaunchDescriptor();
    private final Launch launch = new Launch(true);
    private Group[] all;
    private int next;

    /** Makes groups with a few windows each. */
    @Setup
    public void setUp() {
        GroupTable table = new GroupTable();
        all = new Group[groups];
        for (int i = 0; i < groups; i++) {
            all[i] = table.open("group " + i, 0, 8);
            for (int window = 0; window < 8; window++) {
                all[i].addWindow((i * 8L + window) << 32, 200L << 20);
            }
        }
    }

    private Group turn() {
        next = next + 1 == groups ? 0 : next + 1;
        return all[next];
    }

    /** The change alone. */
    @Benchmark
    public Object change() {
        return descriptor.switchTo(turn());
    }

    /** The change, a launch with its semaphore and place in the ring, and its end. */
    @Benchmark
    public Object changeAndLaunch() {
        Group group = turn();
        group.launch(descriptor, launch);
        return group.end(launch);
    }

    /** A launch of the group that is there already. */
    @Benchmark
    public Object launchWithoutChange() {
        all[0].launch(descriptor, launch);
        return all[0].end(launch);
    }
}
