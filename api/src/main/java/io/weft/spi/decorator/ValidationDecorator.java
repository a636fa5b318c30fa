// SPDX-License-Identifier: Apache-2.0
package io.weft.spi.decorator;

import io.weft.spi.DriverDecorator;
import io.weft.spi.PlatformDriver;

/** {@code validation}: holds callers of the SPI and the backend itself to the contract. */
public final class ValidationDecorator implements DriverDecorator {
    /** For the service loader. */
    public ValidationDecorator() {}

    @Override
    public String name() {
        return "validation";
    }

    @Override
    public String description() {
        return "checks every SPI call and what the backend answers";
    }

    @Override
    public PlatformDriver decorate(PlatformDriver platform) {
        return new ObservedPlatform(platform, new ContractObserver());
    }
}
