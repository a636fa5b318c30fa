// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code weft bench}: micro-benchmarks of a platform, one sub-command each; alone it shows its help. */
@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        description = "Times one thing on a platform, and says whether the figures are model or measured.",
        subcommands = {
            BenchCollectivesCommand.class,
            BenchIssueCommand.class,
            BenchOverlapCommand.class,
            BenchPredictCommand.class,
            BenchScalingCommand.class
        },
        synopsisSubcommandLabel = "COMMAND")
final class BenchCommand implements Runnable {
    @ParentCommand
    Weft weft;

    @Spec
    CommandSpec spec;

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }
}
