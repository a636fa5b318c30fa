// SPDX-License-Identifier: Apache-2.0
/**
 * Files of recorded allocations, told apart by what is in them and made into traces. Readers of CSV are the pool's own; those that need a library for a format,
 * JSON or pickle, are here.
 */
package io.weft.runtime.traces;
