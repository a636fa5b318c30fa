// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.runtime.settings.EffectiveSettings;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code weft config}: every setting, its value, and where the value comes from. */
@Command(
        name = "config",
        mixinStandardHelpOptions = true,
        description = "Shows every setting, its value, and where the value comes from.")
final class ConfigCommand implements Callable<Integer> {
    @ParentCommand
    Weft weft;

    @Spec
    CommandSpec spec;

    @Option(names = "--json", description = "Print JSON.")
    boolean json;

    @Override
    public Integer call() {
        List<EffectiveSettings.Entry<?>> entries = weft.settings().entries();
        if (json) {
            List<Map<String, Object>> settings = new ArrayList<>();
            for (EffectiveSettings.Entry<?> entry : entries) {
                Map<String, Object> row = new LinkedHashMap<>();
                row.put("key", entry.setting().key());
                row.put("value", entry.text());
                row.put("origin", entry.origin().layer().label());
                row.put("place", entry.origin().place());
                row.put("default", entry.setting().defaultText());
                row.put("variable", entry.setting().variable());
                row.put("accepted", entry.setting().accepted());
                row.put("doc", entry.setting().doc());
                settings.add(row);
            }
            Json.print(spec.commandLine().getOut(), Map.of("settings", settings));
        } else {
            TextTable table = new TextTable("setting", "value", "origin", "meaning");
            for (EffectiveSettings.Entry<?> entry : entries) {
                table.row(
                        entry.setting().key(),
                        entry.text(),
                        entry.origin().toString(),
                        entry.setting().doc());
            }
            table.print(spec.commandLine().getOut());
        }
        return ExitCode.GOOD;
    }
}
