// SPDX-License-Identifier: Apache-2.0
/** What a running job counts, as Micrometer meters, and for Prometheus over HTTP when a setting says so. */
package io.weft.runtime.metrics;
