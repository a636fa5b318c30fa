// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import io.weft.api.Finding;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Looks for what makes a machine fail or crawl: permissions, kernel settings, environment variables, degraded links. An extension of {@link AcceleratorProvider}. It only reads: it
 * opens no device, runs no tool, and works on the captured files of another machine. Safe for any thread.
 */
public interface EnvironmentCheck {
    /** One sentence: what is checked. */
    String description();

    /**
     * Checks a machine.
     *
     * @return findings in the order in which they should be read; what is as it should be is a finding too, of severity GOOD
     */
    List<Finding> check(HostFiles host);

    /** Further files that it can look at, such as what a tool printed; they become options of the command. None by default. */
    default List<ToolInput> inputs() {
        return List.of();
    }

    /**
     * Checks a machine, and files that were given for it.
     *
     * @param files by the option name of one of {@link #inputs()}; may be empty
     * @return as {@link #check(HostFiles)}
     */
    default List<Finding> check(HostFiles host, Map<String, List<Path>> files) {
        return check(host);
    }

    /**
     * Says what an error code of the vendor means.
     *
     * @param code as a log or an exception shows it
     * @return meaning, cause and next step as findings of severity NOTE; none when the code is not known, or when this check explains no codes
     */
    default List<Finding> explain(String code) {
        return List.of();
    }
}
