// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.graph.Command;
import io.weft.nativehal.driver.CollectiveLibrary;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.DeviceDriver;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Communicators over a vendor's library. All ranks of one belong to this process: they may join in several calls and be driven by several threads. */
final class NativeCollectives implements CollectiveDriver {
    /**
     * A part that is issued to a stream of the runtime without further ado.
     *
     * @param command its operands are buffers
     * @param stream the runtime's stream
     */
    record Issue(Command.Collective command, long stream) {}

    private final NativePlatform platform;
    private final CollectiveLibrary library;
    /** Communicators by id, and those of graphs by devices. Guarded by itself. */
    private final Map<Object, CommunicatorState> known = new HashMap<>();

    /** Ids that were made here and whose communicator has not been closed. Guarded by {@link #known}. */
    private final Set<Object> ids = new HashSet<>();
    /** What communicators that ended well have left, by devices; guarded by itself. */
    private final Map<List<NativeDevice>, ArrayDeque<Clique>> idle = new HashMap<>();

    private final SecureRandom random = new SecureRandom();
    private boolean closed;
    private int made;

    /** Cliques over the same devices that are kept: a program rarely has more communicators at once and opens them again. */
    private static final int KEPT = 2;

    NativeCollectives(NativePlatform platform, CollectiveLibrary library) {
        this.platform = platform;
        this.library = library;
    }

    NativePlatform platform() {
        return platform;
    }

    CollectiveLibrary library() {
        return library;
    }

    @Override
    public byte[] newUniqueId() {
        byte[] id = new byte[library.idBytes()];
        random.nextBytes(id);
        synchronized (known) {
            ids.add(ByteBuffer.wrap(id.clone()));
        }
        return id;
    }

    @Override
    public NativeCommunicator join(byte[] uniqueId, int size, Map<Integer, ? extends DeviceDriver> localRanks) {
        if (uniqueId.length != library.idBytes()) {
            throw AcceleratorException.invalid(
                    "communicator",
                    "the id has " + uniqueId.length + " bytes; one from newUniqueId has " + library.idBytes());
        }
        Map<Integer, NativeDevice> ranks = new TreeMap<>();
        localRanks.forEach((rank, device) -> ranks.put(rank, platform.own("communicator", device)));
        Object key = ByteBuffer.wrap(uniqueId.clone());
        synchronized (known) {
            CommunicatorState state = known.get(key);
            if (!ids.contains(key)) {
                throw new AcceleratorException(
                        ErrorCode.INVALID_ARGUMENT,
                        "communicator",
                        "nobody made this id here, or its communicator was closed",
                        "take one from newUniqueId of the same platform; ranks of other processes cannot take part yet",
                        null,
                        null);
            }
            if (state == null) {
                state = new CommunicatorState(this, key, "communicator " + ++made, size);
                known.put(key, state);
            } else if (state.size() != size) {
                throw AcceleratorException.invalid(
                        "communicator",
                        state.name() + " has " + state.size() + " ranks and is joined as one of " + size);
            }
            state.join(ranks);
            return new NativeCommunicator(state, ranks);
        }
    }

    /** The communicator of graphs over these devices, rank i on the i-th; made when it is first asked for and kept. */
    CommunicatorState overDevices(List<NativeDevice> devices) {
        Object key = List.copyOf(devices);
        synchronized (known) {
            CommunicatorState state = known.get(key);
            if (state == null) {
                state = fresh(key, devices);
            }
            state.requireReady("launch graph");
            return state;
        }
    }

    /** A new communicator over devices of this process, all joined. */
    CommunicatorState fresh(Object key, List<NativeDevice> devices) {
        synchronized (known) {
            CommunicatorState state = new CommunicatorState(this, key, "communicator " + ++made, devices.size());
            Map<Integer, NativeDevice> ranks = new TreeMap<>();
            for (int rank = 0; rank < devices.size(); rank++) {
                ranks.put(rank, devices.get(rank));
            }
            known.put(key, state);
            state.join(ranks);
            return state;
        }
    }

    void forget(CommunicatorState state) {
        synchronized (known) {
            known.remove(state.key(), state);
            ids.remove(state.key());
        }
    }

    /** The library's side of a communicator over these devices: one that was left, or a new one. */
    Clique take(List<NativeDevice> devices) {
        synchronized (idle) {
            ArrayDeque<Clique> left = idle.get(devices);
            if (left != null && !left.isEmpty()) {
                return left.pop();
            }
        }
        return Clique.connect(this, devices);
    }

    /** A communicator has ended well and leaves its side of the library to the next. */
    void give(Clique clique) {
        synchronized (idle) {
            ArrayDeque<Clique> left = idle.computeIfAbsent(clique.devices(), ignored -> new ArrayDeque<>());
            if (!closed && left.size() < KEPT) {
                left.push(clique);
                return;
            }
        }
        clique.destroy();
    }

    /** Releases what is still open; collectives that can never end are ended. */
    void close() {
        List<CommunicatorState> open;
        synchronized (known) {
            open = new ArrayList<>(known.values());
            known.clear();
        }
        open.forEach(CommunicatorState::release);
        List<Clique> left = new ArrayList<>();
        synchronized (idle) {
            closed = true;
            idle.values().forEach(left::addAll);
            idle.clear();
        }
        left.forEach(Clique::destroy);
    }

    static AcceleratorException aborted(String operation, String name) {
        return new AcceleratorException(ErrorCode.ABORTED, operation, name + " was aborted before");
    }
}
