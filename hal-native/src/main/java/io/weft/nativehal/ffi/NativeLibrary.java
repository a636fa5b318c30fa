// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.ffi;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * One of a vendor's shared libraries. Functions are looked up one by one. A library stays open until the process ends: the vendor's libraries run threads and
 * exit handlers of their own, and do not survive being closed.
 */
public final class NativeLibrary {
    private final String name;
    private final SymbolLookup symbols;
    private final Set<String> missing = new TreeSet<>();

    private NativeLibrary(String name, SymbolLookup symbols) {
        this.name = name;
        this.symbols = symbols;
    }

    /**
     * Opens the first that can be opened: every name in every folder, then every name by the system's own search, then in more folders.
     *
     * @param names file names, the preferred first
     * @param before where to look before the system's own search
     * @param after where to look when all else has failed
     * @param refusals is told why what was found could not be opened
     * @return empty if there is none
     */
    @SuppressWarnings("restricted")
    public static Optional<NativeLibrary> open(
            List<String> names, List<Path> before, List<Path> after, List<String> refusals) {
        Optional<NativeLibrary> found = in(before, names, refusals);
        if (found.isPresent()) {
            return found;
        }
        for (String name : names) {
            try {
                return Optional.of(new NativeLibrary(name, SymbolLookup.libraryLookup(name, Arena.global())));
            } catch (IllegalArgumentException absent) {
                // The next name.
            }
        }
        return in(after, names, refusals);
    }

    @SuppressWarnings("restricted")
    private static Optional<NativeLibrary> in(List<Path> folders, List<String> names, List<String> refusals) {
        for (Path folder : folders) {
            for (String name : names) {
                Path file = folder.resolve(name);
                if (Files.isRegularFile(file)) {
                    try {
                        return Optional.of(new NativeLibrary(
                                file.toString(), SymbolLookup.libraryLookup(file.toAbsolutePath(), Arena.global())));
                    } catch (IllegalArgumentException refused) {
                        refusals.add(file + " cannot be loaded");
                    }
                }
            }
        }
        return Optional.empty();
    }

    /** Reads a list of folders separated by colons; what is no path is left out. */
    public static List<Path> folders(String text) {
        List<Path> folders = new ArrayList<>();
        for (String part : text.split(":", -1)) {
            if (!part.isBlank()) {
                try {
                    folders.add(Path.of(part));
                } catch (InvalidPathException notAPath) {
                    // Nothing can be there.
                }
            }
        }
        return folders;
    }

    /** The file that was opened. */
    public String name() {
        return name;
    }

    /** A function, or null if the library lacks it; {@link #missing()} notes it. */
    public MemorySegment find(String symbol) {
        Optional<MemorySegment> found = symbols.find(symbol);
        if (found.isEmpty()) {
            missing.add(symbol);
        }
        return found.orElse(null);
    }

    /**
     * A function that is needed now.
     *
     * @param function what {@link #find} gave
     * @throws AcceleratorException UNSUPPORTED when it is null
     */
    public MemorySegment need(MemorySegment function, String symbol, String operation) {
        if (function == null) {
            throw new AcceleratorException(
                    ErrorCode.UNSUPPORTED,
                    operation,
                    name + " has no function " + symbol,
                    "use a newer version of the library",
                    null,
                    null);
        }
        return function;
    }

    /** Functions that were looked for in vain. */
    public Set<String> missing() {
        return missing;
    }
}
