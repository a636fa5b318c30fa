// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.hip;

import io.weft.api.ElementType;
import java.util.EnumSet;
import java.util.Set;

/** Which encoding of 8-bit floats a chip computes with. A job over chips of both would be silently wrong: byte 0x38 is 1.0 in one and 0.5 in the other. */
enum Float8 {
    /** No 8-bit products. */
    NONE,
    /** Without infinity and negative zero; the largest E4M3 is 240. */
    FNUZ,
    /** The Open Compute Project's; the largest E4M3 is 448. */
    OCP;

    /** The encoding of a chip such as {@code gfx942}. */
    static Float8 of(String architecture) {
        return switch (architecture) {
            case "gfx940", "gfx941", "gfx942" -> FNUZ;
            case "gfx950", "gfx1200", "gfx1201" -> OCP;
            default -> NONE;
        };
    }

    /** Its element types. */
    Set<ElementType> types() {
        return switch (this) {
            case NONE -> EnumSet.noneOf(ElementType.class);
            case FNUZ -> EnumSet.of(ElementType.FP8_E4M3_FNUZ, ElementType.FP8_E5M2_FNUZ);
            case OCP -> EnumSet.of(ElementType.FP8_E4M3, ElementType.FP8_E5M2);
        };
    }
}
