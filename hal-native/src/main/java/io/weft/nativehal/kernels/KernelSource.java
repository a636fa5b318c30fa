// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.kernels;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** The source of Weft's kernels, for vendors that compile it where it runs. */
public final class KernelSource {
    /** Its file name. */
    public static final String NAME = "weft_kernels.cu";

    private KernelSource() {}

    /** The whole text. */
    public static String text() {
        try (InputStream in = KernelSource.class.getResourceAsStream(NAME)) {
            if (in == null) {
                throw new AcceleratorException(ErrorCode.INTERNAL, "load kernels", NAME + " is not in the module");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
