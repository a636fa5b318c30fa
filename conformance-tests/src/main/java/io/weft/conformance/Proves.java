// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Names the rule that a method proves. The method takes a bench, and fails when the rule is broken. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Proves {
    /** The rule's id. */
    String value();
}
