// SPDX-License-Identifier: Apache-2.0
/** Layered settings: a typed catalogue, where each value comes from, and clear refusals. */
package io.weft.runtime.settings;
