// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.mapping;

import java.util.ArrayList;
import java.util.List;

/**
 * What ranks send to one another in one exchange. Immutable.
 *
 * @param name for people
 * @param ranks their number
 * @param flows every directed flow
 */
public record RankTraffic(String name, int ranks, List<Flow> flows) {
    public RankTraffic {
        flows = List.copyOf(flows);
    }

    /**
     * A directed flow.
     *
     * @param from sending rank
     * @param to receiving rank
     * @param bytes bytes
     */
    public record Flow(int from, int to, double bytes) {}

    /** Each rank sends to the next: what a ring of so many ranks does in every step. */
    public static RankTraffic ring(int ranks, double bytes) {
        List<Flow> flows = new ArrayList<>();
        for (int rank = 0; rank < ranks && ranks > 1; rank++) {
            flows.add(new Flow(rank, (rank + 1) % ranks, bytes));
        }
        return new RankTraffic("ring of " + ranks, ranks, flows);
    }

    /** Ranks in rows and columns, each exchanging with its neighbours: stencils, and pipelines of tensor-parallel pairs. */
    public static RankTraffic mesh(int rows, int columns, double bytes) {
        List<Flow> flows = new ArrayList<>();
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                int rank = row * columns + column;
                if (column + 1 < columns) {
                    flows.add(new Flow(rank, rank + 1, bytes));
                    flows.add(new Flow(rank + 1, rank, bytes));
                }
                if (row + 1 < rows) {
                    flows.add(new Flow(rank, rank + columns, bytes));
                    flows.add(new Flow(rank + columns, rank, bytes));
                }
            }
        }
        return new RankTraffic("mesh of " + rows + " x " + columns, rows * columns, flows);
    }

    /**
     * Groups in which all exchange with all, and rings of the members of equal place between groups.
     *
     * @param inner ranks of a group; ranks of one group follow one another
     * @param outer groups
     * @param innerBytes bytes for each pair of a group
     * @param outerBytes bytes for each step of a ring between groups
     */
    public static RankTraffic groups(int inner, int outer, double innerBytes, double outerBytes) {
        return grouped(
                "groups of " + inner + ", " + outer + " of them", inner, outer, 1, inner, innerBytes, outerBytes);
    }

    /** As {@link #groups}, but a group's members are as many ranks apart as there are groups: data parallelism numbered first. */
    public static RankTraffic strided(int inner, int outer, double innerBytes, double outerBytes) {
        return grouped("groups of " + inner + " at distance " + outer, inner, outer, outer, 1, innerBytes, outerBytes);
    }

    private static RankTraffic grouped(
            String name, int inner, int outer, int memberStep, int groupStep, double innerBytes, double outerBytes) {
        List<Flow> flows = new ArrayList<>();
        for (int group = 0; group < outer; group++) {
            for (int member = 0; member < inner; member++) {
                int rank = group * groupStep + member * memberStep;
                for (int other = 0; other < inner; other++) {
                    if (other != member) {
                        flows.add(new Flow(rank, group * groupStep + other * memberStep, innerBytes));
                    }
                }
                if (outer > 1) {
                    flows.add(new Flow(rank, (group + 1) % outer * groupStep + member * memberStep, outerBytes));
                }
            }
        }
        return new RankTraffic(name, inner * outer, flows);
    }
}
