// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

/** The libraries, in the order in which they are usually needed. */
public enum AclLibrary {
    /** The runtime: devices, memory, streams, events. */
    ASCENDCL("libascendcl.so"),
    /** Collective operators, and in older versions communicators as well. */
    HCCL("libhccl.so"),
    /** Communicators and resources of newer versions. */
    HCOMM("libhcomm.so"),
    /** Operators such as matrix products. */
    OPAPI("libopapi.so"),
    /** Tensors and executors of the operators. */
    NNOPBASE("libnnopbase.so");

    private final String file;

    AclLibrary(String file) {
        this.file = file;
    }

    /** The file's name. */
    public String file() {
        return file;
    }
}
