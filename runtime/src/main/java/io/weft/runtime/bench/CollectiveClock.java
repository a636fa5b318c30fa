// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.bench;

/** Tells how long one call of a collective takes in a row of calls, ns. */
interface CollectiveClock {
    /** The time of one call. */
    double nanos(CollectiveShape shape);
}
