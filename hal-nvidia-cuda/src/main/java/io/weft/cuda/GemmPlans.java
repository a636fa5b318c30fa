// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda;

import io.weft.api.graph.Command;
import io.weft.cuda.ffi.CublasLt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;

/** The plans of one device's products, by shape. Safe for any thread. */
final class GemmPlans {
    private final CublasLt library;
    private final long handle;
    private final long workspaceLimit;
    private final ConcurrentMap<GemmShape, GemmPlan> plans = new ConcurrentHashMap<>();
    private final AtomicLong generation = new AtomicLong();

    /**
     * The device is current.
     *
     * @param library null when there is none; every product is then our own kernel's
     */
    GemmPlans(CublasLt library, long workspaceLimit) {
        this.library = library;
        this.handle = library == null ? 0 : library.create();
        this.workspaceLimit = workspaceLimit;
    }

    /** The plan for a product. The device is current. */
    GemmPlan plan(Command.Gemm gemm) {
        GemmShape shape = GemmShape.of(gemm);
        GemmPlan known = plans.get(shape);
        return known != null
                ? known
                : plans.computeIfAbsent(shape, key -> new GemmPlan(library, handle, key, workspaceLimit));
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
            library.destroy(handle);
        }
    }
}
