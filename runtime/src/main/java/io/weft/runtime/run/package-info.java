// SPDX-License-Identifier: Apache-2.0
/** Runs of one problem with real data, each result checked against a reference of its own. */
package io.weft.runtime.run;
