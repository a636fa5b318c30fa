// SPDX-License-Identifier: Apache-2.0
/** Which selector a command uses, and where measured selection keeps what it found. */
package io.weft.runtime.tuning;
