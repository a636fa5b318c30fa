// SPDX-License-Identifier: Apache-2.0
/**
 * Checking data on the host: views of matrices, reproducible random data and poison, an independent reference in double
 * precision, and distances in units in the last place.
 *
 * <p>For tests, conformance and {@code --verify}; plain and unhurried on purpose, and shared by no kernel that it checks.
 */
package io.weft.api.numeric;
