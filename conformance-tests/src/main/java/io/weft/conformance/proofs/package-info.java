// SPDX-License-Identifier: Apache-2.0
/** The proofs, a class for each area of rules. A proof is a method with {@link io.weft.conformance.Proves} that takes a bench. */
package io.weft.conformance.proofs;
