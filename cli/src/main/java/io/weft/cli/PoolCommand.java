// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code weft pool}: what memory pools do with real allocations; alone it shows its help. */
@Command(
        name = "pool",
        mixinStandardHelpOptions = true,
        description = "Shows what memory pools do with recorded allocations.",
        subcommands = {PoolReplayCommand.class},
        synopsisSubcommandLabel = "COMMAND")
final class PoolCommand implements Runnable {
    @ParentCommand
    Weft weft;

    @Spec
    CommandSpec spec;

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }
}
