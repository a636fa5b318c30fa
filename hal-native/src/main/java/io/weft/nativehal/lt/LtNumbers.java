// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.lt;

import java.util.Set;

/**
 * Where the headers of two libraries in the style "Lt" differ.
 *
 * @param name of the library, for messages
 * @param prefix of its functions
 * @param algorithmBytes bytes of a kernel's description
 * @param resultBytes bytes of one result of the question for kernels
 * @param computeFp32 sums in fp32, no narrower
 * @param computeInt32 sums in int32
 * @param plain an operand as it is
 * @param transposed an operand turned
 * @param transposeA attribute of a product: how A is taken
 * @param transposeB attribute of a product: how B is taken
 * @param batchCount attribute of a matrix
 * @param batchStride attribute of a matrix
 * @param workspace attribute of a preference: most bytes
 * @param refusals results by which the library says that it has no kernel
 */
public record LtNumbers(
        String name,
        String prefix,
        long algorithmBytes,
        long resultBytes,
        int computeFp32,
        int computeInt32,
        int plain,
        int transposed,
        int transposeA,
        int transposeB,
        int batchCount,
        int batchStride,
        int workspace,
        Set<Integer> refusals) {
    public LtNumbers {
        refusals = Set.copyOf(refusals);
    }
}
