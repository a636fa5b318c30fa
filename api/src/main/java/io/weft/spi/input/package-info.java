// SPDX-License-Identifier: Apache-2.0
/** What every reader of tools' output needs, on the JDK alone: text of any shell, bounded; addresses; words for refusals. */
package io.weft.spi.input;
