// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

/**
 * How a communicator is made; all but {@link #defaults()} need {@link Capability#COMMUNICATOR_OPTIONS}.
 *
 * @param blocking whether joining and finishing return only when they have had their effect. Without, they return at once: {@link Communicator#isReady()} says when they
 *     are over, and until then the communicator takes no collectives. Splitting always waits for the other ranks, since it tells the new sizes
 * @param minChannels a hint: fewest channels (blocks) of the collective library, 0 to leave it to the library
 * @param maxChannels a hint: most channels, 0 to leave it to the library
 * @param shareOnSplit whether a communicator that is split off shares this one's resources
 */
public record CommunicatorOptions(boolean blocking, int minChannels, int maxChannels, boolean shareOnSplit) {
    private static final CommunicatorOptions DEFAULTS = new CommunicatorOptions(true, 0, 0, false);

    /**
     * Checks the channels.
     *
     * @throws AcceleratorException {@link ErrorCode#INVALID_ARGUMENT} for negative channels, or fewer at most than at least
     */
    public CommunicatorOptions {
        if (minChannels < 0 || maxChannels < 0) {
            throw AcceleratorException.invalid(
                    "communicator",
                    "channels are " + minChannels + " at least and " + maxChannels
                            + " at most; they must be 1 or more, or 0 to leave them to the library");
        }
        if (maxChannels > 0 && minChannels > maxChannels) {
            throw AcceleratorException.invalid(
                    "communicator",
                    "channels are " + minChannels + " at least and only " + maxChannels
                            + " at most; give fewer as the least");
        }
    }

    /** Blocking, with as many channels as the library likes. */
    public static CommunicatorOptions defaults() {
        return DEFAULTS;
    }

    public CommunicatorOptions withBlocking(boolean wanted) {
        return new CommunicatorOptions(wanted, minChannels, maxChannels, shareOnSplit);
    }

    public CommunicatorOptions withChannels(int least, int most) {
        return new CommunicatorOptions(blocking, least, most, shareOnSplit);
    }

    public CommunicatorOptions withShareOnSplit(boolean wanted) {
        return new CommunicatorOptions(blocking, minChannels, maxChannels, wanted);
    }
}
