// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

/** How binding a rule is. */
public enum Obligation {
    /** A backend that breaks it does not conform. */
    MUST,
    /** A backend may have its reasons; the report says that it does not follow the rule. */
    SHOULD
}
