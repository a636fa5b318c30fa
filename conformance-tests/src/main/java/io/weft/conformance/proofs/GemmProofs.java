// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.MatrixLayout;
import io.weft.api.Stream;
import io.weft.api.graph.Command;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;
import io.weft.conformance.bench.NotApplicable;
import io.weft.conformance.reference.Codec;
import io.weft.conformance.reference.Expectation;
import io.weft.conformance.reference.Products;
import io.weft.conformance.reference.SlotMemory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/** Matrix products. */
final class GemmProofs {
    /** What one product looks like; the operands are random unless given. */
    private static final class Case {
        private final Bench bench;
        private final int m;
        private final int n;
        private final int k;
        private ElementType type;
        private ElementType target;
        private boolean transposeA;
        private boolean transposeB;
        private float alpha = 1;
        private float beta;
        private int gapA;
        private int gapB;
        private int gapC;
        private MatrixLayout layoutA = MatrixLayout.ROW_MAJOR;
        private MatrixLayout layoutB = MatrixLayout.ROW_MAJOR;
        private MatrixLayout layoutC = MatrixLayout.ROW_MAJOR;
        private int[] a;
        private int[] b;
        private int[] c;
        private BufferView viewA;
        private BufferView viewB;
        private BufferView viewC;

        Case(Bench bench, int m, int n, int k) {
            this.bench = bench;
            this.m = m;
            this.n = n;
            this.k = k;
            type = plainType(bench);
            target = type == ElementType.INT8 ? ElementType.INT32 : type;
        }

        Case types(ElementType operands, ElementType result) {
            type = operands;
            target = result;
            return this;
        }

        Case transposed(boolean left, boolean right) {
            transposeA = left;
            transposeB = right;
            return this;
        }

        Case factors(float ofProduct, float ofOld) {
            alpha = ofProduct;
            beta = ofOld;
            return this;
        }

        Case gaps(int inA, int inB, int inC) {
            gapA = inA;
            gapB = inB;
            gapC = inC;
            return this;
        }

        Case layouts(MatrixLayout ofA, MatrixLayout ofB, MatrixLayout ofC) {
            layoutA = ofA;
            layoutB = ofB;
            layoutC = ofC;
            return this;
        }

        /** Puts the operands on the device. The logical A is [m, k], whatever its layout and transposition. */
        Case prepare() {
            Device device = bench.device();
            a = a == null ? Elements.random(bench, type, m * k) : a;
            b = b == null ? Elements.random(bench, type, k * n) : b;
            c = c == null ? Elements.random(bench, target, m * n) : c;
            viewA = place(device, transposeA ? k : m, transposeA ? m : k, gapA, layoutA, type);
            viewB = place(device, transposeB ? n : k, transposeB ? k : n, gapB, layoutB, type);
            viewC = place(device, m, n, gapC, layoutC, target);
            Elements.set(bench, viewA, transposeA ? turned(a, m, k) : a);
            Elements.set(bench, viewB, transposeB ? turned(b, k, n) : b);
            Elements.set(bench, viewC, c);
            return this;
        }

        private BufferView place(
                Device device, int rows, int columns, int gap, MatrixLayout layout, ElementType elements) {
            int minor = layout == MatrixLayout.ROW_MAJOR ? columns : rows;
            int major = layout == MatrixLayout.ROW_MAJOR ? rows : columns;
            int pitch = minor + gap;
            Buffer buffer = bench.buffer(device, Math.max(1L, (long) pitch * major * elements.bytes()));
            return new BufferView(buffer, 0, rows, columns, pitch, layout, elements);
        }

        Command.Gemm command() {
            return new Command.Gemm(viewC, viewA, viewB, transposeA, transposeB, alpha, beta, 1, 0, 0, 0);
        }

        Expectation expected() {
            return Products.gemm(m, n, k, alpha, type, a, b, beta, target, c);
        }

        void run(Stream stream) {
            stream.enqueue(command());
            stream.synchronize();
        }

        /** Runs it and looks at the elements of C. */
        void holds(String what) {
            prepare();
            bench.step(what);
            run(bench.stream(bench.device()));
            Elements.expect(bench, what, expected(), viewC);
        }
    }

    /** The type that most proofs use: fp32 where there is one, else the first that the device has. */
    private static ElementType plainType(Bench bench) {
        Set<ElementType> types = bench.device().properties().gemmTypes();
        if (types.contains(ElementType.FP32)) {
            return ElementType.FP32;
        }
        return types.stream()
                .sorted()
                .findFirst()
                .orElseThrow(() -> new NotApplicable("the device multiplies no matrices"));
    }

    private static List<ElementType> gemmTypes(Bench bench) {
        return bench.device().properties().gemmTypes().stream().sorted().toList();
    }

    private static ElementType require(Bench bench, ElementType type) {
        if (!bench.device().properties().gemmTypes().contains(type)) {
            throw new NotApplicable("the device has no " + type + " product");
        }
        return type;
    }

    /** A type narrower than fp32. */
    private static ElementType narrow(Bench bench) {
        for (ElementType type : List.of(ElementType.BF16, ElementType.FP16)) {
            if (bench.device().properties().gemmTypes().contains(type)) {
                return type;
            }
        }
        throw new NotApplicable("the device has neither a bf16 nor an fp16 product");
    }

    private static ElementType resultOf(ElementType type) {
        return type == ElementType.INT8 ? ElementType.INT32 : type;
    }

    private static int[] turned(int[] bits, int rows, int columns) {
        int[] turned = new int[bits.length];
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                turned[column * rows + row] = bits[row * columns + column];
            }
        }
        return turned;
    }

    @Proves("GEM-001")
    void aPlainProductIsRight(Bench bench) {
        new Case(bench, 16, 24, 32).holds("a product [16, 32] by [32, 24]");
        new Case(bench, 64, 64, 64).holds("a product [64, 64] by [64, 64]");
    }

    @Proves("GEM-002")
    void everyListedTypeIsMultiplied(Bench bench) {
        for (ElementType type : gemmTypes(bench)) {
            new Case(bench, 24, 40, 56).types(type, resultOf(type)).holds("a product of " + type);
        }
    }

    @Proves("GEM-003")
    void everyFloatingResultIsRight(Bench bench) {
        for (ElementType type : gemmTypes(bench)) {
            for (ElementType target : ElementType.values()) {
                if (type.isFloating() && target.isFloating() && type != target) {
                    Runnable product = () -> new Case(bench, 16, 32, 48)
                            .types(type, target)
                            .holds("a product of " + type + " with a result of " + target);
                    // Results in 8-bit floats are optional where operands are wider.
                    if (target.isFp8() && !type.isFp8()) {
                        bench.unlessRefused(product);
                    } else {
                        product.run();
                    }
                }
            }
        }
    }

    @Proves("GEM-004")
    void aIsTransposed(Bench bench) {
        new Case(bench, 32, 32, 32).transposed(true, false).holds("a square product with A transposed");
        new Case(bench, 16, 24, 40).transposed(true, false).holds("a product with A transposed");
    }

    @Proves("GEM-005")
    void bIsTransposed(Bench bench) {
        new Case(bench, 32, 32, 32).transposed(false, true).holds("a square product with B transposed");
        new Case(bench, 16, 24, 40).transposed(false, true).holds("a product with B transposed");
    }

    @Proves("GEM-006")
    void bothAreTransposed(Bench bench) {
        new Case(bench, 32, 32, 32).transposed(true, true).holds("a square product with both transposed");
        new Case(bench, 16, 24, 40).transposed(true, true).gaps(4, 8, 0).holds("a product with both transposed");
    }

    @Proves("GEM-007")
    void columnMajorViewsAreHonoured(Bench bench) {
        for (int which = 1; which < 8; which++) {
            new Case(bench, 24, 24, 24)
                    .layouts(layout(which & 1), layout(which & 2), layout(which & 4))
                    .holds("a product with column-major" + ((which & 1) != 0 ? " A" : "")
                            + ((which & 2) != 0 ? " B" : "") + ((which & 4) != 0 ? " C" : ""));
        }
    }

    private static MatrixLayout layout(int flag) {
        return flag == 0 ? MatrixLayout.ROW_MAJOR : MatrixLayout.COLUMN_MAJOR;
    }

    @Proves("GEM-008")
    void pitchesAreHonoured(Bench bench) {
        new Case(bench, 16, 24, 32).gaps(8, 0, 0).holds("a product with gaps in A");
        new Case(bench, 16, 24, 32).gaps(0, 8, 0).holds("a product with gaps in B");
        new Case(bench, 16, 24, 32).gaps(0, 0, 8).holds("a product with gaps in C");
        new Case(bench, 16, 24, 32).gaps(3, 5, 7).holds("a product with odd gaps everywhere");
    }

    @Proves("GEM-009")
    void nothingAroundCChanges(Bench bench) {
        Case product = new Case(bench, 20, 20, 32).gaps(0, 0, 12).prepare();
        byte[] before = bench.download((Buffer) product.viewC.memory());
        product.run(bench.stream(bench.device()));
        byte[] after = bench.download((Buffer) product.viewC.memory());
        byte[] expected = before.clone();
        SlotMemory.write(expected, product.viewC, SlotMemory.read(after, product.viewC));
        bench.sameBytes("the gaps between C's rows", expected, after);
    }

    @Proves("GEM-010")
    void alphaMultiplies(Bench bench) {
        for (float alpha : new float[] {2, -1, 0.375f}) {
            Case product = new Case(bench, 16, 16, 32);
            product.factors(product.target.isFloating() ? alpha : Math.round(alpha) + 3, 0)
                    .holds("a product with alpha " + alpha);
        }
    }

    @Proves("GEM-011")
    void betaAddsTheOldC(Bench bench) {
        for (float beta : new float[] {1, 2, -0.625f}) {
            Case product = new Case(bench, 16, 16, 32);
            product.factors(1, product.target.isFloating() ? beta : Math.round(beta) + 3)
                    .holds("a product with beta " + beta);
        }
    }

    @Proves("GEM-012")
    void withBetaZeroTheOldCIsNotRead(Bench bench) {
        Case product = new Case(bench, 16, 16, 32);
        if (!product.target.isFloating()) {
            throw new NotApplicable("the device multiplies no floats");
        }
        product.c = Elements.patterns(product.target, new double[16 * 16]);
        for (int i = 0; i < product.c.length; i++) {
            double bad = i % 3 == 0 ? Double.NaN : i % 3 == 1 ? Double.POSITIVE_INFINITY : 1;
            product.c[i] = Codec.of(product.target).encode(bad);
        }
        product.holds("a product over a C of NaNs and infinities, beta 0");
    }

    @Proves("GEM-013")
    void withAlphaZeroBetaStillCounts(Bench bench) {
        new Case(bench, 16, 16, 32).factors(0, 2).holds("a product with alpha 0 and beta 2");
        new Case(bench, 16, 16, 32).factors(0, 0).holds("a product with alpha 0 and beta 0");
    }

    @Proves("GEM-014")
    void anInnerSizeOfZeroScalesC(Bench bench) {
        new Case(bench, 16, 16, 0).factors(1, 2).holds("a product with K = 0 and beta 2");
        new Case(bench, 16, 16, 0).factors(1, 0).holds("a product with K = 0 and beta 0");
    }

    @Proves("GEM-015")
    void aProductOfNothingSucceeds(Bench bench) {
        Stream stream = bench.stream(bench.device());
        for (int[] size : new int[][] {{0, 16, 32}, {16, 0, 32}, {0, 0, 0}}) {
            Case product = new Case(bench, size[0], size[1], size[2]).prepare();
            byte[] before = bench.download((Buffer) product.viewC.memory());
            bench.step("a product of sizes " + Arrays.toString(size));
            product.run(stream);
            bench.holds("the memory of an empty C", before, (Buffer) product.viewC.memory());
        }
    }

    @Proves("GEM-016")
    void everySizeIsRight(Bench bench) {
        int[] sizes = {1, 2, 3, 5, 7, 13, 17, 31, 33, 63, 65};
        for (int i = 0; i < sizes.length; i++) {
            int m = sizes[i];
            int n = sizes[(i * 4 + 1) % sizes.length];
            int k = sizes[(i * 7 + 3) % sizes.length];
            new Case(bench, m, n, k).holds("a product [" + m + ", " + k + "] by [" + k + ", " + n + "]");
        }
        new Case(bench, 1, 129, 257).holds("a row by a matrix");
        new Case(bench, 129, 1, 257).holds("a matrix by a column");
    }

    /** A batch over one buffer for each operand; strides in elements. */
    private static void batch(Bench bench, int entries, int strideA, int strideB, int strideC) {
        int m = 8;
        int n = 12;
        int k = 16;
        Device device = bench.device();
        ElementType type = plainType(bench);
        ElementType target = resultOf(type);
        int[] a = Elements.random(bench, type, m * k + strideA * (entries - 1));
        int[] b = Elements.random(bench, type, k * n + strideB * (entries - 1));
        int[] c = Elements.random(bench, target, m * n + strideC * (entries - 1));
        Buffer left = bench.upload(device, Elements.bytes(type, a));
        Buffer right = bench.upload(device, Elements.bytes(type, b));
        Buffer result = bench.upload(device, Elements.bytes(target, c));
        Stream stream = bench.stream(device);
        bench.step("a batch of " + entries + " with strides " + strideA + ", " + strideB + ", " + strideC);
        stream.enqueue(new Command.Gemm(
                result.matrix(m, n, target),
                left.matrix(m, k, type),
                right.matrix(k, n, type),
                false,
                false,
                1,
                1,
                entries,
                strideC,
                strideA,
                strideB));
        stream.synchronize();
        for (int entry = 0; entry < entries; entry++) {
            int fromA = entry * strideA;
            int fromB = entry * strideB;
            int fromC = entry * strideC;
            Expectation expected = Products.gemm(
                    m,
                    n,
                    k,
                    1,
                    type,
                    Arrays.copyOfRange(a, fromA, fromA + m * k),
                    Arrays.copyOfRange(b, fromB, fromB + k * n),
                    1,
                    target,
                    Arrays.copyOfRange(c, fromC, fromC + m * n));
            Elements.expect(
                    bench,
                    "product " + entry + " of the batch",
                    expected,
                    BufferView.matrix(result, (long) fromC * target.bytes(), m, n, target));
        }
    }

    @Proves("GEM-017")
    void batchesUseTheirStrides(Bench bench) {
        batch(bench, 3, 8 * 16, 16 * 12, 8 * 12);
        batch(bench, 4, 8 * 16 + 32, 16 * 12 + 64, 8 * 12 + 16);
    }

    @Proves("GEM-018")
    void strideZeroSharesAnOperand(Bench bench) {
        batch(bench, 3, 0, 16 * 12, 8 * 12);
        batch(bench, 3, 8 * 16, 0, 8 * 12);
    }

    @Proves("GEM-019")
    void sumsAreKeptInFp32(Bench bench) {
        ElementType type = narrow(bench);
        // 512 and then a thousand ones: in bf16 or fp16 the ones beyond the mantissa would be lost one by one.
        int k = 1025;
        Case product = new Case(bench, 4, 4, k).types(type, type);
        double[] left = new double[4 * k];
        double[] right = new double[k * 4];
        Arrays.fill(right, 1);
        for (int row = 0; row < 4; row++) {
            for (int p = 0; p < k; p++) {
                left[row * k + p] = p == 0 ? 4096 : 1;
            }
        }
        product.a = Elements.patterns(type, left);
        product.b = Elements.patterns(type, right);
        product.holds("the sum of 4096 and " + (k - 1) + " ones, by a product of " + type);
    }

    @Proves("GEM-020")
    void fp32ProductsHaveThePrecisionOfFp32(Bench bench) {
        ElementType type = require(bench, ElementType.FP32);
        // One term each: nothing is added, so only the product's own rounding remains.
        Case product = new Case(bench, 16, 16, 1).types(type, type);
        product.a = Elements.positive(bench, type, 16);
        product.b = Elements.positive(bench, type, 16);
        product.holds("an outer product of fp32");
    }

    @Proves("GEM-021")
    void resultsAreRoundedToNearestEven(Bench bench) {
        ElementType type = narrow(bench);
        // Sums of two whole numbers that lie between two values of the type: halfway, above and below.
        int steps = 1 << (type.mantissaBits() + 2);
        double[] left = new double[16 * 2];
        for (int row = 0; row < 16; row++) {
            left[2 * row] = steps;
            left[2 * row + 1] = row * (row % 2 == 0 ? 1 : -1);
        }
        Case product = new Case(bench, 16, 2, 2).types(type, type);
        product.a = Elements.patterns(type, left);
        product.b = Elements.patterns(type, 1, -1, 1, -1);
        product.prepare();
        bench.step("sums between two values of " + type);
        product.run(bench.stream(bench.device()));
        Expectation sums = product.expected();
        int[] exact = new int[sums.values().length];
        for (int i = 0; i < exact.length; i++) {
            exact[i] = Codec.of(type).encode(sums.values()[i]);
        }
        Elements.expect(bench, "the rounded sum", Expectation.exact(type, exact), product.viewC);
    }

    @Proves("GEM-022")
    void nanAndInfinityArePassedOn(Bench bench) {
        ElementType type = plainType(bench);
        if (!type.isFloating()) {
            throw new NotApplicable("the device multiplies no floats");
        }
        Case product = new Case(bench, 8, 8, 16);
        product.a = Elements.positive(bench, type, 8 * 16);
        product.b = Elements.positive(bench, type, 16 * 8);
        Codec codec = Codec.of(type);
        product.a[2 * 16 + 5] = codec.encode(Double.NaN);
        product.a[4 * 16 + 9] = codec.encode(Double.POSITIVE_INFINITY);
        product.b[3 * 8 + 6] = codec.encode(Double.NEGATIVE_INFINITY);
        product.prepare();
        bench.step("a product with a NaN in row 2 of A, and infinities in row 4 of A and column 6 of B");
        product.run(bench.stream(bench.device()));
        // Infinities have no distance to anything, so they must be met exactly.
        Expectation expected = product.expected();
        double[] slack = expected.slack().clone();
        for (int i = 0; i < slack.length; i++) {
            slack[i] = Double.isFinite(expected.values()[i]) ? slack[i] : 0;
        }
        Elements.expect(
                bench, "the product", new Expectation(type, expected.values(), slack, expected.ulps()), product.viewC);
    }

    @Proves("GEM-023")
    void int8ProductsAreExact(Bench bench) {
        ElementType type = require(bench, ElementType.INT8);
        Case product = new Case(bench, 9, 11, 300).types(type, ElementType.INT32);
        product.a = extremes(bench, 9 * 300);
        product.b = extremes(bench, 300 * 11);
        product.factors(3, -2).holds("a product of int8 extremes, alpha 3 and beta -2");
    }

    private static int[] extremes(Bench bench, int count) {
        int[] bits = new int[count];
        for (int i = 0; i < count; i++) {
            bits[i] = bench.random().nextInt(3) == 0 ? 0x80 : 1 + bench.random().nextInt(127);
        }
        return bits;
    }

    @Proves("GEM-024")
    void operandsStay(Bench bench) {
        Case product = new Case(bench, 32, 16, 24).prepare();
        byte[] left = bench.download((Buffer) product.viewA.memory());
        byte[] right = bench.download((Buffer) product.viewB.memory());
        product.run(bench.stream(bench.device()));
        bench.holds("A after the product", left, (Buffer) product.viewA.memory());
        bench.holds("B after the product", right, (Buffer) product.viewB.memory());
    }

    @Proves("GEM-025")
    void theSameProductGivesTheSameBits(Bench bench) {
        Case product = new Case(bench, 32, 32, 96).prepare();
        Stream stream = bench.stream(bench.device());
        product.run(stream);
        byte[] first = bench.download((Buffer) product.viewC.memory());
        for (int again = 0; again < 3; again++) {
            product.run(stream);
            bench.holds("C of the same product", first, (Buffer) product.viewC.memory());
        }
    }

    @Proves("GEM-027")
    void productsThatAddToOneCAllCount(Bench bench) {
        Device device = bench.device();
        Stream stream = bench.stream(device);
        ElementType type = plainType(bench);
        ElementType target = resultOf(type);
        int[] sum = new int[16 * 16];
        Buffer c = bench.upload(device, Elements.bytes(target, sum));
        List<Buffer> operands = new ArrayList<>();
        double[] exact = new double[16 * 16];
        bench.step("six products that add to one C");
        for (int i = 0; i < 6; i++) {
            int[] a = Elements.whole(bench, type, 16 * 8, 3);
            int[] b = Elements.whole(bench, type, 8 * 16, 3);
            operands.add(bench.upload(device, Elements.bytes(type, a)));
            operands.add(bench.upload(device, Elements.bytes(type, b)));
            double[] one =
                    Products.gemm(16, 16, 8, 1, type, a, b, 0, target, sum).values();
            for (int j = 0; j < exact.length; j++) {
                exact[j] += one[j];
            }
        }
        for (int i = 0; i < 6; i++) {
            stream.enqueue(Command.Gemm.accumulate(
                    c.matrix(16, 16, target),
                    operands.get(2 * i).matrix(16, 8, type),
                    operands.get(2 * i + 1).matrix(8, 16, type)));
        }
        stream.synchronize();
        Elements.expect(
                bench,
                "the sum of six products",
                new Expectation(target, exact, new double[exact.length], 0),
                c.matrix(16, 16, target));
    }

    @Proves("GEM-028")
    void eightBitEncodingsAreNotMixedUp(Bench bench) {
        boolean any = false;
        for (ElementType type : gemmTypes(bench)) {
            if (!type.isFp8()) {
                continue;
            }
            any = true;
            Case product = new Case(bench, 16, 16, 16).types(type, ElementType.FP32);
            // Every finite pattern once, by the unit matrix.
            product.a = new int[256];
            product.b = new int[256];
            for (int i = 0; i < 256; i++) {
                double value = Codec.of(type).decode(i);
                product.a[i] = Double.isFinite(value) ? i : 0;
                product.b[i] = i % 17 == 0 ? Codec.of(type).encode(1) : 0;
            }
            product.holds("every pattern of " + type + " times the unit matrix");
        }
        if (!any) {
            throw new NotApplicable("the device multiplies no 8-bit floats");
        }
    }
}
