// SPDX-License-Identifier: Apache-2.0
/** Plans over a whole space of machines, models, tokens and degrees, in a file that an interrupted sweep goes on with. */
package io.weft.runtime.sweep;
