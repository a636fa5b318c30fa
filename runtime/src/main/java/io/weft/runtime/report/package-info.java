// SPDX-License-Identifier: Apache-2.0
/** What people look at: pages, traces and drawings, the same bytes on every run. */
package io.weft.runtime.report;
