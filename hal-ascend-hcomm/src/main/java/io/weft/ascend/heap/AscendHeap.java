// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.heap;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.Device;
import io.weft.api.ErrorCode;
import io.weft.ascend.hccl.HcclFamily;
import io.weft.memory.SymmetricHeap;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * A symmetric heap of Ascend devices, one {@link ProcessingElement} for each rank. Collective calls have numbered rounds; who lags or differs is named (see {@link SymmetricHeap}). Each element is used by one thread at
 * a time.
 */
public final class AscendHeap implements AutoCloseable {
    /** Most elements, as in the vendor's library. */
    public static final int MAX_ELEMENTS = 16_384;
    /** Most bytes of one element, as in the vendor's library. */
    public static final long MAX_BYTES = 40L << 30;

    private final HcclFamily family;
    private final List<Device> devices;
    private final List<Integer> processes;
    private final SymmetricHeap heap;
    private final Duration timeout;
    private final IpcExports exports = new IpcExports();
    private final List<IpcKey> keys = new ArrayList<>();
    /** Process and rank of every import. */
    private final Set<List<Integer>> imported = new HashSet<>();

    private final List<SignalBoard> boards = new ArrayList<>();
    private final List<ProcessingElement> elements = new ArrayList<>();

    private AscendHeap(HcclFamily family, List<Device> devices, List<Integer> processes, long bytes, Duration timeout) {
        if (devices.size() > MAX_ELEMENTS || processes.size() != devices.size()) {
            throw AcceleratorException.invalid(
                    "symmetric heap",
                    devices.size() + " ranks in " + processes.size() + " processes; accepted are up to " + MAX_ELEMENTS
                            + " ranks, each with the number of its process");
        }
        if (bytes > MAX_BYTES) {
            throw AcceleratorException.invalid(
                    "symmetric heap", bytes + " bytes for each rank; accepted are up to " + MAX_BYTES);
        }
        this.family = family;
        this.devices = List.copyOf(devices);
        this.processes = List.copyOf(processes);
        this.timeout = timeout;
        this.heap = SymmetricHeap.open(devices, bytes, IpcExports.PAGE, timeout);
        for (int rank = 0; rank < devices.size(); rank++) {
            boards.add(new SignalBoard(devices.get(rank)));
            elements.add(new ProcessingElement(this, rank, heap.rank(rank)));
        }
        exportAll(bytes);
    }

    /** Ranks of other processes get a key for each heap, and are put on its list. */
    private void exportAll(long bytes) {
        boolean one = processes.stream().distinct().count() == 1;
        if (family.nativeWindows() || one) {
            return;
        }
        int[] everybody =
                processes.stream().distinct().mapToInt(Integer::intValue).toArray();
        for (int rank = 0; rank < devices.size(); rank++) {
            // The key stands for the rank's whole heap; an importer adds offsets to what it gets.
            IpcKey key = exports.export(processes.get(rank), devices.get(rank).ordinal(), bytes);
            exports.allow(key, everybody);
            keys.add(key);
        }
    }

    /**
     * A heap whose ranks are all in this process, rank {@code i} on {@code devices.get(i)}.
     *
     * @param bytes of each rank, a multiple of 2 MB
     * @param timeout real time for which a rank waits for the others in a collective call, and for a signal
     */
    public static AscendHeap open(HcclFamily family, List<Device> devices, long bytes, Duration timeout) {
        return open(family, devices, Collections.nCopies(devices.size(), 0), bytes, timeout);
    }

    /**
     * The same with ranks that count as being in several processes, so that memory goes by IPC keys where there are no native windows.
     *
     * @param processes number of each rank's process
     */
    public static AscendHeap open(
            HcclFamily family, List<Device> devices, List<Integer> processes, long bytes, Duration timeout) {
        if (devices.isEmpty()) {
            throw AcceleratorException.invalid("symmetric heap", "there must be at least one rank");
        }
        return new AscendHeap(family, devices, processes, bytes, timeout);
    }

    /** One rank's side. */
    public ProcessingElement element(int rank) {
        if (rank < 0 || rank >= elements.size()) {
            throw new AcceleratorException(
                    ErrorCode.NOT_FOUND,
                    "symmetric heap",
                    "rank " + rank + " does not exist; ranks are 0.." + (elements.size() - 1));
        }
        return elements.get(rank);
    }

    /** All ranks in order. */
    public List<ProcessingElement> elements() {
        return IntStream.range(0, elements.size()).mapToObj(this::element).toList();
    }

    /** How a rank reaches another's memory. */
    public Sharing sharing(int from, int to) {
        return Sharing.between(family, processes.get(from).equals(processes.get(to)));
    }

    /** Real time for which somebody waits. */
    Duration timeout() {
        return timeout;
    }

    SignalBoard board(int rank) {
        element(rank);
        return boards.get(rank);
    }

    /**
     * Makes another rank's memory reachable, one way: imports its key, once for each process, and enables peer access where devices have it; without it copies go over the network.
     */
    synchronized void reach(int from, int to) {
        element(to);
        if (from == to) {
            return;
        }
        Sharing sharing = sharing(from, to);
        if (sharing == Sharing.IPC_KEY && imported.add(List.of(processes.get(from), to))) {
            exports.importKey(processes.get(from), keys.get(to));
        }
        if (sharing != Sharing.WINDOW && devices.get(from).canAccess(devices.get(to))) {
            try {
                devices.get(from).enablePeerAccess(devices.get(to));
            } catch (AcceleratorException already) {
                if (already.code() != ErrorCode.INVALID_STATE) {
                    throw already;
                }
            }
        }
    }

    /** Keys that are in use. */
    IpcExports exports() {
        return exports;
    }

    /** A buffer over a rank's bytes. */
    Buffer bytes(int caller, int rank, long offset, long length) {
        return heap.rank(caller).peer(rank, offset, length);
    }

    /**
     * Hands the memory back. The ranks' own streams are completed first.
     *
     * @throws AcceleratorException {@link ErrorCode#INVALID_STATE} when blocks are still allocated; the memory is handed back all the same
     */
    @Override
    public void close() {
        elements.forEach(ProcessingElement::end);
        boards.forEach(SignalBoard::close);
        heap.close();
    }
}
