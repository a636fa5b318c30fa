// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import java.util.List;

/** The classes that hold proofs. They are listed, since a module in an image cannot be searched. */
public final class ProofClasses {
    private static final List<Class<?>> ALL = List.of(
            DeviceProofs.class,
            MemoryProofs.class,
            StreamProofs.class,
            EventProofs.class,
            CopyProofs.class,
            GemmProofs.class,
            ReductionProofs.class,
            GraphProofs.class,
            CollectiveProofs.class,
            SymmetricMemoryProofs.class,
            VirtualMemoryProofs.class,
            TopologyProofs.class,
            ErrorProofs.class,
            LifetimeProofs.class,
            ProviderProofs.class);

    private ProofClasses() {}

    /** All of them. */
    public static List<Class<?>> all() {
        return ALL;
    }
}
