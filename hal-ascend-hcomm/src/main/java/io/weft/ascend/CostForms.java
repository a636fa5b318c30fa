// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend;

import io.weft.api.AcceleratorException;

/**
 * The vendor's cost forms of collectives (HCCL documentation, introduction of algorithms), in seconds. They are what the machines' collectives are held against; the machines themselves follow bytes over links, so they also say what other
 * traffic does to a collective, which a form cannot.
 *
 * @param alpha s for a step
 * @param beta s for a byte over a link
 * @param gamma s for a byte that is summed
 */
public record CostForms(double alpha, double beta, double gamma) {
    public CostForms {
        if (!(alpha >= 0) || !(beta >= 0) || !(gamma >= 0)) {
            throw AcceleratorException.invalid(
                    "cost form",
                    "alpha, beta and gamma are " + alpha + ", " + beta + ", " + gamma + "; none is negative");
        }
    }

    /** All exchange with all at once: two steps, a share of the bytes over each link in both. */
    public double meshAllReduce(long ranks, double bytes) {
        return 2 * alpha + 2 * bytes * beta / ranks + summed(ranks, bytes);
    }

    /** One step, a share of the bytes over each link. */
    public double meshAllGather(long ranks, double bytes) {
        return alpha + bytes * beta / ranks;
    }

    /** As an all-gather, and sums. */
    public double meshReduceScatter(long ranks, double bytes) {
        return meshAllGather(ranks, bytes) + summed(ranks, bytes);
    }

    /** A ring: {@code 2 (p - 1)} steps. */
    public double ringAllReduce(long ranks, double bytes) {
        return 2 * (ranks - 1) * alpha + 2 * (ranks - 1) * bytes * beta / ranks + summed(ranks, bytes);
    }

    /** NHR and NB: {@code 2 ceil(log2 p)} steps with the bytes of a ring. */
    public double nhrAllReduce(long ranks, double bytes) {
        return 2 * steps(ranks) * alpha + 2 * (ranks - 1) * bytes * beta / ranks + summed(ranks, bytes);
    }

    /** Recursive halving and doubling: as NHR on powers of two, with one whole exchange more elsewhere. */
    public double halvingDoublingAllReduce(long ranks, double bytes) {
        double extra = Long.bitCount(ranks) == 1 ? 0 : alpha + bytes * beta + bytes * gamma;
        return nhrAllReduce(ranks, bytes) + extra;
    }

    /** Pairs in turn: {@code p - 1} steps of so many bytes each. */
    public double pairwiseAllToAll(long ranks, double bytesOfAPair) {
        return (ranks - 1) * (alpha + bytesOfAPair * beta);
    }

    /** Servers in a pipeline: the slower of a step between and one inside hides the other. */
    public double pipelineAllReduce(long servers, double secondsBetween, double secondsInside) {
        return 2 * (Math.max(secondsBetween, secondsInside) * (servers - 1) + secondsInside);
    }

    /** One for all. */
    public double star(double bytes) {
        return alpha + bytes * beta;
    }

    private double summed(long ranks, double bytes) {
        return (ranks - 1) * bytes * gamma / ranks;
    }

    private static int steps(long ranks) {
        return ranks <= 1 ? 0 : 64 - Long.numberOfLeadingZeros(ranks - 1);
    }
}
