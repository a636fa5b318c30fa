// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.hccl;

/** Hears what a running program does with communicators. Called under the platform's lock; must be quick. */
public interface HcclListener {
    /** A stream went from one communication group to another, which took the host so long. */
    void switched(long nanos);

    /** So many bytes of communication buffers there are now, more or less than before. */
    void bufferSize(long delta);

    /** So many bytes of communication buffers are in use now, more or less than before. */
    void bufferUsed(long delta);
}
