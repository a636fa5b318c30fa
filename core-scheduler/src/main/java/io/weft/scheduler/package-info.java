// SPDX-License-Identifier: Apache-2.0
/** Overlap problems, schedules and their execution. */
package io.weft.scheduler;
