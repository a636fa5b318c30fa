// SPDX-License-Identifier: Apache-2.0
/** Backends that do one thing wrong, each to be caught by exactly one rule. */
package io.weft.conformance.mutants;
