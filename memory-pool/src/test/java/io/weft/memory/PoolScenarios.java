// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.Device;
import io.weft.api.ErrorCode;
import io.weft.api.Stream;
import io.weft.memory.FakePlatform.FakeStream;
import io.weft.memory.replay.CountedPages;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * What users of other pools reported, as short programs against this one. Each throws when the pool behaves as reported. They are run against the pool and against
 * copies of it into which the reported bug was put, so they touch nothing but the pool and the fake platform.
 */
enum PoolScenarios implements Runnable {
    MEMORY_THAT_ONE_STREAM_HAS_PASSED_SERVES_ANOTHER {
        @Override
        public void run() {
            PoolCore core = core(64 * MB);
            for (int i = 0; i < 50; i++) {
                core.free(need(core.allocate(40 * MB, i % 2)), i % 2);
                core.free(need(core.allocate(1000, i % 2)), i % 2);
            }
            PoolStatistics now = core.statistics();
            check(now.waitsInserted() == 0 && now.retries() == 0, "it had to wait: " + now);
        }
    },
    SCATTERED_FREE_MEMORY_SERVES_ONE_LARGE_REQUEST {
        @Override
        public void run() {
            PoolCore core = core(100 * MB);
            List<Long> all = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                all.add(need(core.allocate(2 * MB, 0)));
            }
            for (int i = 0; i < 50; i += 2) {
                core.free(all.get(i), 0);
            }
            need(core.allocate(48 * MB, 0));
        }
    },
    PIECES_FREED_SIDE_BY_SIDE_JOIN {
        @Override
        public void run() {
            PoolCore core = core(64 * MB);
            List<Long> all = new ArrayList<>();
            for (int i = 0; i < 32; i++) {
                all.add(need(core.allocate(2 * MB, 0)));
            }
            all.forEach(at -> core.free(at, 0));
            check(core.largestFree() == 64 * MB, "the largest piece has " + core.largestFree() + " bytes");
        }
    },
    SMALL_LONG_LIVED_BLOCKS_LEAVE_LARGE_HOLES {
        @Override
        public void run() {
            PoolCore core = core(1L << 40);
            core.free(need(core.allocate(200 * MB, 0)), 0);
            List<Long> large = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                // Each of its own class.
                need(core.allocate((long) (200 * Math.pow(1.13, i)), 0));
                large.add(need(core.allocate(2 * MB, 0)));
            }
            need(core.allocate(core.largestFree(), 0));
            large.forEach(at -> core.free(at, 0));
            check(core.largestFree() >= 20 * MB, "the largest hole has " + core.largestFree() + " bytes");
        }
    },
    DRIFTING_ITERATIONS_DO_NOT_FRAGMENT {
        @Override
        public void run() {
            PoolCore core = core(1L << 40);
            SplittableRandom random = new SplittableRandom(72);
            for (int iteration = 0; iteration < 600; iteration++) {
                long length = 100L + random.nextInt(400);
                long[] at = new long[40];
                for (int layer = 0; layer < at.length; layer++) {
                    at[layer] = need(core.allocate(length * (16 + layer % 5) * 512, 0));
                    core.free(need(core.allocate(length * 7 * 512, 0)), 0);
                    core.free(need(core.allocate(1 + random.nextInt(100_000), 0)), 0);
                }
                for (int layer = at.length - 1; layer >= 0; layer--) {
                    core.free(at[layer], 0);
                }
                core.nextIteration(iteration * 50_000_000L);
            }
            PoolStatistics end = core.statistics();
            check(end.fragmentation() < 0.07, "fragmentation " + end.fragmentation());
        }
    },
    ODD_SIZES_ARE_SERVED_AGAIN_FROM_THE_SAME_MEMORY {
        @Override
        public void run() {
            CountedPages pages = new CountedPages(1L << 40, true);
            PoolCore core =
                    new PoolCore(pages, StreamOrder.immediate(), options().withAlignment(4096));
            for (int i = 0; i < 200; i++) {
                core.free(need(core.allocate(6 * MB - 13, 0)), 0);
                core.free(need(core.allocate(4097, 0)), 0);
            }
            check(pages.calls() <= 8, pages.calls() + " calls of the device");
            long misses = core.statistics().tierMisses();
            check(misses <= 8, misses + " times what is free was not found");
        }
    },
    A_BUSY_STREAMS_MEMORY_IS_NOT_GIVEN_TO_ANOTHER {
        @Override
        public void run() {
            Rig rig = new Rig();
            DevicePool pool = rig.pool(options());
            Buffer first = pool.allocate(3 * MB, rig.a);
            long address = first.address();
            issue(rig.a);
            first.close();
            Stream later = rig.device.createStream();
            for (Stream other : List.of(rig.b, later)) {
                check(pool.allocate(3 * MB, other).address() != address, "it was given away");
            }
        }
    },
    A_USE_ON_ANOTHER_STREAM_HOLDS_MEMORY {
        @Override
        public void run() {
            for (long bytes : new long[] {1000, 3 * MB}) {
                Rig rig = new Rig();
                DevicePool pool = rig.pool(options());
                Buffer first = pool.allocate(bytes, rig.a);
                long address = first.address();
                pool.recordUse(first, rig.b);
                issue(rig.b);
                first.close();
                check(pool.allocate(bytes, rig.a).address() != address, "it was reused");
            }
        }
    },
    POOLS_OF_TWO_DEVICES_SHARE_NO_EVENT {
        @Override
        public void run() {
            FakePlatform fake = new FakePlatform(2, 256 * MB, false, true);
            for (int round = 0; round < 4; round++) {
                for (Device device : fake.platform.devices()) {
                    Stream one = device.createStream();
                    Stream two = device.createStream();
                    DevicePool pool = DevicePool.open(device, SegmentSource.device(device), options());
                    Buffer buffer = pool.allocate(1000, one);
                    pool.recordUse(buffer, two);
                    buffer.close();
                    pool.trim();
                    long held = pool.statistics().reservedBytes();
                    check(held == 0, held + " bytes wait for an event that never comes");
                }
            }
        }
    },
    CLOSED_STREAMS_ARE_FORGOTTEN {
        @Override
        public void run() {
            Rig rig = new Rig();
            StreamTable table = new StreamTable(rig.device);
            int highest = 0;
            for (int i = 0; i < 100; i++) {
                Stream shortLived = rig.device.createStream();
                highest = Math.max(highest, table.number(shortLived));
                shortLived.close();
            }
            check(highest < 2, highest + " streams are kept");
        }
    },
    BUSY_MEMORY_IS_WAITED_FOR_BEFORE_A_REQUEST_IS_REFUSED {
        @Override
        public void run() {
            Rig rig = new Rig();
            DevicePool pool = rig.pool(options().withLimits(4 * MB, 4 * MB));
            Buffer first = pool.allocate(4 * MB, rig.a);
            issue(rig.a);
            first.close();
            pool.allocate(4 * MB, rig.b);
        }
    },
    SMALL_REQUESTS_ARE_RETRIED_AS_LARGE_ONES_ARE {
        @Override
        public void run() {
            Rig rig = new Rig();
            DevicePool pool = rig.pool(options().withLimits(4 * MB, 4 * MB));
            Buffer first = pool.allocate(4 * MB, rig.a);
            issue(rig.a);
            first.close();
            pool.allocate(1000, rig.b);
        }
    },
    A_POOL_AT_ITS_LIMIT_FROM_THE_START_SERVES_TWO_HALVES {
        @Override
        public void run() {
            PoolCore core = new PoolCore(
                    new CountedPages(1L << 40, true),
                    StreamOrder.immediate(),
                    options().withLimits(64 * MB, 64 * MB).withSegmentBytes(64 * MB));
            need(core.allocate(32 * MB, 0));
            need(core.allocate(32 * MB, 0));
        }
    },
    EVENTS_ARE_HANDED_BACK_AT_CLOSE {
        @Override
        public void run() {
            Rig rig = new Rig();
            DevicePool pool = rig.pool(options());
            for (int i = 0; i < 20; i++) {
                Buffer buffer = pool.allocate(1000 + i * 100_000L, rig.a);
                pool.recordUse(buffer, rig.b);
                issue(rig.b);
                buffer.close();
            }
            pool.close();
            check(rig.fake.devices.getFirst().openEvents == 0, "events are left");
        }
    },
    CLOSING_HANDS_EVERY_BYTE_BACK {
        @Override
        public void run() {
            Rig rig = new Rig();
            DevicePool pool = rig.pool(options());
            pool.allocate(1000, rig.a).close();
            pool.allocate(5 * MB, rig.a).close();
            pool.close();
            check(rig.fake.devices.getFirst().held == 0, "memory is left");
        }
    },
    TRIMMING_HANDS_EMPTY_SPANS_BACK {
        @Override
        public void run() {
            PoolCore core = core(1L << 40);
            List<Long> all = new ArrayList<>();
            for (int i = 0; i < 2000; i++) {
                all.add(need(core.allocate(1 + 37 * i, 0)));
            }
            all.forEach(at -> core.free(at, 0));
            core.trim();
            check(core.reservedBytes() == 0, core.reservedBytes() + " bytes are left");
        }
    },
    BLOCKS_FREED_BY_ANOTHER_THREAD_COME_BACK {
        @Override
        public void run() {
            PoolCore core = core(1L << 40);
            long[] at = new long[1000];
            for (int round = 0; round < 60; round++) {
                for (int i = 0; i < at.length; i++) {
                    at[i] = need(core.allocate(1000, 0));
                }
                Thread other = Thread.ofPlatform().start(() -> {
                    for (long address : at) {
                        core.free(address, 0);
                    }
                });
                try {
                    other.join();
                } catch (InterruptedException interrupted) {
                    throw new AssertionError(interrupted);
                }
            }
            check(core.reservedBytes() <= 8 * MB, core.reservedBytes() + " bytes are held");
        }
    },
    A_FOREIGN_BUFFER_IS_REFUSED {
        @Override
        public void run() {
            Rig rig = new Rig();
            DevicePool mine = rig.pool(options());
            DevicePool theirs = rig.pool(options());
            Buffer foreign = theirs.allocate(100, rig.a);
            expect(ErrorCode.INVALID_ARGUMENT, () -> mine.free(foreign, rig.a));
        }
    },
    A_DOUBLE_FREE_IS_NAMED {
        @Override
        public void run() {
            for (long bytes : new long[] {100, 3 * MB}) {
                PoolCore core = core(1L << 40);
                long keep = need(core.allocate(bytes, 0));
                long at = need(core.allocate(bytes, 0));
                core.free(at, 0);
                expect(ErrorCode.CLOSED, () -> core.free(at, 0));
                core.free(keep, 0);
            }
        }
    },
    BYTES_ADD_UP_TO_NOTHING_AT_THE_END {
        @Override
        public void run() {
            PoolCore core = core(1L << 40);
            SplittableRandom random = new SplittableRandom(3);
            List<Long> all = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                all.add(need(core.allocate(1 + random.nextInt(3 << 20), 0)));
            }
            all.forEach(at -> core.free(at, 0));
            PoolStatistics end = core.statistics();
            check(end.allocatedBytes() == 0 && end.usedBytes() == 0 && end.liveBuffers() == 0, end.toString());
        }
    },
    AN_ALIGNMENT_THAT_CANNOT_BE_KEPT_IS_REFUSED {
        @Override
        public void run() {
            for (long alignment : new long[] {0, 32, 100, 1 << 20}) {
                expect(ErrorCode.INVALID_ARGUMENT, () -> options().withAlignment(alignment));
            }
        }
    },
    EVERY_ADDRESS_IS_ALIGNED_AS_ASKED {
        @Override
        public void run() {
            PoolCore core = new PoolCore(
                    new CountedPages(1L << 40, true),
                    StreamOrder.immediate(),
                    options().withAlignment(2048));
            for (long bytes = 1; bytes < 3 * MB; bytes = bytes * 5 / 3 + 1) {
                for (int i = 0; i < 2; i++) {
                    check(need(core.allocate(bytes, 0)) % 2048 == 0, bytes + " bytes are not aligned");
                }
            }
        }
    },
    THE_LIMIT_COUNTS_WHAT_THE_DEVICE_HANDS_OUT {
        @Override
        public void run() {
            CountedPages pages = new CountedPages(1L << 40, true);
            PoolCore core =
                    new PoolCore(pages, StreamOrder.immediate(), options().withLimits(32 * MB, 32 * MB));
            for (int i = 0; i < 100; i++) {
                core.allocate(1_500_000, 0);
                check(pages.heldBytes() <= 32 * MB, pages.heldBytes() + " bytes are held");
            }
        }
    },
    A_REFUSAL_LEAVES_NOTHING_BEHIND {
        @Override
        public void run() {
            CountedPages pages = new CountedPages(64 * MB, true);
            PoolCore core = new PoolCore(pages, StreamOrder.immediate(), options());
            need(core.allocate(10 * MB, 0));
            check(core.allocate(1L << 30, 0) < 0, "it was not refused");
            check(core.reservedBytes() == pages.heldBytes(), "it counts " + core.reservedBytes() + " bytes");
            need(core.allocate(40 * MB, 0));
        }
    },
    A_SYMMETRIC_HEAPS_PIECES_JOIN {
        @Override
        public void run() {
            OffsetAllocator offsets = new OffsetAllocator(4 * MB);
            long first = offsets.allocate(2 * MB, 512);
            long second = offsets.allocate(2 * MB, 512);
            offsets.free(second);
            offsets.free(first);
            check(offsets.allocate(4 * MB, 512) == 0, "the largest gap has " + offsets.largestFree() + " bytes");
        }
    };

    private static final long MB = 1L << 20;

    /** Two streams of a device that moves only when told to. */
    private static final class Rig {
        final FakePlatform fake = new FakePlatform(1, 256 * MB, false, true);
        final Device device = fake.platform.device(0);
        final Stream a = device.createStream();
        final Stream b = device.createStream();

        DevicePool pool(PoolOptions options) {
            return DevicePool.open(device, SegmentSource.device(device), options);
        }
    }

    private static PoolOptions options() {
        return PoolOptions.defaults().withSegmentBytes(2 * MB);
    }

    private static PoolCore core(long limit) {
        return new PoolCore(new CountedPages(limit, true), StreamOrder.immediate(), options());
    }

    private static void issue(Stream stream) {
        ((FakeStream) stream.driver()).issue();
    }

    private static long need(long address) {
        check(address >= 0, "refused with " + address);
        return address;
    }

    private static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }

    private static void expect(ErrorCode code, Runnable call) {
        try {
            call.run();
        } catch (AcceleratorException error) {
            check(error.code() == code, "it says " + error.getMessage());
            return;
        }
        throw new AssertionError("nothing was said, " + code + " was due");
    }
}
