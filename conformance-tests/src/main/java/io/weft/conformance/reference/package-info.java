// SPDX-License-Identifier: Apache-2.0
/**
 * What a backend should have computed, by code that shares nothing with any backend: encodings from their definitions, products and reductions in double or by the
 * exact rules, collectives over plain arrays, and whole command graphs node by node.
 *
 * <p>Plain and unhurried on purpose.
 */
package io.weft.conformance.reference;
