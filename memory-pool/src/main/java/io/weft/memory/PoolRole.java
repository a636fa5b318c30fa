// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

/** What a pool's memory is for. Pools of different roles never share a segment, so that a fabric registration or a page fault of one never touches the other. */
public enum PoolRole {
    /** Operands of kernels. */
    COMPUTE,
    /** Buffers which collectives and peer copies read and write. */
    COMMUNICATION
}
