// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.report;

import io.weft.api.graph.Timeline;
import java.util.Objects;

/**
 * A part of a trace.
 *
 * @param name for people, such as {@code qkv: hetero-fused-1d/chunks=4}
 * @param timeline what ran when; one with intervals also shows engines and links
 */
public record TraceSection(String name, Timeline timeline) {
    public TraceSection {
        Objects.requireNonNull(name);
        Objects.requireNonNull(timeline);
    }
}
