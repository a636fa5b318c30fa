// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.plan;

import io.weft.api.AcceleratorException;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.Platform;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;

/** Element types that a platform multiplies. */
public final class GemmTypes {
    private GemmTypes() {}

    /**
     * Checks that every device multiplies a type, before work starts that would fail deep inside.
     *
     * @param operation what is attempted
     * @throws AcceleratorException INVALID_ARGUMENT with the types that are accepted
     */
    public static void require(Platform platform, String operation, ElementType type) {
        for (Device device : platform.devices()) {
            Set<ElementType> types = device.properties().gemmTypes();
            if (!types.contains(type)) {
                throw AcceleratorException.invalid(
                        operation,
                        platform.uri() + " does not multiply " + type + "; accepted are "
                                + Arrays.stream(ElementType.values())
                                        .filter(types::contains)
                                        .map(ElementType::label)
                                        .collect(Collectors.joining(", ")));
            }
        }
    }
}
