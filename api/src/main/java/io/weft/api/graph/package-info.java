// SPDX-License-Identifier: Apache-2.0
/** The command graph, the narrow waist between scheduler and hardware, and the timeline that comes back. */
package io.weft.api.graph;
