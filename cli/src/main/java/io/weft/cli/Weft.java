// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The {@code weft} command. */
@Command(
        name = "weft",
        mixinStandardHelpOptions = true,
        version = "weft 0.1.0",
        description = "Plans and runs overlapped communication and compute.")
public final class Weft implements Runnable {

    @Override
    public void run() {
        CommandLine.usage(this, System.out);
    }

    /**
     * Runs one command and ends the process with its exit code.
     *
     * @param arguments as typed
     */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new Weft()).execute(arguments));
    }
}
