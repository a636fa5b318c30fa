// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.execute;

import java.util.List;

/**
 * What one command does to memory: it reads some operands and writes others. Made when the command starts, run after it has completed. Confined to the
 * platform's lock, except that {@link #run()} may be called from another thread while the lock is held.
 */
public abstract sealed class Effect permits CopyEffect, FillEffect, GemmEffect, ReduceEffect, CollectiveEffect {
    final List<Operand> reads;
    final List<Operand> writes;

    Effect(List<Operand> reads, List<Operand> writes) {
        this.reads = reads;
        this.writes = writes;
    }

    /** Carries it out on the operands' bytes. */
    abstract void compute();

    /** Whether it gives the right result although a read and a write of its own share bytes; otherwise the read is copied first. */
    boolean worksInPlace(Operand read, Operand write) {
        return false;
    }

    final void run() {
        try {
            compute();
        } finally {
            discard();
        }
    }

    /** Gives up the private copies. */
    final void discard() {
        for (Operand read : reads) {
            read.discard();
        }
    }
}
