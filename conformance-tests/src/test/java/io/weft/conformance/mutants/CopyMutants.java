// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import static io.weft.conformance.mutants.Faults.changed;
import static io.weft.conformance.mutants.Faults.device;
import static io.weft.conformance.mutants.Faults.edited;
import static io.weft.conformance.mutants.Faults.followed;
import static io.weft.conformance.mutants.Faults.lost;
import static io.weft.conformance.mutants.Faults.refused;
import static io.weft.conformance.mutants.Faults.swapped;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.CopyMethod;
import io.weft.api.ElementType;
import io.weft.api.MatrixLayout;
import io.weft.api.MemoryKind;
import io.weft.api.graph.Command;
import io.weft.spi.Enqueue;
import io.weft.spi.EventDriver;
import io.weft.spi.StreamDriver;
import java.util.List;
import java.util.Set;

/** Mutants that break a rule about copies and fills. Sizes single out the copies of one proof, as a real fault often strikes at one size. */
final class CopyMutants {
    private static final int PLAIN = 3072;
    private static final Set<Long> ODD = Set.of(1L, 2L, 3L, 5L, 7L, 9L, 15L, 17L, 31L, 127L, 129L, 1021L, 4097L);

    static final List<Mutant> ALL = List.of(
            lost(
                    "CPY-001",
                    "copies of 40 KiB report success and write nothing",
                    (stream, command) -> command instanceof Command.Copy copy
                            && copy.source().bytes() == 40_960
                            && copy.method() == CopyMethod.AUTO),
            lost(
                    "CPY-002",
                    "copies by engine inside a device write nothing",
                    (stream, command) -> plain(command, CopyMethod.ENGINE) && local(command)),
            lost(
                    "CPY-003",
                    "copies that the receiver issues write nothing",
                    (stream, command) -> plain(command, CopyMethod.AUTO) && pull(stream, command)),
            lost(
                    "CPY-004",
                    "copies that the sender issues write nothing",
                    (stream, command) -> plain(command, CopyMethod.AUTO) && push(stream, command)),
            lost(
                    "CPY-005",
                    "copies between devices by a kernel of the receiver write nothing",
                    (stream, command) -> plain(command, CopyMethod.KERNEL) && pull(stream, command)),
            lost(
                    "CPY-006",
                    "copies to pinned host memory write nothing",
                    (stream, command) -> plain(command, CopyMethod.AUTO) && toHost(command)),
            lost(
                    "CPY-007",
                    "copies to pinned host memory by a kernel write nothing",
                    (stream, command) -> plain(command, CopyMethod.KERNEL) && toHost(command)),
            changed(
                    "CPY-008",
                    "copies lose what does not fill a word",
                    command -> command instanceof Command.Copy copy
                            && copy.source().type() == ElementType.INT8
                            && ODD.contains(copy.source().bytes())
                            && copy.destination().offset() == 0,
                    command -> columns(
                            (Command.Copy) command,
                            ((Command.Copy) command).source().bytes() & ~3L)),
            changed(
                    "CPY-009",
                    "destinations are moved to the start of their word",
                    command -> command instanceof Command.Copy copy
                            && copy.destination().offset() % 4 != 0
                            && copy.source().bytes() == 1024,
                    command -> {
                        Command.Copy copy = (Command.Copy) command;
                        BufferView to = copy.destination();
                        return new Command.Copy(
                                BufferView.vector(to.memory(), to.offset() & ~3L, to.elements(), to.type()),
                                copy.source(),
                                copy.method());
                    }),
            changed(
                    "CPY-010",
                    "copies of 33 bytes write 34",
                    command -> command instanceof Command.Copy copy
                            && copy.source().bytes() == 33
                            && copy.destination().end()
                                    < copy.destination().memory().bytes(),
                    command -> {
                        Command.Copy copy = (Command.Copy) command;
                        return new Command.Copy(longer(copy.destination()), longer(copy.source()), copy.method());
                    }),
            followed(
                    "CPY-011",
                    "copies by a kernel clear the first word of their source",
                    command -> plain(command, CopyMethod.KERNEL) && local(command),
                    command ->
                            new Command.Fill(((Command.Copy) command).source().columnRange(0, 4), 0)),
            changed(
                    "CPY-012",
                    "copies end after 1 MiB",
                    command -> command instanceof Command.Copy copy
                            && copy.source().bytes() == (1 << 20) + 4
                            && copy.source().type() == ElementType.INT8,
                    command -> columns((Command.Copy) command, 1 << 20)),
            edited(
                    "CPY-013",
                    "signalling NaNs become quiet",
                    command -> command instanceof Command.Copy copy
                            && copy.source().type() == ElementType.FP32
                            && copy.source().elements() == 256,
                    (command, before, after) -> {
                        int[] quiet = after.clone();
                        for (int i = 0; i < quiet.length; i++) {
                            quiet[i] = Float.isNaN(Float.intBitsToFloat(quiet[i])) ? quiet[i] | 0x400000 : quiet[i];
                        }
                        return quiet;
                    }),
            refused("CPY-014", "copies of nothing are refused", CopyMutants::isEmpty),
            changed(
                    "CPY-015",
                    "strided copies read with the destination's pitch where that is smaller",
                    command -> command instanceof Command.CopyStrided copy
                            && copy.source().rows() == 9
                            && copy.source().columns() == 12
                            && copy.destination().pitch() < copy.source().pitch(),
                    command -> {
                        Command.CopyStrided copy = (Command.CopyStrided) command;
                        return new Command.CopyStrided(
                                copy.destination(),
                                pitched(copy.source(), copy.destination().pitch()),
                                copy.method());
                    }),
            changed(
                    "CPY-016",
                    "strided copies of equal pitches run over the gaps",
                    command -> command instanceof Command.CopyStrided copy
                            && copy.source().rows() == 7
                            && copy.source().columns() == 16
                            && copy.source().pitch() == copy.destination().pitch(),
                    command -> {
                        Command.CopyStrided copy = (Command.CopyStrided) command;
                        return new Command.Copy(flat(copy.destination()), flat(copy.source()), copy.method());
                    }),
            changed(
                    "CPY-017",
                    "strided copies lose the last element of rows that do not fill a word",
                    command -> command instanceof Command.CopyStrided copy
                            && copy.source().columns() * copy.source().type().bytes() % 4 != 0,
                    command -> {
                        Command.CopyStrided copy = (Command.CopyStrided) command;
                        long columns = copy.source().columns() - 1;
                        return new Command.CopyStrided(
                                copy.destination().columnRange(0, columns),
                                copy.source().columnRange(0, columns),
                                copy.method());
                    }),
            changed(
                    "CPY-018",
                    "strided copies of column-major views lose the last column",
                    command -> command instanceof Command.CopyStrided copy
                            && copy.source().layout() == MatrixLayout.COLUMN_MAJOR,
                    command -> {
                        Command.CopyStrided copy = (Command.CopyStrided) command;
                        long columns = copy.source().columns() - 1;
                        return new Command.CopyStrided(
                                copy.destination().columnRange(0, columns),
                                copy.source().columnRange(0, columns),
                                copy.method());
                    }),
            changed(
                    "CPY-019",
                    "strided copies between devices write the first row only",
                    command -> command instanceof Command.CopyStrided copy
                            && device(copy.source()) != device(copy.destination()),
                    command -> {
                        Command.CopyStrided copy = (Command.CopyStrided) command;
                        return new Command.CopyStrided(
                                copy.destination().rowRange(0, 1), copy.source().rowRange(0, 1), copy.method());
                    }),
            swapped(
                    "CPY-020",
                    "a kernel's copy overtakes the engine's whose result it reads",
                    (held, next) -> copies(held, 65_536)
                            && copies(next, 65_536)
                            && ((Command.Copy) held)
                                    .destination()
                                    .memory()
                                    .equals(((Command.Copy) next).source().memory())),
            swapped(
                    "CPY-021",
                    "a copy overtakes the one that reads what it overwrites",
                    (held, next) -> copies(held, 65_536)
                            && copies(next, 65_536)
                            && ((Command.Copy) held)
                                    .source()
                                    .memory()
                                    .equals(((Command.Copy) next).destination().memory())),
            Mutant.of(
                    "CPY-022", "events do not wait for an engine's copy to another device", () -> new Faults.Holding() {
                        @Override
                        boolean holds(Command command) {
                            return copies(command, 262_144)
                                    && ((Command.Copy) command).method() == CopyMethod.ENGINE
                                    && !local(command);
                        }

                        @Override
                        boolean comesFirst(Command held, Command next) {
                            return false;
                        }

                        @Override
                        boolean eventsWait() {
                            return false;
                        }
                    }),
            Mutant.of("CPY-023", "the 33rd copy by engine in flight is forgotten", () -> new Mutation() {
                private int inFlight;

                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    boolean counts = copies(command, 8192) && ((Command.Copy) command).method() == CopyMethod.ENGINE;
                    return counts && ++inFlight == 33 ? Enqueue.ACCEPTED : super.enqueue(stream, command);
                }
            }),
            lost(
                    "CPY-024",
                    "the fifth of the copies into one buffer is lost",
                    (stream, command) -> copies(command, 16_384)
                            && pull(stream, command)
                            && ((Command.Copy) command).destination().offset() == 4 * 16_384),
            Mutant.of("CPY-025", "a copy that meets one of the other direction is lost", () -> new Mutation() {
                private int last = -1;

                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    if (copies(command, 16_384)
                            && pull(stream, command)
                            && ((Command.Copy) command).destination().memory().bytes() == 16_384) {
                        int before = last;
                        last = device(((Command.Copy) command).source());
                        if (before == device(stream)) {
                            return Enqueue.ACCEPTED;
                        }
                    }
                    return super.enqueue(stream, command);
                }
            }),
            Mutant.of("CPY-028", "allocations are not equal to themselves", StrangeMemory::new),
            refused(
                    "CPY-029",
                    "copies inside one allocation are refused",
                    command -> command instanceof Command.Copy copy
                            && copy.source().bytes() == 2048
                            && memory(copy.source()).equals(memory(copy.destination()))),
            changed(
                    "CPY-030",
                    "fills of two-byte elements repeat the low byte",
                    command -> command instanceof Command.Fill fill
                            && fill.destination().type().bytes() == 2
                            && fill.destination().elements() == 512,
                    command -> {
                        Command.Fill fill = (Command.Fill) command;
                        return new Command.Fill(fill.destination(), (fill.bits() & 0xFF) * 0x0101);
                    }),
            changed(
                    "CPY-031",
                    "fills of pitched views run over the gaps",
                    command -> command instanceof Command.Fill fill
                            && !fill.destination().isContiguous(),
                    command -> {
                        Command.Fill fill = (Command.Fill) command;
                        return new Command.Fill(flat(fill.destination()), fill.bits());
                    }),
            changed(
                    "CPY-032",
                    "fills lose what does not fill a word",
                    command -> command instanceof Command.Fill fill
                            && fill.destination().memory().bytes()
                                    == fill.destination().elements() + 8
                            && fill.destination().elements() % 4 != 0,
                    command -> {
                        Command.Fill fill = (Command.Fill) command;
                        return new Command.Fill(
                                fill.destination()
                                        .columnRange(0, fill.destination().elements() & ~3L),
                                fill.bits());
                    }),
            swapped(
                    "CPY-033",
                    "fills overtake an engine's copies",
                    (held, next) -> copies(held, 131_072) && next instanceof Command.Fill),
            Mutant.of("CPY-034", "waits for events of the fourth device and up are forgotten", () -> new Mutation() {
                @Override
                void waitFor(StreamDriver stream, EventDriver event) {
                    int recorder = event.device().properties().ordinal();
                    if (recorder < 3 || recorder == device(stream)) {
                        super.waitFor(stream, event);
                    }
                }
            }));

    private CopyMutants() {}

    private static boolean isEmpty(Command command) {
        return switch (command) {
            case Command.Copy copy -> copy.source().isEmpty();
            case Command.CopyStrided copy -> copy.source().isEmpty();
            default -> false;
        };
    }

    private static boolean copies(Command command, long bytes) {
        return command instanceof Command.Copy copy && copy.source().bytes() == bytes;
    }

    private static boolean plain(Command command, CopyMethod method) {
        return copies(command, PLAIN) && ((Command.Copy) command).method() == method;
    }

    private static boolean local(Command command) {
        Command.Copy copy = (Command.Copy) command;
        return device(copy.source()) == device(copy.destination()) && !host(copy.source()) && !host(copy.destination());
    }

    private static boolean host(BufferView view) {
        return ((Buffer) view.memory()).kind() == MemoryKind.HOST_PINNED;
    }

    private static boolean toHost(Command command) {
        return host(((Command.Copy) command).destination());
    }

    private static boolean pull(StreamDriver stream, Command command) {
        Command.Copy copy = (Command.Copy) command;
        return device(copy.source()) != device(copy.destination()) && device(copy.destination()) == device(stream);
    }

    private static boolean push(StreamDriver stream, Command command) {
        Command.Copy copy = (Command.Copy) command;
        return device(copy.source()) != device(copy.destination()) && device(copy.source()) == device(stream);
    }

    private static Object memory(BufferView view) {
        return ((Buffer) view.memory()).memory();
    }

    private static Command columns(Command.Copy copy, long count) {
        return new Command.Copy(
                copy.destination().columnRange(0, count), copy.source().columnRange(0, count), copy.method());
    }

    private static BufferView longer(BufferView view) {
        return BufferView.vector(view.memory(), view.offset(), view.elements() + 1, view.type());
    }

    private static BufferView pitched(BufferView view, long pitch) {
        return BufferView.pitched(view.memory(), view.offset(), view.rows(), view.columns(), pitch, view.type());
    }

    private static BufferView flat(BufferView view) {
        return BufferView.vector(
                view.memory(),
                view.offset(),
                (view.end() - view.offset()) / view.type().bytes(),
                view.type());
    }
}
