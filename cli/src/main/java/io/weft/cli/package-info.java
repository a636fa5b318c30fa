// SPDX-License-Identifier: Apache-2.0
/** The commands. */
package io.weft.cli;
