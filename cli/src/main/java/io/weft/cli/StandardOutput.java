// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.Locale;

/** Why standard output failed. {@link java.io.PrintStream} only tells that it did, so one more byte is tried to hear the reason. */
final class StandardOutput {
    private StandardOutput() {}

    @SuppressWarnings("StreamResourceLeak") // closing it would close the process's standard output
    static boolean isBrokenPipe() {
        FileOutputStream raw = new FileOutputStream(FileDescriptor.out);
        try {
            raw.write('\n');
            raw.flush();
            return false;
        } catch (IOException failure) {
            String reason = String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT);
            return reason.contains("pipe");
        }
    }
}
