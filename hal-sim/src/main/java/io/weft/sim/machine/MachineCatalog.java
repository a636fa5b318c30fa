// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

/** The machines that ship with the simulator, and the way to any other. */
public final class MachineCatalog {
    private static final String FILE = "file=";
    private static final List<String> SHIPPED = List.of("mesh-8", "ring-4", "switch-8", "node-2x8");
    /** Shipped machines that were opened: their documents do not change, and reading one takes longer than opening a platform on it. */
    private static final ConcurrentHashMap<String, Machine> OPENED = new ConcurrentHashMap<>();

    private MachineCatalog() {}

    /** Names of the shipped machines. */
    public static List<String> names() {
        return SHIPPED;
    }

    /**
     * Opens a shipped machine by name, or any document as {@code file=PATH}.
     *
     * @throws AcceleratorException NOT_FOUND naming the known ones; BAD_DOCUMENT
     */
    public static Machine open(String target) {
        if (target.startsWith(FILE)) {
            try {
                return MachineReader.read(Path.of(target.substring(FILE.length())));
            } catch (InvalidPathException wrong) {
                throw new AcceleratorException(
                        ErrorCode.BAD_DOCUMENT, "machine document", "not a path: " + wrong.getMessage(), wrong);
            }
        }
        if (!SHIPPED.contains(target)) {
            List<String> known = new ArrayList<>(SHIPPED);
            known.add("file=PATH");
            throw new AcceleratorException(
                    ErrorCode.NOT_FOUND,
                    "machine",
                    "there is no machine '" + target + "'" + Nearest.hint(target, SHIPPED) + "; known are "
                            + String.join(", ", known));
        }
        return OPENED.computeIfAbsent(target, name -> MachineReader.read(name + ".yaml", text(name)));
    }

    /** The document of a shipped machine. */
    public static String text(String name) {
        String resource = "/io/weft/sim/machines/" + name + ".yaml";
        try (InputStream in = MachineCatalog.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new AcceleratorException(ErrorCode.INTERNAL, "machine", resource + " is not in the module");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
