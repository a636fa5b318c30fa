// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The vendor's libraries, loaded when the first function of each is asked for and never unloaded. A function is looked up in all libraries in which versions have had it. Safe for any thread.
 */
public final class AclLibraries {
    private final List<Path> folders;
    private final Map<AclLibrary, Optional<SymbolLookup>> loaded = new EnumMap<>(AclLibrary.class);
    private final Map<AclFunction, Optional<MemorySegment>> addresses = new ConcurrentHashMap<>();
    private final Map<AclFunction, Optional<MethodHandle>> handles = new ConcurrentHashMap<>();
    private final List<String> refusals = new ArrayList<>();

    /**
     * Looks into folders, in order; touches nothing yet.
     *
     * @param folders where libraries may lie
     */
    public AclLibraries(List<Path> folders) {
        this.folders = List.copyOf(folders);
    }

    /** Where installations usually are: {@code ASCEND_HOME_PATH} first, then the new and the old root. */
    public static List<Path> usualFolders(Map<String, String> environment) {
        List<Path> folders = new ArrayList<>();
        String home = environment.getOrDefault("ASCEND_HOME_PATH", "");
        if (!home.isBlank()) {
            folders.add(Path.of(home, "lib64"));
        }
        folders.add(Path.of("/usr/local/Ascend/cann/lib64"));
        folders.add(Path.of("/usr/local/Ascend/ascend-toolkit/latest/lib64"));
        return folders;
    }

    /** Whether a library's file is there; loads nothing. */
    public boolean isInstalled(AclLibrary library) {
        return folders.stream().anyMatch(folder -> Files.isRegularFile(folder.resolve(library.file())));
    }

    /** A function, or empty when no library here has it. */
    public Optional<MethodHandle> find(AclFunction function) {
        return handles.computeIfAbsent(function, this::handle);
    }

    /**
     * The address of a function that must be there.
     *
     * @throws AcceleratorException UNSUPPORTED which names the function and where it was looked for
     */
    MemorySegment address(String operation, AclFunction function) {
        return addresses.computeIfAbsent(function, this::look).orElseThrow(() -> missing(operation, function));
    }

    /**
     * A function that must be there.
     *
     * @throws AcceleratorException UNSUPPORTED which names the function and where it was looked for
     */
    public MethodHandle require(String operation, AclFunction function) {
        return find(function).orElseThrow(() -> missing(operation, function));
    }

    private static AcceleratorException missing(String operation, AclFunction function) {
        return new AcceleratorException(
                ErrorCode.UNSUPPORTED,
                operation,
                "there is no function " + function.symbol() + " in "
                        + function.homes().stream()
                                .map(AclLibrary::file)
                                .reduce((one, two) -> one + " or " + two)
                                .orElseThrow(),
                "use a newer version of CANN",
                null,
                null);
    }

    @SuppressWarnings("restricted")
    private Optional<MethodHandle> handle(AclFunction function) {
        return addresses
                .computeIfAbsent(function, this::look)
                .map(address -> Linker.nativeLinker().downcallHandle(address, function.descriptor()));
    }

    private Optional<MemorySegment> look(AclFunction function) {
        for (AclLibrary home : function.homes()) {
            Optional<MemorySegment> address = load(home).flatMap(symbols -> symbols.find(function.symbol()));
            if (address.isPresent()) {
                return address;
            }
        }
        return Optional.empty();
    }

    @SuppressWarnings("restricted")
    private synchronized Optional<SymbolLookup> load(AclLibrary library) {
        return loaded.computeIfAbsent(library, wanted -> {
            for (Path folder : folders) {
                Path file = folder.resolve(wanted.file());
                if (Files.isRegularFile(file)) {
                    try {
                        return Optional.of(SymbolLookup.libraryLookup(file, Arena.global()));
                    } catch (IllegalArgumentException refused) {
                        refusals.add(file + ": " + refused.getMessage());
                    }
                }
            }
            return Optional.empty();
        });
    }

    /** Files that are there and would not load, with the loader's words. */
    public synchronized List<String> refusals() {
        return List.copyOf(refusals);
    }
}
