// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.model;

import io.weft.scheduler.TransformerModel;
import java.util.List;
import java.util.Objects;

/**
 * A model as it was read.
 *
 * @param model what its layers multiply
 * @param notes what a reader of the plan should know about the reading, each one sentence, such as a default that was assumed
 */
public record ModelConfig(TransformerModel model, List<String> notes) {
    public ModelConfig {
        Objects.requireNonNull(model);
        notes = List.copyOf(notes);
    }
}
