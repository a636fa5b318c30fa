// SPDX-License-Identifier: Apache-2.0
/** Command graphs on a backend: as one launch, and command by command on streams; random ones, and how they are made small. */
package io.weft.conformance.graph;
