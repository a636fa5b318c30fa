// SPDX-License-Identifier: Apache-2.0
/** What reports tell of memory. */
package io.weft.runtime.memory;
