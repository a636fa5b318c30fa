// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

/**
 * Wraps the drivers of any platform. Decorators are enabled by name and cost nothing when off. Found by {@link java.util.ServiceLoader} beside the built-in
 * ones.
 */
public interface DriverDecorator {
    /** The name by which it is enabled: lower-case letters and dashes. */
    String name();

    /** One sentence. */
    String description();

    /** Wraps a platform. The result owns the given one and closes it. */
    PlatformDriver decorate(PlatformDriver platform);
}
