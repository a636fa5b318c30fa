// SPDX-License-Identifier: Apache-2.0
/** A platform on a vendor's own libraries, as far as it is the same for every vendor: devices, streams, events, memory, graphs, communicators. */
package io.weft.nativehal;
