// SPDX-License-Identifier: Apache-2.0
package io.weft.api.topology;

/** Neutral kinds of path between two devices. The vendor's own name stands in {@link Link#name()}. */
public enum LinkKind {
    /** The device itself. */
    SELF,
    /** Both parts of one package. */
    IN_PACKAGE,
    /** A direct accelerator fabric. */
    FABRIC,
    /** An accelerator fabric through a switch. */
    SWITCHED_FABRIC,
    /** PCIe, with or without switches. */
    PCIE,
    /** Through host memory or between host sockets. */
    HOST,
    /** A network card. */
    NETWORK,
    /** No path. */
    NONE
}
