// SPDX-License-Identifier: Apache-2.0
package com.example.skeleton;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;

/** What every method says until it is written. */
final class NotYet {
    private NotYet() {}

    static AcceleratorException written(String operation) {
        return new AcceleratorException(ErrorCode.UNSUPPORTED, operation, "this plugin does not do it yet");
    }
}
