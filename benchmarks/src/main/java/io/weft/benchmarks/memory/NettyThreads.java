// SPDX-License-Identifier: Apache-2.0
package io.weft.benchmarks.memory;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** JMH's workers as threads of Netty's own kind: on any other its allocators work without their caches. */
public final class NettyThreads extends ThreadPoolExecutor {
    /** As JMH makes it. */
    public NettyThreads(int threads, String prefix) {
        super(
                threads,
                threads,
                0,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                new DefaultThreadFactory(prefix, true));
    }
}
