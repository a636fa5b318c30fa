// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

/** Neutral priority of a stream or graph node. It is a hint; {@link Stream#effectivePriority()} tells what the backend made of it. */
public enum Priority {
    LOW,
    NORMAL,
    HIGH
}
