// SPDX-License-Identifier: Apache-2.0
/** Runs schedules on random data and checks every number: against an independent reference in double precision, and bit by bit against the serial schedule. */
package io.weft.scheduler.verify;
