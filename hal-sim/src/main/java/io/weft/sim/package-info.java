// SPDX-License-Identifier: Apache-2.0
/** The simulated platform. */
package io.weft.sim;
