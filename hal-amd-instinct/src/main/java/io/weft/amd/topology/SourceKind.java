// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

/** Who says something. In the order of trust: where sources contradict one another, the first one's word is taken, and the contradiction is reported. */
public enum SourceKind {
    /** The kernel driver's sysfs tree, from which all others derive what they say. */
    KFD("KFD"),
    /** {@code amd-smi topology}. */
    AMD_SMI("amd-smi"),
    /** {@code rocm-smi}, the older tool. */
    ROCM_SMI("rocm-smi"),
    /** A topology file of RCCL. */
    RCCL_XML("RCCL XML");

    private final String label;

    SourceKind(String label) {
        this.label = label;
    }

    /** Its name for people. */
    public String label() {
        return label;
    }
}
