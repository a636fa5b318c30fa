// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.topology;

import io.weft.spi.input.ToolText;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The table of top-of-rack switches that the volcano plugin of MindCluster reads: which servers hang on which switch.
 *
 * @param switches in the order of the file
 */
public record TorTable(List<Switch> switches) {
    static final String ACCEPTED = "a table of switches of version 1.0: JSON with tor_count and server_list";

    public TorTable {
        switches = List.copyOf(switches);
    }

    /**
     * A switch.
     *
     * @param id its number
     * @param address its address
     * @param servers what hangs on it
     */
    public record Switch(int id, String address, List<Server> servers) {
        public Switch {
            servers = List.copyOf(servers);
        }
    }

    /**
     * A server.
     *
     * @param address its host's address
     * @param devices how many it has
     * @param slice its place below the switch
     */
    public record Server(String address, int devices, int slice) {}

    /** Reads a table. */
    public static TorTable read(Path file) {
        JsonPlace root = JsonPlace.read(file, ACCEPTED);
        List<Switch> switches = new ArrayList<>();
        Map<String, Integer> seen = new HashMap<>();
        for (JsonPlace tor : root.objects("server_list")) {
            int id = (int) tor.number("tor_id", 0, 1 << 20);
            List<Server> servers = new ArrayList<>();
            for (JsonPlace server : tor.objects("server")) {
                String address = server.text("server_ip");
                Integer other = seen.putIfAbsent(address, id);
                if (other != null) {
                    throw ToolText.refused(
                            file, server.path() + ": server " + address + " hangs on switches " + other + " and " + id);
                }
                servers.add(new Server(address, (int) server.number("npu_count", 1, 64), (int)
                        server.number("slice_id", 0, 1 << 20, servers.size())));
            }
            switches.add(new Switch(id, tor.text("tor_ip", ""), servers));
        }
        long stated = root.number("tor_count", 0, 1 << 20, switches.size());
        if (stated != switches.size()) {
            throw ToolText.refused(file, "tor_count is " + stated + " and " + switches.size() + " switches are listed");
        }
        if (switches.isEmpty()) {
            throw ToolText.refused(file, "names no switch; accepted is " + ACCEPTED);
        }
        return new TorTable(switches);
    }

    /** The switch of a server by address, or -1. */
    public int switchOf(String address) {
        for (Switch tor : switches) {
            if (tor.servers().stream().anyMatch(server -> server.address().equals(address))) {
                return tor.id();
            }
        }
        return -1;
    }
}
