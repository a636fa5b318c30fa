// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.transport;

/** Takes what a transfer delivers: ranges that follow one another from 0 on, each once. */
@FunctionalInterface
public interface DeliverySink {
    /** The bytes of a range have arrived, and all before them. */
    void deliver(long offset, long bytes);
}
