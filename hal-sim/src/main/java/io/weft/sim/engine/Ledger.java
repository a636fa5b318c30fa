// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.engine;

import java.util.Arrays;

/**
 * Accounts of each resource: units moved, busy time, present and peak usage. Units are booked when an activity ends,
 * so what was booked is what was asked for, free of rounding by its changes of rate. Usage is
 * kept by differences and summed anew often enough that rounding cannot pile up; once a resource has been full, its peak
 * is known and its usage is no longer followed.
 */
final class Ledger {
    /** What counts as full: rounding may keep the shares this ratio below a capacity. */
    private static final double FULL = 1 - 1e-12;

    private final FluidNetwork network;
    private double[] units = new double[16];
    private double[] usage = new double[16];
    private double[] peak = new double[16];
    private int[] usageAge = new int[16];
    /** The peak has reached the capacity, so usage is not followed. */
    private boolean[] full = new boolean[16];
    /** Activities that progress on a resource, and since when there are any. */
    private int[] moving = new int[16];

    private long[] movingSince = new long[16];
    private long[] busyPs = new long[16];

    Ledger(FluidNetwork network) {
        this.network = network;
    }

    void add(int resource) {
        if (resource >= units.length) {
            int length = 2 * units.length;
            units = Arrays.copyOf(units, length);
            usage = Arrays.copyOf(usage, length);
            peak = Arrays.copyOf(peak, length);
            usageAge = Arrays.copyOf(usageAge, length);
            full = Arrays.copyOf(full, length);
            moving = Arrays.copyOf(moving, length);
            movingSince = Arrays.copyOf(movingSince, length);
            busyPs = Arrays.copyOf(busyPs, length);
        }
        zero(resource);
    }

    void reset(int resources) {
        for (int r = 0; r < resources; r++) {
            zero(r);
        }
    }

    /** Books work done by an activity. */
    void book(int flow, double work) {
        int n = network.uses(flow);
        for (int i = 0; i < n; i++) {
            units[network.resource(flow, i)] += network.amount(flow, i) * work;
        }
    }

    /** A capacity has changed. */
    void capacity(int resource) {
        full[resource] = false;
        usage[resource] = network.usage(resource);
        usageAge[resource] = 0;
    }

    /** An activity's rate has changed at an instant; call {@link #peaks(int)} once all changes of that instant are in. */
    void rate(int flow, double before, double after, long nowPs) {
        int n = network.uses(flow);
        for (int i = 0; i < n; i++) {
            int r = network.resource(flow, i);
            if (!full[r]) {
                usage[r] += network.amount(flow, i) * (after - before);
                usageAge[r]++;
            }
        }
        if (before == 0) {
            for (int i = 0; i < n; i++) {
                int r = network.resource(flow, i);
                if (moving[r]++ == 0) {
                    movingSince[r] = nowPs;
                }
            }
        } else if (after == 0) {
            for (int i = 0; i < n; i++) {
                int r = network.resource(flow, i);
                if (--moving[r] == 0) {
                    busyPs[r] += nowPs - movingSince[r];
                    usage[r] = 0;
                    usageAge[r] = 0;
                }
            }
        }
    }

    /** Takes the present usage of an activity's resources into their peaks. */
    void peaks(int flow) {
        int n = network.uses(flow);
        for (int i = 0; i < n; i++) {
            int r = network.resource(flow, i);
            if (!full[r] && usage[r] > peak[r]) {
                raisePeak(r);
            }
        }
    }

    private void raisePeak(int r) {
        if (usageAge[r] > 64 + 4 * moving[r]) {
            usage[r] = network.usage(r);
            usageAge[r] = 0;
        }
        peak[r] = Math.max(peak[r], usage[r]);
        full[r] = peak[r] >= network.capacity(r) * FULL;
    }

    double units(int resource) {
        return units[resource];
    }

    double peak(int resource) {
        return peak[resource];
    }

    long busyPs(int resource, long nowPs) {
        return busyPs[resource] + (moving[resource] > 0 ? nowPs - movingSince[resource] : 0);
    }

    private void zero(int resource) {
        units[resource] = 0;
        usage[resource] = 0;
        peak[resource] = 0;
        full[resource] = false;
        usageAge[resource] = 0;
        moving[resource] = 0;
        movingSince[resource] = 0;
        busyPs[resource] = 0;
    }
}
