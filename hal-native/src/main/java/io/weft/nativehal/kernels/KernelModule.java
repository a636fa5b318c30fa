// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.kernels;

/** Weft's kernels compiled for one device. Their names are {@code weft_} and the entry's in small letters; their one argument is a structure, laid out as in the kernels' source. */
public interface KernelModule {
    /** The kernels. */
    enum Entry {
        REDUCE,
        SUM_WIDE,
        COPY_WIDE,
        COPY_BYTES,
        GEMM;

        /** The kernel's name in the compiled code. */
        public String symbol() {
            return "weft_" + name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    /**
     * Launches a kernel.
     *
     * @param arguments address of an array of pointers to the arguments, read before the call returns
     */
    void launch(Entry entry, int gridX, int gridY, int gridZ, int blockX, int blockY, long stream, long arguments);

    /** Unloads them. */
    void close();
}
