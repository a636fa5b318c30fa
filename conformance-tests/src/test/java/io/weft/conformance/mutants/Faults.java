// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.ErrorCode;
import io.weft.api.graph.Command;
import io.weft.conformance.reference.SlotMemory;
import io.weft.spi.Enqueue;
import io.weft.spi.EventDriver;
import io.weft.spi.StreamDriver;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** Ways in which commands of streams go wrong. */
final class Faults {
    private Faults() {}

    /** What becomes of a result. */
    @FunctionalInterface
    interface Edit {
        /**
         * Changes a result.
         *
         * @param command what was computed
         * @param before the patterns of the written view before
         * @param after its patterns now
         * @return its patterns from now on
         */
        int[] apply(Command command, int[] before, int[] after);
    }

    /** Commands that are reported as accepted and never carried out. */
    static Mutant lost(String rule, String what, BiPredicate<StreamDriver, Command> which) {
        return Mutant.of(rule, what, () -> new Mutation() {
            @Override
            Enqueue enqueue(StreamDriver stream, Command command) {
                return which.test(stream, command) ? Enqueue.ACCEPTED : super.enqueue(stream, command);
            }
        });
    }

    /** Commands that are carried out as others; null stands for not at all. */
    static Mutant changed(String rule, String what, Predicate<Command> which, UnaryOperator<Command> change) {
        return Mutant.of(rule, what, () -> new Mutation() {
            @Override
            Enqueue enqueue(StreamDriver stream, Command command) {
                Command other = which.test(command) ? change.apply(command) : command;
                return other == null ? Enqueue.ACCEPTED : super.enqueue(stream, other);
            }
        });
    }

    /** Commands whose result comes out wrong. */
    static Mutant edited(String rule, String what, Predicate<Command> which, Edit edit) {
        return Mutant.of(rule, what, () -> new Mutation() {
            @Override
            Enqueue enqueue(StreamDriver stream, Command command) {
                if (!which.test(command)) {
                    return super.enqueue(stream, command);
                }
                BufferView view = command.writes().getFirst();
                stream.synchronize();
                int[] before = Faults.read(view);
                Enqueue result = super.enqueue(stream, command);
                stream.synchronize();
                Faults.write(view, edit.apply(command, before, Faults.read(view)));
                return result;
            }
        });
    }

    /** Commands that are refused without reason. */
    static Mutant refused(String rule, String what, Predicate<Command> which) {
        return Mutant.of(rule, what, () -> new Mutation() {
            @Override
            Enqueue enqueue(StreamDriver stream, Command command) {
                if (which.test(command)) {
                    throw new AcceleratorException(
                            ErrorCode.VENDOR, "enqueue", "the library does not like this command");
                }
                return super.enqueue(stream, command);
            }
        });
    }

    /** Commands that are followed by another which nobody asked for. */
    static Mutant followed(String rule, String what, Predicate<Command> which, UnaryOperator<Command> next) {
        return Mutant.of(rule, what, () -> new Mutation() {
            @Override
            Enqueue enqueue(StreamDriver stream, Command command) {
                Enqueue result = super.enqueue(stream, command);
                if (which.test(command)) {
                    super.enqueue(stream, next.apply(command));
                }
                return result;
            }
        });
    }

    /** Commands that change places with the next one of their stream. */
    static Mutant swapped(String rule, String what, BiPredicate<Command, Command> which) {
        return Mutant.of(rule, what, () -> new Holding() {
            @Override
            boolean holds(Command command) {
                return command instanceof Command.Copy;
            }

            @Override
            boolean comesFirst(Command held, Command next) {
                return which.test(held, next);
            }
        });
    }

    /** Holds commands back until the next command, or until somebody looks. */
    abstract static class Holding extends Mutation {
        private final IdentityHashMap<StreamDriver, Command> held = new IdentityHashMap<>();

        abstract boolean holds(Command command);

        /** Whether the next command overtakes the held one. */
        abstract boolean comesFirst(Command held, Command next);

        /** Whether an event that is recorded comes behind the held command, as it should. */
        boolean eventsWait() {
            return true;
        }

        final void release(StreamDriver stream) {
            Command waiting = held.remove(stream);
            if (waiting != null) {
                super.enqueue(stream, waiting);
            }
        }

        @Override
        Enqueue enqueue(StreamDriver stream, Command command) {
            Command waiting = held.get(stream);
            if (waiting != null && comesFirst(waiting, command)) {
                super.enqueue(stream, command);
                release(stream);
                return Enqueue.ACCEPTED;
            }
            release(stream);
            if (holds(command)) {
                held.put(stream, command);
                return Enqueue.ACCEPTED;
            }
            return super.enqueue(stream, command);
        }

        @Override
        void record(StreamDriver stream, EventDriver event) {
            if (eventsWait()) {
                release(stream);
            }
            super.record(stream, event);
        }

        @Override
        void waitFor(StreamDriver stream, EventDriver event) {
            release(stream);
            super.waitFor(stream, event);
        }

        @Override
        boolean query(StreamDriver stream) {
            release(stream);
            return super.query(stream);
        }

        @Override
        void synchronize(StreamDriver stream) {
            release(stream);
            super.synchronize(stream);
        }

        @Override
        void close(StreamDriver stream) {
            release(stream);
            super.close(stream);
        }

        @Override
        void synchronize(io.weft.spi.DeviceDriver device) {
            new ArrayList<>(held.keySet()).forEach(this::release);
            super.synchronize(device);
        }

        @Override
        void enqueue(io.weft.spi.CommunicatorDriver communicator, List<io.weft.spi.CollectiveDriver.Part> group) {
            group.forEach(part -> release(part.stream()));
            super.enqueue(communicator, group);
        }

        @Override
        void launch(
                io.weft.spi.GraphExecutable executable,
                io.weft.api.graph.CommandGraph graph,
                io.weft.api.graph.GraphBindings bindings,
                List<StreamDriver> streams) {
            streams.forEach(this::release);
            super.launch(executable, graph, bindings, streams);
        }
    }

    // Looking at memory by the backend's own host copies.

    /** The patterns of a view's elements. */
    static int[] read(BufferView view) {
        return SlotMemory.read(bytes(view), view);
    }

    /** Sets the elements of a view. */
    static void write(BufferView view, int[] bits) {
        byte[] bytes = bytes(view);
        SlotMemory.write(bytes, view, bits);
        Buffer buffer = (Buffer) view.memory();
        buffer.memory().device().write(buffer.memory(), buffer.base(), MemorySegment.ofArray(bytes));
    }

    private static byte[] bytes(BufferView view) {
        Buffer buffer = (Buffer) view.memory();
        byte[] bytes = new byte[Math.toIntExact(buffer.bytes())];
        buffer.memory().device().read(MemorySegment.ofArray(bytes), buffer.memory(), buffer.base());
        return bytes;
    }

    /** The ordinal of the device on which a view lies. */
    static int device(BufferView view) {
        return ((Buffer) view.memory()).memory().device().properties().ordinal();
    }

    /** The ordinal of a stream's device. */
    static int device(StreamDriver stream) {
        return stream.device().properties().ordinal();
    }

    /** A copy with its last element changed by one pattern. */
    static int[] lastOff(int[] bits) {
        int[] other = bits.clone();
        other[other.length - 1] ^= 0x10;
        return other;
    }
}
