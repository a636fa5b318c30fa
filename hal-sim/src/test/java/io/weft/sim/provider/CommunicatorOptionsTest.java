// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Capability;
import io.weft.api.Communicator;
import io.weft.api.CommunicatorOptions;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.api.ReduceOp;
import io.weft.api.Stream;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CommunicatorOptionsTest {
    private static final int COUNT = 1 << 20;
    private static final CommunicatorOptions PATIENT =
            CommunicatorOptions.defaults().withBlocking(false);
    private Platform platform;

    @BeforeEach
    void open() {
        platform = Sim.mesh();
    }

    @AfterEach
    void close() {
        platform.close();
    }

    private Communicator join(byte[] id, int rank, CommunicatorOptions options) {
        return Communicator.join(platform, id, 2, Map.of(rank, platform.device(rank)), options);
    }

    @Test
    void oneThatDoesNotBlockIsReadyWhenAllHaveJoinedAndAgainWhenItIsFinished() {
        assertTrue(platform.has(Capability.COMMUNICATOR_OPTIONS));
        byte[] id = Communicator.newUniqueId(platform);
        Communicator zero = join(id, 0, PATIENT);
        assertFalse(zero.isReady());
        Communicator one = join(id, 1, PATIENT);
        assertTrue(zero.isReady());
        reduce(zero, 0);
        reduce(one, 1);
        zero.finish();
        zero.finish();
        assertFalse(zero.isReady());
        int polls = 0;
        while (!zero.isReady()) {
            polls++;
        }
        assertTrue(polls > 1, "virtual time goes on while one polls: " + polls);
        Sim.refused(ErrorCode.INVALID_STATE, () -> reduce(one, 1), "was finished before");
        zero.close();
        one.close();
    }

    private void reduce(Communicator communicator, int rank) {
        Buffer buffer = platform.device(rank).allocate(4L * COUNT);
        BufferView view = buffer.vector(COUNT, ElementType.FP32);
        Stream stream = platform.device(rank).createStream();
        communicator.allReduce(rank, view, view, ReduceOp.SUM, stream);
    }

    @Test
    void oneThatBlocksHasFinishedWhatWasIssuedWhenFinishReturns() {
        try (Communicator all = Communicator.overAll(platform)) {
            try (Communicator.Group group = all.group()) {
                for (int rank = 0; rank < all.size(); rank++) {
                    Buffer buffer = platform.device(rank).allocate(4L * COUNT);
                    BufferView view = buffer.vector(COUNT, ElementType.FP32);
                    group.allReduce(
                            rank,
                            view,
                            view,
                            ReduceOp.SUM,
                            platform.device(rank).defaultStream());
                }
            }
            assertFalse(platform.device(0).defaultStream().query());
            all.finish();
            assertTrue(platform.device(0).defaultStream().query());
            assertTrue(all.isReady());
        }
    }

    @Test
    void membersThatDifferAndUseTooEarlyAreRefused() {
        byte[] id = Communicator.newUniqueId(platform);
        Communicator zero = join(id, 0, PATIENT);
        Sim.refused(ErrorCode.INVALID_STATE, () -> reduce(zero, 0), "rank 1", "isReady()");
        Sim.refused(ErrorCode.INVALID_ARGUMENT, () -> join(id, 1, CommunicatorOptions.defaults()), "all must do alike");
        zero.abort();
        Sim.refused(ErrorCode.ABORTED, zero::finish);
        zero.close();
    }

    @Test
    void aSplitTakesOptionsOverOrItsOwn() {
        byte[] id = Communicator.newUniqueId(platform);
        Communicator world =
                Communicator.join(platform, id, 2, Map.of(0, platform.device(0), 1, platform.device(1)), PATIENT);
        Map<Integer, Integer> colors = Map.of(0, 0, 1, 0);
        Communicator inherited = world.split(colors, Map.of(), null).get(0);
        Communicator blocking =
                world.split(colors, Map.of(), CommunicatorOptions.defaults()).get(0);
        assertEquals(2, inherited.size());
        assertTrue(blocking.isReady() && inherited.isReady());
        inherited.close();
        blocking.close();
        world.close();
    }
}
