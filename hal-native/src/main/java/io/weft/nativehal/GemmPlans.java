// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import io.weft.api.graph.Command;
import io.weft.nativehal.driver.GemmLibrary;
import io.weft.nativehal.driver.GemmPlan;
import io.weft.nativehal.driver.GemmShape;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;

/** The plans of one device's products, by shape. Safe for any thread. */
final class GemmPlans {
    private final GemmLibrary library;
    private final long handle;
    private final long workspaceLimit;
    /** A product that was issued before. */
    private record Recent(Command.Gemm gemm, GemmPlan plan) {}

    /** A power of two: what a schedule issues again and again on one device. */
    private static final int REMEMBERED = 64;

    /** By the identity of the command, whose operands and so whose shape stay; who loses a race looks the shape up. */
    private final Recent[] recent = new Recent[REMEMBERED];

    private final ConcurrentMap<GemmShape, GemmPlan> plans = new ConcurrentHashMap<>();
    private final AtomicLong generation = new AtomicLong();

    /**
     * The device is current.
     *
     * @param library null when there is none; every product is then our own kernel's
     */
    GemmPlans(GemmLibrary library, long workspaceLimit) {
        this.library = library;
        this.handle = library == null ? 0 : library.open();
        this.workspaceLimit = workspaceLimit;
    }

    /** The plan for a product; null without a library. The device is current. */
    @SuppressWarnings("ReferenceEquality") // Comparing values would cost more than looking the shape up.
    GemmPlan plan(Command.Gemm gemm) {
        if (library == null) {
            return null;
        }
        int place = System.identityHashCode(gemm) & (REMEMBERED - 1);
        Recent known = recent[place];
        if (known != null && known.gemm == gemm) {
            return known.plan;
        }
        GemmPlan plan = find(GemmShape.of(gemm));
        recent[place] = new Recent(gemm, plan);
        return plan;
    }

    private GemmPlan find(GemmShape shape) {
        GemmPlan known = plans.get(shape);
        return known != null ? known : plans.computeIfAbsent(shape, key -> library.plan(handle, key, workspaceLimit));
    }

    /** Changes whenever a choice of kernel changes, so that captured graphs notice. */
    long generation() {
        return generation.get();
    }

    /** A choice of kernel has changed. */
    void changed() {
        generation.incrementAndGet();
    }

    void close() {
        plans.values().forEach(GemmPlan::close);
        plans.clear();
        if (library != null) {
            library.close(handle);
        }
    }
}
