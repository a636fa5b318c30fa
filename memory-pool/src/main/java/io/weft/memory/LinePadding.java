// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

/** Keeps what a subclass writes all the time off the line of the cache on which the object before it lies, wherever a collection of garbage has put the two. */
@SuppressWarnings("unused")
class LinePadding {
    // The number fills the gap behind the header, where a subclass's field would come to lie otherwise.
    int gap;
    long before0, before1, before2, before3, before4, before5, before6, before7;
}
