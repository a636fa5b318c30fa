// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

/** What became of a command that was offered to a stream. */
public enum Enqueue {
    /** It will run. */
    ACCEPTED,
    /** The queue is full now; nothing happened. Synchronize or try again. */
    QUEUE_FULL
}
