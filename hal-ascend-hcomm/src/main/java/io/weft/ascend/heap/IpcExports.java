// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.heap;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Memory that processes give one another by key. As in the vendor's runtime, only processes on a key's list may import it, a process cannot import what it has exported itself, and sizes are multiples of the page.
 * Safe for any thread.
 */
public final class IpcExports {
    /** Bytes of a page of device memory. */
    public static final long PAGE = 2L << 20;

    /**
     * What a key stands for.
     *
     * @param process that exports it
     * @param device ordinal of its device
     * @param bytes its length
     */
    public record Export(int process, int device, long bytes) {}

    private final Map<IpcKey, Export> exports = new LinkedHashMap<>();
    private final Map<IpcKey, Set<Integer>> allowed = new LinkedHashMap<>();
    private final Map<IpcKey, Set<Integer>> imported = new LinkedHashMap<>();
    private int numbers;

    /** No exports yet. */
    public IpcExports() {}

    /** Gives memory a key, which nobody may import yet. */
    public synchronized IpcKey export(int process, int device, long bytes) {
        if (bytes < PAGE || bytes % PAGE != 0) {
            throw new AcceleratorException(
                    ErrorCode.MISALIGNED,
                    "export memory",
                    bytes + " bytes are no positive multiple of " + PAGE + ", the page");
        }
        IpcKey key = new IpcKey("weft-" + process + "-" + device + "-" + ++numbers);
        exports.put(key, new Export(process, device, bytes));
        allowed.put(key, new TreeSet<>());
        imported.put(key, new TreeSet<>());
        return key;
    }

    /** Puts processes on a key's list. */
    public synchronized void allow(IpcKey key, int... processes) {
        require(key);
        for (int process : processes) {
            allowed.get(key).add(process);
        }
    }

    /**
     * Imports memory.
     *
     * @throws AcceleratorException NOT_FOUND, INVALID_STATE in the exporting process or for a second import, PEER_ACCESS for a process that is not on the list
     */
    public synchronized Export importKey(int process, IpcKey key) {
        Export export = require(key);
        if (export.process() == process) {
            throw new AcceleratorException(
                    ErrorCode.INVALID_STATE,
                    "import memory",
                    "process " + process + " has exported this memory itself; use its own address");
        }
        if (!allowed.get(key).contains(process)) {
            throw new AcceleratorException(
                    ErrorCode.PEER_ACCESS,
                    "import memory",
                    "process " + process + " is not on the list of key '" + key.text() + "', which has "
                            + allowed.get(key),
                    "the exporting process must allow it first",
                    null,
                    null);
        }
        if (!imported.get(key).add(process)) {
            throw new AcceleratorException(
                    ErrorCode.INVALID_STATE,
                    "import memory",
                    "process " + process + " has imported key '" + key.text() + "' before");
        }
        return export;
    }

    /** An importer lets go, or the exporter ends the key for all. */
    public synchronized void close(int process, IpcKey key) {
        Export export = require(key);
        if (export.process() == process) {
            exports.remove(key);
            allowed.remove(key);
            imported.remove(key);
        } else if (!imported.get(key).remove(process)) {
            throw new AcceleratorException(
                    ErrorCode.INVALID_STATE,
                    "close key",
                    "process " + process + " has not imported key '" + key.text() + "'");
        }
    }

    private Export require(IpcKey key) {
        Export export = exports.get(key);
        if (export == null) {
            throw new AcceleratorException(
                    ErrorCode.NOT_FOUND, "IPC key", "nothing is exported under '" + key.text() + "'");
        }
        return export;
    }

    /** Keys that are in use. */
    public synchronized int size() {
        return exports.size();
    }
}
