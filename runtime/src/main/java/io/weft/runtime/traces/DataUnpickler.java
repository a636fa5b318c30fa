// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.traces;

import io.weft.api.AcceleratorException;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import net.razorvine.pickle.Opcodes;
import net.razorvine.pickle.PickleException;
import net.razorvine.pickle.PickleUtils;
import net.razorvine.pickle.Unpickler;

/**
 * Reads pickles of plain data: dictionaries, lists, tuples, texts, numbers, None. A pickle is a program; this one runs none of it that looks up a name or calls
 * anything, and says so in one sentence with the place. What a file declares is believed only as far as a sound one goes, so that no file takes more memory than
 * the process has: lengths are looked at before they are read, and what the objects take is estimated as they are made.
 *
 * <p>Dictionaries come as {@link Fields}. For one pickle and one thread.
 */
final class DataUnpickler extends Unpickler {
    private static final long LONGEST_TEXT = 16L << 20;
    private static final long LONGEST_NUMBER = 64;
    private static final int NAME = 200;

    /** Bytes of the heap that things take, roughly: a place on the stack, an object, an entry of the memo. */
    private static final long PLACE = 8;

    private static final long OBJECT = 40;
    private static final long MEMO = 64;

    private final TraceInput in;
    private final String place;
    private final long most;
    private long taken;
    private long started;

    /**
     * @param place the file as refusals name it
     * @param most bytes of the heap that the objects may take
     */
    DataUnpickler(TraceInput in, String place, long most) {
        this.in = in;
        this.place = place;
        this.most = most;
    }

    /** Reads the pickle. */
    Object read() {
        try {
            return load(in);
        } catch (AcceleratorException refusal) {
            throw refusal;
        } catch (EOFException damaged) {
            throw fault("the gzip data are cut off here", damaged);
        } catch (IOException failure) {
            throw fault(
                    endsEarly(failure) ? "the pickle ends in the middle" : "cannot be read: " + failure.getMessage(),
                    failure);
        } catch (PickleException
                | IndexOutOfBoundsException
                | ClassCastException
                | NegativeArraySizeException
                | IllegalArgumentException
                | NullPointerException damaged) {
            throw fault("the pickle is damaged", damaged);
        }
    }

    private static boolean endsEarly(IOException failure) {
        String words = String.valueOf(failure.getMessage());
        return words.contains("premature end") || words.contains("expected more bytes");
    }

    private AcceleratorException fault(String what, Exception cause) {
        return TraceFile.fault(place + ": byte " + started, what, cause);
    }

    private AcceleratorException refused(String what) {
        return fault(
                "the pickle " + what
                        + ", which would run code of the file; accepted is plain data as torch.cuda.memory._dump_snapshot writes it",
                null);
    }

    @Override
    protected Object dispatch(short key) throws IOException {
        started = in.position() - 1;
        switch (key) {
            case Opcodes.GLOBAL, Opcodes.INST -> throw refused("names the class or function " + namedByLines());
            case Opcodes.STACK_GLOBAL -> {
                Object name = stack.pop();
                throw refused("names the class or function " + name(String.valueOf(stack.pop()), String.valueOf(name)));
            }
            case Opcodes.REDUCE, Opcodes.OBJ, Opcodes.NEWOBJ, Opcodes.NEWOBJ_EX, Opcodes.BUILD ->
                throw refused("makes an object of a class");
            case Opcodes.EXT1, Opcodes.EXT2, Opcodes.EXT4 -> throw refused("names a class by an extension code");
            case Opcodes.PERSID, Opcodes.BINPERSID, Opcodes.NEXT_BUFFER ->
                throw fault("the pickle refers to data that are not in it; accepted is plain data", null);
            case Opcodes.EMPTY_SET, Opcodes.ADDITEMS, Opcodes.FROZENSET ->
                throw fault("the pickle holds a set, which no memory snapshot has", null);
            case Opcodes.EMPTY_DICT -> {
                take(OBJECT);
                stack.add(new Fields());
                return NO_RETURN_VALUE;
            }
            case Opcodes.DICT -> {
                take(OBJECT);
                List<Object> items = stack.pop_all_since_marker();
                Fields fields = new Fields();
                fields.putAll(items);
                stack.add(fields);
                return NO_RETURN_VALUE;
            }
            case Opcodes.APPENDS -> {
                List<Object> items = stack.pop_all_since_marker();
                items(stack.peek()).addAll(items);
                take(PLACE * (items.size() + 1L));
                return NO_RETURN_VALUE;
            }
            case Opcodes.SETITEM -> {
                Object value = stack.pop();
                Object name = stack.pop();
                ((Fields) stack.peek()).put(name, value);
                take(PLACE);
                return NO_RETURN_VALUE;
            }
            case Opcodes.SETITEMS -> {
                List<Object> items = stack.pop_all_since_marker();
                ((Fields) stack.peek()).putAll(items);
                take(OBJECT);
                return NO_RETURN_VALUE;
            }
            default -> weigh(key);
        }
        return super.dispatch(key);
    }

    @SuppressWarnings("unchecked") // Lists of a pickle hold anything.
    private static List<Object> items(Object list) {
        return (List<Object>) list;
    }

    /** Looks at what an operation is about to read and make. */
    private void weigh(short key) throws IOException {
        switch (key) {
            case Opcodes.BINSTRING, Opcodes.BINUNICODE, Opcodes.BINBYTES -> take(OBJECT + declared(4, LONGEST_TEXT));
            case Opcodes.BINUNICODE8, Opcodes.BINBYTES8, Opcodes.BYTEARRAY8 -> take(OBJECT + declared(8, LONGEST_TEXT));
            case Opcodes.LONG4 -> take(OBJECT + declared(4, LONGEST_NUMBER));
            case Opcodes.INT, Opcodes.LONG, Opcodes.FLOAT -> take(OBJECT + line((int) LONGEST_NUMBER));
            case Opcodes.STRING, Opcodes.UNICODE -> take(OBJECT + line(TraceInput.MOST_AHEAD));
            case Opcodes.GET, Opcodes.PUT -> {
                line((int) LONGEST_NUMBER);
                take(MEMO);
            }
            case Opcodes.BINPUT, Opcodes.LONG_BINPUT, Opcodes.MEMOIZE -> take(MEMO);
            case Opcodes.BININT, Opcodes.LONG1, Opcodes.BINFLOAT, Opcodes.EMPTY_LIST, Opcodes.LIST -> take(OBJECT);
            case Opcodes.SHORT_BINSTRING, Opcodes.SHORT_BINUNICODE, Opcodes.SHORT_BINBYTES -> take(2 * OBJECT);
            case Opcodes.TUPLE, Opcodes.TUPLE1, Opcodes.TUPLE2, Opcodes.TUPLE3, Opcodes.EMPTY_TUPLE -> take(OBJECT);
            default -> take(PLACE);
        }
    }

    private void take(long bytes) {
        taken += bytes;
        if (taken > most) {
            throw fault("the pickle is too large for this process's " + TraceFile.memory(), null);
        }
    }

    /** The length that comes next, checked before anybody makes room for it. */
    private long declared(int width, long longest) throws IOException {
        byte[] next = in.peek(width);
        if (next.length < width) {
            return 0;
        }
        long length = width == 8 ? PickleUtils.bytes_to_long(next, 0) : PickleUtils.bytes_to_integer(next);
        if (length < 0 || length > longest) {
            throw fault(
                    "the pickle declares " + (longest == LONGEST_NUMBER ? "a number" : "a text") + " of "
                            + (width == 8 ? Long.toUnsignedString(length) : Long.toString(length & 0xffffffffL))
                            + " bytes; at most " + longest + " are read",
                    null);
        }
        return length;
    }

    /** The length of the line that comes next. */
    private long line(int longest) throws IOException {
        int length = in.lineAhead();
        if (length > longest || (length < 0 && in.peek(TraceInput.MOST_AHEAD).length == TraceInput.MOST_AHEAD)) {
            throw fault("the pickle has a line of more than " + longest + " characters", null);
        }
        return Math.max(0, length);
    }

    private String namedByLines() throws IOException {
        String text = new String(in.peek(NAME), StandardCharsets.UTF_8);
        String[] lines = text.split("\n", 3);
        return lines.length < 3 ? "that is cut off" : name(lines[0], lines[1]);
    }

    private static String name(String module, String name) {
        return "'" + TraceFile.shorten(module + "." + name) + "'";
    }
}
