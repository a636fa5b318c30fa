// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.transport;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What HCCL tells the network card of a RoCE connection. Defaults and ranges: the vendor's documentation of the variables.
 *
 * @param trafficClass {@code HCCL_RDMA_TC}: 0 to 255, a multiple of 4; the packets' DSCP is a quarter of it
 * @param serviceLevel {@code HCCL_RDMA_SL}: 0 to 7
 * @param timeoutExponent {@code HCCL_RDMA_TIMEOUT}: the card sends again after 4.096 us times two to this, 1 to 31
 * @param retries {@code HCCL_RDMA_RETRY_CNT}: 1 to 7
 * @param queuePairs {@code HCCL_RDMA_QPS_PER_CONNECTION}: 1 to 32
 * @param multiQueueKilobytes {@code HCCL_MULTI_QP_THRESHOLD}: least KB for each queue pair, 1 to 8192
 */
public record RoceSettings(
        int trafficClass, int serviceLevel, int timeoutExponent, int retries, int queuePairs, int multiQueueKilobytes) {
    /** What is used when nothing is set. */
    public static final RoceSettings DEFAULTS = new RoceSettings(132, 4, 20, 7, 1, 512);

    /** The unit of the timeout, ns: InfiniBand's local ACK timeout. */
    private static final double TIMEOUT_UNIT_NANOS = 4096;
    /** DSCP values that share one priority where a switch maps by the upper three bits. */
    private static final int DSCP_PER_PRIORITY = 8;

    public RoceSettings {
        check("HCCL_RDMA_TC", trafficClass, 0, 255);
        if (trafficClass % 4 != 0) {
            throw bad("HCCL_RDMA_TC", Integer.toString(trafficClass), "a multiple of 4 from 0 to 252");
        }
        check("HCCL_RDMA_SL", serviceLevel, 0, 7);
        check("HCCL_RDMA_TIMEOUT", timeoutExponent, 1, 31);
        check("HCCL_RDMA_RETRY_CNT", retries, 1, 7);
        check("HCCL_RDMA_QPS_PER_CONNECTION", queuePairs, 1, 32);
        check("HCCL_MULTI_QP_THRESHOLD", multiQueueKilobytes, 1, 8192);
    }

    /**
     * Reads the variables.
     *
     * @throws AcceleratorException BAD_DOCUMENT which names the variable and what it accepts
     */
    public static RoceSettings of(Map<String, String> environment) {
        return new RoceSettings(
                number(environment, "HCCL_RDMA_TC", DEFAULTS.trafficClass),
                number(environment, "HCCL_RDMA_SL", DEFAULTS.serviceLevel),
                number(environment, "HCCL_RDMA_TIMEOUT", DEFAULTS.timeoutExponent),
                number(environment, "HCCL_RDMA_RETRY_CNT", DEFAULTS.retries),
                number(environment, "HCCL_RDMA_QPS_PER_CONNECTION", DEFAULTS.queuePairs),
                number(environment, "HCCL_MULTI_QP_THRESHOLD", DEFAULTS.multiQueueKilobytes));
    }

    private static int number(Map<String, String> environment, String name, int otherwise) {
        String text = environment.getOrDefault(name, "");
        try {
            return text.isBlank() ? otherwise : Integer.parseInt(text.strip());
        } catch (NumberFormatException notANumber) {
            throw bad(name, text, "a whole number");
        }
    }

    private static void check(String name, int value, int least, int most) {
        if (value < least || value > most) {
            throw bad(name, Integer.toString(value), least + " to " + most);
        }
    }

    private static AcceleratorException bad(String name, String value, String accepted) {
        return new AcceleratorException(ErrorCode.BAD_DOCUMENT, name, "is '" + value + "'; accepted is " + accepted);
    }

    /** The packets' DSCP. */
    public int dscp() {
        return trafficClass / 4;
    }

    /** How long the card waits for an answer before it sends again, ns. */
    public double timeoutNanos() {
        return TIMEOUT_UNIT_NANOS * (1L << timeoutExponent);
    }

    /** How long a link may be away before the connection ends with an error, ns: the first sending and every retry. */
    public double giveUpNanos() {
        return timeoutNanos() * (retries + 1);
    }

    /** Over how many queue pairs a message goes. */
    public int queuePairsFor(long bytes) {
        long least = 1024L * multiQueueKilobytes;
        return (int) Math.max(1, Math.min(queuePairs, bytes / least));
    }

    /**
     * Why packets may be dropped under load; empty when the queue that they use is lossless.
     *
     * @param pausedPriorities priorities for which priority flow control is on, on card and switch alike
     */
    public Optional<String> lossyBecause(Set<Integer> pausedPriorities) {
        int priority = dscp() / DSCP_PER_PRIORITY;
        if (priority != serviceLevel) {
            return Optional.of("traffic class " + trafficClass + " (DSCP " + dscp() + ") is priority " + priority
                    + " and the service level is " + serviceLevel + "; they must name one queue");
        }
        if (!pausedPriorities.contains(priority)) {
            return Optional.of("flow control (PFC) is off for priority " + priority + ", which DSCP " + dscp()
                    + " uses; it is on for " + pausedPriorities);
        }
        return Optional.empty();
    }
}
