// SPDX-License-Identifier: Apache-2.0
/** Recorded allocations through Weft's pool and through models of others. */
package io.weft.runtime.replay;
