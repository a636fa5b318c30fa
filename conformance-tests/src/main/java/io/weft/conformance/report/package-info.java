// SPDX-License-Identifier: Apache-2.0
/** What a run found, as files: report.json, JUnit XML, and a page for people. */
package io.weft.conformance.report;
