// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.Buffer;
import io.weft.api.ElementType;
import io.weft.api.Stream;
import io.weft.api.numeric.Expected;
import io.weft.api.numeric.HostMatrix;
import io.weft.api.numeric.Reference;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;

/** Proofs of the rules about GEMM numerics. */
final class GemmProofs {
    @Proves("GEM-001")
    void aGemmGivesTheProduct(Bench bench) {
        int m = 17;
        int n = 13;
        int k = 19;
        for (ElementType type : bench.device().properties().gemmTypes()) {
            ElementType result = type.isFloating() ? ElementType.FP32 : ElementType.INT32;
            byte[] left = bench.randomBytes(type, m * k);
            byte[] right = bench.randomBytes(type, k * n);
            Buffer a = bench.upload(bench.device(), left);
            Buffer b = bench.upload(bench.device(), right);
            Buffer c = bench.buffer(bench.device(), (long) m * n * result.bytes());
            Stream stream = bench.stream(bench.device());
            stream.gemm(c.matrix(m, n, result), a.matrix(m, k, type), b.matrix(k, n, type));
            stream.synchronize();
            HostMatrix actual = Bench.matrix(bench.download(c), result, m, n);
            Expected expected =
                    Reference.gemm(1, Bench.matrix(left, type, m, k), Bench.matrix(right, type, k, n), 0, actual);
            bench.near(type + " gemm", expected, actual, 1);
        }
    }
}
