// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import io.weft.api.Finding;
import java.util.List;

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
}
