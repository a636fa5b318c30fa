// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code weft completion}: a completion script for bash and zsh. */
@Command(
        name = "completion",
        mixinStandardHelpOptions = true,
        description = "Prints a completion script for bash and zsh: source <(weft completion)")
final class CompletionCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    @Override
    public Integer call() {
        spec.commandLine().getOut().print(AutoComplete.bash("weft", spec.root().commandLine()));
        return ExitCode.GOOD;
    }
}
