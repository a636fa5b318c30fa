// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.hccl;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The ports that one job listens on: on the host for setting up, and on the devices' own network cards.
 *
 * @param host ports on the host
 * @param device ports on each device's card; empty when the library chooses ({@code auto})
 */
public record PortPlan(List<PortRange> host, List<PortRange> device) {
    /** The host's first port when nothing is set. */
    public static final int HOST_BASE = 60_000;
    /** Ports that the library takes from the base on. */
    public static final int HOST_PORTS = 32;
    /** The devices' port when nothing is set. */
    public static final int DEVICE_PORT = 16_666;
    /** The smallest and the largest base that is accepted. */
    static final int LEAST_BASE = 1_024;

    static final int MOST_BASE = 65_520;

    public PortPlan {
        host = List.copyOf(host);
        device = List.copyOf(device);
    }

    /** What is used when nothing is set. */
    public static PortPlan defaults() {
        return of(Map.of());
    }

    /**
     * Reads {@code HCCL_HOST_SOCKET_PORT_RANGE}, which wins over {@code HCCL_IF_BASE_PORT}, and {@code HCCL_NPU_SOCKET_PORT_RANGE}.
     *
     * @throws AcceleratorException BAD_DOCUMENT which names the variable and what it accepts
     */
    public static PortPlan of(Map<String, String> environment) {
        String ranges = environment.getOrDefault("HCCL_HOST_SOCKET_PORT_RANGE", "");
        List<PortRange> host = ranges.isBlank()
                ? List.of(fromBase(environment.getOrDefault("HCCL_IF_BASE_PORT", Integer.toString(HOST_BASE))))
                : ports("HCCL_HOST_SOCKET_PORT_RANGE", ranges);
        String npu = environment.getOrDefault("HCCL_NPU_SOCKET_PORT_RANGE", Integer.toString(DEVICE_PORT));
        return new PortPlan(host, ports("HCCL_NPU_SOCKET_PORT_RANGE", npu));
    }

    private static List<PortRange> ports(String variable, String text) {
        return text.strip().equals("auto") ? List.of() : PortRange.parse(variable, text);
    }

    private static PortRange fromBase(String text) {
        try {
            int base = Integer.parseInt(text.strip());
            if (base >= LEAST_BASE && base <= MOST_BASE) {
                // A base near the end has fewer ports than the library would take; it stops at the last one.
                return new PortRange(base, Math.min(PortRange.MAX, base + HOST_PORTS - 1));
            }
        } catch (NumberFormatException notANumber) {
            // Falls through to the one message.
        }
        throw new AcceleratorException(
                ErrorCode.BAD_DOCUMENT,
                "HCCL_IF_BASE_PORT",
                "'" + text + "' is no base port; accepted is " + LEAST_BASE + " to " + MOST_BASE);
    }

    /**
     * The port of a program that counts from a base by physical device, as serving engines do.
     *
     * @throws AcceleratorException INVALID_ARGUMENT when it runs past the last port
     */
    public static int ofDevice(int base, int physicalId) {
        long port = (long) base + physicalId;
        if (base < 1 || physicalId < 0 || port > PortRange.MAX) {
            throw AcceleratorException.invalid(
                    "port",
                    "base " + base + " plus device " + physicalId + " is port " + port + "; the last is "
                            + PortRange.MAX + ", so use a base of at most " + (PortRange.MAX - physicalId));
        }
        return (int) port;
    }

    /** A port that both jobs would listen on, when they run on the same host and devices. */
    public Optional<PortRange> clash(PortPlan other) {
        return shared(host, other.host).or(() -> shared(device, other.device));
    }

    private static Optional<PortRange> shared(List<PortRange> mine, List<PortRange> theirs) {
        for (PortRange one : mine) {
            for (PortRange two : theirs) {
                if (one.overlaps(two)) {
                    return Optional.of(
                            new PortRange(Math.max(one.first(), two.first()), Math.min(one.last(), two.last())));
                }
            }
        }
        return Optional.empty();
    }

    /** Ports for one more job beside others on the same host and devices: the lowest from the defaults on that nobody has. */
    public static PortPlan beside(List<PortPlan> others) {
        List<PortRange> hosts = new ArrayList<>();
        List<PortRange> devices = new ArrayList<>();
        others.forEach(other -> {
            hosts.addAll(other.host);
            devices.addAll(other.device);
        });
        return new PortPlan(List.of(free(HOST_BASE, HOST_PORTS, hosts)), List.of(free(DEVICE_PORT, 1, devices)));
    }

    private static PortRange free(int from, int count, List<PortRange> taken) {
        int first = from;
        while (first + count - 1 <= PortRange.MAX) {
            PortRange wanted = new PortRange(first, first + count - 1);
            Optional<PortRange> inTheWay =
                    taken.stream().filter(wanted::overlaps).findFirst();
            if (inTheWay.isEmpty()) {
                return wanted;
            }
            first = inTheWay.get().last() + 1;
        }
        throw new AcceleratorException(
                ErrorCode.NOT_FOUND, "ports", "there are no " + count + " free ports from " + from + " on");
    }
}
