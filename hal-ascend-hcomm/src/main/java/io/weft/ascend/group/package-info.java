// SPDX-License-Identifier: Apache-2.0
/**
 * Communication groups that do not disturb one another: each has semaphores, an event ring and memory windows of its own, and none can take another's. What is exhausted is refused with a
 * {@link io.weft.ascend.group.GroupResult} and counted; nothing waits in here.
 *
 * <p>The sizes are the project's own design figures (32 semaphores, a ring of 1024): no public source gives those of the vendor's library.
 */
package io.weft.ascend.group;
