// SPDX-License-Identifier: Apache-2.0
package io.weft.standin;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/** Faults and figures of a stand-in that is loaded, by the names in standin_core.h and the plugin's own source. */
public final class StandInSwitches {
    private final MethodHandle set;
    private final MethodHandle get;

    /** Those of a library, which is loaded for as long as this process lives. */
    @SuppressWarnings("restricted")
    public StandInSwitches(Path library) {
        SymbolLookup symbols = SymbolLookup.libraryLookup(library, Arena.global());
        Linker linker = Linker.nativeLinker();
        set = linker.downcallHandle(
                symbols.findOrThrow("standin_set"),
                FunctionDescriptor.ofVoid(ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
        get = linker.downcallHandle(
                symbols.findOrThrow("standin_get"), FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
    }

    /** Sets a fault or a figure. */
    public void set(String name, long value) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocateFrom(name);
            set.invoke(text, value);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** A fault or a figure. */
    public long get(String name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocateFrom(name);
            return (long) get.invoke(text);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }
}
