// SPDX-License-Identifier: Apache-2.0
/** Conformance of a backend: the rules, one class to extend in a plugin's build, one call to run without a build, and the verdicts. */
package io.weft.conformance;
