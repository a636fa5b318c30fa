// SPDX-License-Identifier: Apache-2.0
/** What proofs work with: fresh handles, guarded and poisoned buffers, seeded data, comparisons, and what is watched around them. */
package io.weft.conformance.bench;
