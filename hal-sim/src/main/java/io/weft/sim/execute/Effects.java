// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.execute;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.graph.Command;
import io.weft.sim.compute.ComputePool;
import java.util.ArrayList;
import java.util.List;

/**
 * Carries out effects so that each reads at its start and writes at its completion.
 *
 * <p>An effect runs when its command completes, on what memory holds then. That is the same as reading at the start unless another command's write has become
 * visible in between; so whoever completes looks for running commands that read what it is about to write, and has them keep copies first. Nothing else is ever
 * copied. Completed effects that touch nothing in common wait in a batch and run side by side; the batch runs before anybody could see the difference.
 *
 * <p>Confined to the platform's lock.
 */
public final class Effects {
    private static final int BATCH_LIMIT = 256;

    private final ComputePool pool;
    private final Kernels kernels;
    private final List<Effect> running = new ArrayList<>();
    private final List<Effect> batch = new ArrayList<>();
    private long copiesKept;

    /** Effects that run on a pool. */
    public Effects(ComputePool pool) {
        this.pool = pool;
        this.kernels = new Kernels(pool);
    }

    /**
     * A command starts: its operands are read as they are now.
     *
     * @param command any but a collective
     * @return to be completed or cancelled
     */
    public Effect begin(Command command) {
        return begin(kernels.effect(command));
    }

    /** A collective starts on all its ranks; its parts by rank, or those of sender and receiver. */
    public Effect begin(List<Command.Collective> parts) {
        return begin(kernels.effect(parts));
    }

    private Effect begin(Effect effect) {
        for (Operand read : effect.reads) {
            for (Operand write : effect.writes) {
                if (!read.isKept() && read.extent().overlaps(write.extent()) && !effect.worksInPlace(read, write)) {
                    flush();
                    read.keep();
                }
            }
        }
        running.add(effect);
        return effect;
    }

    /** The effect's command has completed: its result becomes visible. */
    public void complete(Effect effect) {
        remove(effect);
        for (Operand write : effect.writes) {
            protect(write.extent());
        }
        if (meetsBatch(effect)) {
            flush();
        }
        batch.add(effect);
        if (batch.size() >= BATCH_LIMIT) {
            flush();
        }
    }

    /** The effect's command has failed: nothing of its result is to be seen. */
    public void cancel(Effect effect) {
        remove(effect);
        effect.discard();
    }

    /** The host is about to write a range: running commands have read it before. */
    public void beforeHostWrite(long address, long bytes) {
        flush();
        protect(Extent.range(address, bytes));
    }

    /** Carries out all completed effects. Called before anybody looks at memory. */
    public void flush() {
        if (batch.isEmpty()) {
            return;
        }
        Effect[] ready = batch.toArray(Effect[]::new);
        batch.clear();
        try {
            if (ready.length == 1) {
                ready[0].run();
            } else {
                pool.run(ready.length, (index, lane) -> ready[index].run());
            }
        } catch (IllegalArgumentException | ArithmeticException | IndexOutOfBoundsException fault) {
            throw new AcceleratorException(
                    ErrorCode.INTERNAL, "execute", "a command could not be computed: " + fault.getMessage(), fault);
        }
    }

    /** Drops everything; nothing more becomes visible. */
    public void clear() {
        running.forEach(Effect::discard);
        running.clear();
        batch.forEach(Effect::discard);
        batch.clear();
    }

    /** How many operands had to be copied, because a running command had read what another was about to write. */
    public long copiesKept() {
        return copiesKept;
    }

    private void remove(Effect effect) {
        // Commands mostly complete in the order of their start.
        int at = running.indexOf(effect);
        if (at >= 0) {
            running.remove(at);
        }
    }

    private void protect(Extent written) {
        for (Effect reader : running) {
            for (Operand read : reader.reads) {
                if (!read.isKept() && read.extent().overlaps(written)) {
                    // What completed before belongs into the copy.
                    flush();
                    read.keep();
                    copiesKept++;
                }
            }
        }
    }

    private boolean meetsBatch(Effect effect) {
        for (Effect earlier : batch) {
            if (meet(earlier.writes, effect.reads)
                    || meet(earlier.writes, effect.writes)
                    || meet(earlier.reads, effect.writes)) {
                return true;
            }
        }
        return false;
    }

    private static boolean meet(List<Operand> some, List<Operand> others) {
        for (Operand one : some) {
            for (Operand other : others) {
                if (one.extent().overlaps(other.extent())) {
                    return true;
                }
            }
        }
        return false;
    }
}
