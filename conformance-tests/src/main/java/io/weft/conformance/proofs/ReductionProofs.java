// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ReduceOp;
import io.weft.api.Stream;
import io.weft.api.graph.Command;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;
import io.weft.conformance.bench.NotApplicable;
import io.weft.conformance.reference.Codec;
import io.weft.conformance.reference.Expectation;
import io.weft.conformance.reference.Reductions;
import io.weft.conformance.reference.SlotMemory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Elementwise reductions on one device. Their order is fixed, so their bits are. */
final class ReductionProofs {
    private static final int COUNT = 96;

    private static List<ElementType> floating() {
        return Arrays.stream(ElementType.values())
                .filter(ElementType::isFloating)
                .toList();
    }

    private static float[] scales(ReduceOp op, int inputs) {
        float[] scales = new float[inputs];
        Arrays.fill(scales, op.scale());
        return scales;
    }

    /**
     * Reduces inputs into a destination of its own and requires exact bits; NaNs match NaNs. Arithmetic on 8-bit floats is optional, and so are means of whole numbers.
     *
     * @return whether it was done, and not refused as something optional
     */
    private static boolean reduces(Bench bench, String what, ReduceOp op, ElementType type, int[][] inputs) {
        return reduces(bench, what, op, type, inputs, type);
    }

    private static boolean reduces(
            Bench bench, String what, ReduceOp op, ElementType type, int[][] inputs, ElementType target) {
        Device device = bench.device();
        int count = inputs[0].length;
        List<BufferView> views = new ArrayList<>();
        for (int[] input : inputs) {
            views.add(bench.upload(device, Elements.bytes(type, input)).vector(count, type));
        }
        Buffer result = bench.buffer(device, (long) count * target.bytes());
        Stream stream = bench.stream(device);
        bench.step(what);
        Runnable reduction = () -> stream.reduce(result.vector(count, target), views, op);
        if (type.isFp8() || target.isFp8() || (op.kind() == ReduceOp.Kind.AVG && !type.isFloating())) {
            if (!bench.unlessRefused(reduction)) {
                return false;
            }
        } else {
            reduction.run();
        }
        stream.synchronize();
        int[] expected = Reductions.ordered(op.kind(), scales(op, inputs.length), type, inputs, target);
        Elements.expect(bench, what, Expectation.exact(target, expected), result.vector(count, target));
        return true;
    }

    private static int[][] random(Bench bench, ElementType type, int inputs, int count) {
        int[][] data = new int[inputs][];
        for (int i = 0; i < inputs; i++) {
            data[i] = Elements.random(bench, type, count);
        }
        return data;
    }

    private static int[][] positive(Bench bench, ElementType type, int inputs, int count) {
        int[][] data = new int[inputs][];
        for (int i = 0; i < inputs; i++) {
            data[i] = Elements.positive(bench, type, count);
        }
        return data;
    }

    @Proves("GEM-030")
    void sumsAreRoundedOnce(Bench bench) {
        for (ElementType type : ElementType.values()) {
            reduces(bench, "the sum of 4 inputs of " + type, ReduceOp.SUM, type, random(bench, type, 4, COUNT));
        }
    }

    @Proves("GEM-031")
    void productsAreRoundedOnce(Bench bench) {
        for (ElementType type : ElementType.values()) {
            reduces(bench, "the product of 4 inputs of " + type, ReduceOp.PROD, type, positive(bench, type, 4, COUNT));
        }
    }

    @Proves("GEM-032")
    void minimumAndMaximumAreExact(Bench bench) {
        for (ElementType type : ElementType.values()) {
            for (ReduceOp op : List.of(ReduceOp.MIN, ReduceOp.MAX)) {
                int[][] inputs = random(bench, type, 4, COUNT);
                if (type.isFloating()) {
                    // The ends of the type, small values of both signs.
                    double[] ends = {type.maxFinite(), -type.maxFinite(), 0.0009765625, -0.0009765625};
                    for (int i = 0; i < 4; i++) {
                        inputs[i][i] = Codec.of(type).encode(ends[i]);
                    }
                } else {
                    inputs[0][0] = type == ElementType.INT8 ? 0x80 : Integer.MIN_VALUE;
                    inputs[1][1] = type == ElementType.INT8 ? 0x7F : Integer.MAX_VALUE;
                }
                reduces(bench, "the " + op.kind() + " of 4 inputs of " + type, op, type, inputs);
            }
        }
    }

    @Proves("GEM-033")
    void aNanWins(Bench bench) {
        for (ElementType type : floating()) {
            for (ReduceOp op : List.of(ReduceOp.MIN, ReduceOp.MAX)) {
                for (int place = 0; place < 3; place++) {
                    int[][] inputs = random(bench, type, 3, 8);
                    inputs[place][5] = Codec.of(type).encode(Double.NaN);
                    reduces(
                            bench,
                            "the " + op.kind() + " of " + type + " with a NaN in input " + place,
                            op,
                            type,
                            inputs);
                }
            }
        }
    }

    @Proves("GEM-034")
    void floatingAveragesMultiplyByTheRoundedShare(Bench bench) {
        for (ElementType type : floating()) {
            for (int inputs : new int[] {2, 3, 6, 7}) {
                reduces(
                        bench,
                        "the average of " + inputs + " inputs of " + type,
                        ReduceOp.AVG,
                        type,
                        positive(bench, type, inputs, COUNT));
            }
        }
    }

    @Proves("GEM-035")
    void wholeAveragesAreDividedTowardZero(Bench bench) {
        boolean done = false;
        for (ElementType type : List.of(ElementType.INT8, ElementType.INT32)) {
            for (int inputs : new int[] {2, 3, 7}) {
                done |= reduces(
                        bench,
                        "the average of " + inputs + " inputs of " + type,
                        ReduceOp.AVG,
                        type,
                        random(bench, type, inputs, COUNT));
            }
        }
        if (!done) {
            throw new NotApplicable("the backend has no mean of whole numbers");
        }
    }

    @Proves("GEM-036")
    void scaledSumsMultiplyFirst(Bench bench) {
        for (ElementType type : ElementType.values()) {
            float factor = type.isFloating() ? 0.3f : 3;
            reduces(
                    bench,
                    "the sum of 3 inputs of " + type + " times " + factor,
                    ReduceOp.scaledSum(factor),
                    type,
                    positive(bench, type, 3, COUNT));
        }
    }

    @Proves("GEM-037")
    void integersWrap(Bench bench) {
        for (ElementType type : List.of(ElementType.INT8, ElementType.INT32)) {
            int[] large = new int[COUNT];
            Arrays.fill(large, type == ElementType.INT8 ? 100 : Integer.MAX_VALUE - 7);
            int[] more = Elements.positive(bench, type, COUNT);
            for (int i = 0; i < COUNT; i++) {
                more[i] += 40;
            }
            for (ReduceOp op : List.of(ReduceOp.SUM, ReduceOp.PROD)) {
                reduces(bench, "the wrapping " + op.kind() + " of " + type, op, type, new int[][] {large, more, more});
            }
        }
    }

    @Proves("GEM-038")
    void theDestinationMayBeAnyInput(Bench bench) {
        Device device = bench.device();
        Stream stream = bench.stream(device);
        for (ElementType type : List.of(ElementType.FP32, ElementType.BF16)) {
            for (int place = 0; place < 3; place++) {
                int[][] inputs = random(bench, type, 3, COUNT);
                List<BufferView> views = new ArrayList<>();
                for (int[] input : inputs) {
                    views.add(bench.upload(device, Elements.bytes(type, input)).vector(COUNT, type));
                }
                String what = "the sum of 3 inputs of " + type + " into input " + place;
                bench.step(what);
                stream.reduce(views.get(place), views, ReduceOp.SUM);
                stream.synchronize();
                int[] expected = Reductions.ordered(ReduceOp.Kind.SUM, new float[3], type, inputs, type);
                Elements.expectBits(bench, what, expected, views.get(place));
            }
        }
    }

    @Proves("GEM-039")
    void fp32InputsAreRoundedOnceToANarrowResult(Bench bench) {
        for (ElementType target : floating()) {
            if (target != ElementType.FP32) {
                reduces(
                        bench,
                        "the sum of 5 inputs of fp32 into " + target,
                        ReduceOp.SUM,
                        ElementType.FP32,
                        positive(bench, ElementType.FP32, 5, COUNT),
                        target);
            }
        }
    }

    @Proves("GEM-040")
    void pitchesOfAReductionAreHonoured(Bench bench) {
        Device device = bench.device();
        Stream stream = bench.stream(device);
        ElementType type = ElementType.FP32;
        int[] pitches = {12, 17, 24};
        int[][] inputs = random(bench, type, 3, 5 * 12);
        List<BufferView> views = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Buffer buffer = bench.buffer(device, 5L * pitches[i] * 4);
            BufferView view = BufferView.pitched(buffer, 0, 5, 12, pitches[i], type);
            Elements.set(bench, view, inputs[i]);
            views.add(view);
        }
        byte[] before = bench.randomBytes(5 * 20 * 4);
        Buffer result = bench.upload(device, before);
        BufferView view = BufferView.pitched(result, 0, 5, 12, 20, type);
        stream.reduce(view, views, ReduceOp.SUM);
        stream.synchronize();
        byte[] expected = before.clone();
        SlotMemory.write(expected, view, Reductions.ordered(ReduceOp.Kind.SUM, new float[3], type, inputs, type));
        bench.holds("the pitched sum with its gaps", expected, result);
    }

    @Proves("GEM-041")
    void anyNumberOfInputsIsReduced(Bench bench) {
        for (int inputs : new int[] {1, 2, 5, 8, 9, 16}) {
            reduces(
                    bench,
                    "the sum of " + inputs + " inputs",
                    ReduceOp.SUM,
                    ElementType.FP32,
                    random(bench, ElementType.FP32, inputs, COUNT));
        }
    }

    @Proves("GEM-042")
    void anyNumberOfElementsIsReduced(Bench bench) {
        for (ElementType type : List.of(ElementType.FP32, ElementType.BF16, ElementType.INT8)) {
            for (int count : new int[] {0, 1, 3, 7, 17, 31, 33, 255, 2049}) {
                reduces(
                        bench,
                        "the sum of " + count + " elements of " + type,
                        ReduceOp.SUM,
                        type,
                        random(bench, type, 3, count));
            }
        }
    }

    /** The command is a record that keeps the order of its inputs; a backend must too. */
    @Proves("GEM-030")
    void theOrderOfInputsIsKept(Bench bench) {
        // In fp32 the large values cancel before the small one is added, or swallow it.
        int[][] inputs = {
            Elements.patterns(ElementType.FP32, 1e8, 1, -1e8),
            Elements.patterns(ElementType.FP32, 1, -1e8, 1e8),
            Elements.patterns(ElementType.FP32, -1e8, 1e8, 1)
        };
        reduces(bench, "a sum whose order shows", ReduceOp.SUM, ElementType.FP32, inputs);
        // And a command of one device with the same inputs twice is no mistake.
        Device device = bench.device();
        Stream stream = bench.stream(device);
        BufferView one = bench.upload(device, Elements.bytes(ElementType.FP32, inputs[0]))
                .vector(3, ElementType.FP32);
        Buffer result = bench.buffer(device, 12);
        stream.enqueue(new Command.Reduce(result.vector(3, ElementType.FP32), List.of(one, one), ReduceOp.SUM));
        stream.synchronize();
        Elements.expectBits(
                bench,
                "twice one input",
                Reductions.ordered(
                        ReduceOp.Kind.SUM,
                        new float[2],
                        ElementType.FP32,
                        new int[][] {inputs[0], inputs[0]},
                        ElementType.FP32),
                result.vector(3, ElementType.FP32));
    }
}
