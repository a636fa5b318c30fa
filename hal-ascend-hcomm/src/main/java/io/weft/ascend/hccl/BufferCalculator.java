// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.hccl;

import io.weft.api.AcceleratorException;

/**
 * How large HCCL's buffers should be and what they cost. The setting {@code HCCL_BUFFSIZE} counts in MB of 2^20 bytes, and every communicator takes two buffers of it on each of its devices.
 *
 * <p>A size too small ends in an error at run time for operators that need their whole message in the buffer (expert-parallel dispatch and combine); plain collectives only become slower, as they go in more rounds.
 */
public final class BufferCalculator {
    /** What the library takes when nothing is set, MB. */
    public static final int DEFAULT_MEGABYTES = 200;

    /** Buffers of each communicator on each device: one in, one out. */
    public static final int BUFFERS = 2;

    private static final long MEGABYTE = 1L << 20;

    private BufferCalculator() {}

    /**
     * Device memory that communicators take on one device.
     *
     * @param communicators in which the device is a rank
     * @param megabytes the setting
     */
    public static long deviceBytes(int communicators, int megabytes) {
        if (communicators < 0 || megabytes < 1) {
            throw AcceleratorException.invalid(
                    "HCCL buffer",
                    communicators + " communicators of " + megabytes
                            + " MB; accepted are 0 or more communicators and 1 MB or more");
        }
        return Math.multiplyExact(Math.multiplyExact(MEGABYTE * BUFFERS, megabytes), communicators);
    }

    /** The smallest setting whose buffer holds a message, MB. */
    public static int megabytesFor(long messageBytes) {
        if (messageBytes < 0) {
            throw AcceleratorException.invalid("HCCL buffer", "a message cannot have " + messageBytes + " bytes");
        }
        return Math.toIntExact(Math.max(1, Math.ceilDiv(messageBytes, MEGABYTE)));
    }

    /**
     * The setting for a transformer layer's collectives: one message of all activations.
     *
     * @param tokens in a batch
     * @param hidden width of the model
     * @param elementBytes of an activation
     * @return MB, the default or more
     */
    public static int megabytesForActivations(long tokens, long hidden, int elementBytes) {
        return Math.max(DEFAULT_MEGABYTES, megabytesFor(Math.multiplyExact(Math.multiplyExact(tokens, hidden), (long)
                elementBytes)));
    }

    /**
     * The setting for expert-parallel dispatch and combine: every token goes to several experts, quantised on the way there (two bytes with its scales) and as bf16 on the way back. The form is that of vllm-ascend (Apache-2.0).
     *
     * @param tokens that one rank sends in a batch
     * @param hidden width of the model
     * @param expertsPerToken to how many experts a token goes
     * @return MB, the default or more
     */
    public static int megabytesForExperts(long tokens, long hidden, int expertsPerToken) {
        long dispatchAndCombineBytes = 2 + 2;
        long elements = Math.multiplyExact(Math.multiplyExact(tokens, hidden), (long) expertsPerToken);
        return Math.max(DEFAULT_MEGABYTES, megabytesFor(Math.multiplyExact(elements, dispatchAndCombineBytes)));
    }

    /**
     * How full a buffer is with a message, 0 to 1 and beyond. The band in which a buffer is neither wasted nor a risk is 0.7 to 0.8.
     *
     * @param messageBytes the largest message
     * @param megabytes the setting
     */
    public static double level(long messageBytes, int megabytes) {
        return (double) messageBytes / (MEGABYTE * megabytes);
    }
}
