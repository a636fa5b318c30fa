// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * How much of the host's memory simulated buffers may take. A machine of eight devices with 192 GB each must not exhaust a laptop, so a platform books host
 * memory when it allocates and is refused in good time. Budgets are nested: a platform's own within the process's. Safe for any thread.
 */
final class HostMemoryBudget {
    /** Share of the physical memory that all platforms of a process may take; the rest is for the JVM and others. */
    private static final double PROCESS_SHARE = 0.75;

    private static final class Shared {
        static final HostMemoryBudget BUDGET = new HostMemoryBudget(null, (long) (PROCESS_SHARE * physicalBytes()));
    }

    private final HostMemoryBudget parent;
    private final long limit;
    private long taken;

    private HostMemoryBudget(HostMemoryBudget parent, long limit) {
        this.parent = parent;
        this.limit = limit;
    }

    /** The budget that all platforms of this process share. */
    static HostMemoryBudget process() {
        return Shared.BUDGET;
    }

    /** A smaller budget inside this one; 0 for no limit of its own. */
    HostMemoryBudget within(long bytes) {
        return new HostMemoryBudget(this, bytes == 0 ? Long.MAX_VALUE : bytes);
    }

    /** Books bytes, or books nothing and returns false. */
    synchronized boolean take(long bytes) {
        if (bytes > limit - taken || (parent != null && !parent.take(bytes))) {
            return false;
        }
        taken += bytes;
        return true;
    }

    /** Gives bytes back. */
    synchronized void give(long bytes) {
        taken -= bytes;
        if (parent != null) {
            parent.give(bytes);
        }
    }

    /** Bytes booked now. */
    synchronized long taken() {
        return taken;
    }

    /** The tightest limit that applies here, bytes. */
    long limit() {
        return parent == null ? limit : Math.min(limit, parent.limit());
    }

    private static long physicalBytes() {
        // Knows about containers, unlike the files under /proc.
        return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system
                ? system.getTotalMemorySize()
                : 2 * Runtime.getRuntime().maxMemory();
    }
}
