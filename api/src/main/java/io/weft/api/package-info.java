// SPDX-License-Identifier: Apache-2.0
/** What an application uses: discovery, platforms, devices, buffers, streams, collectives and command graphs. */
package io.weft.api;
