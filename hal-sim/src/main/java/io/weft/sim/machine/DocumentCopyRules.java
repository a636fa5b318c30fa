// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

import io.weft.api.CopyMethod;

/**
 * What machine documents say: host copies go by engine, copies inside a device by kernel, peer copies by kernel below a size and by engine from it on. Engines for the host
 * come first, one for each direction while there are two; the others serve the peers by the device's map, or each its own while they last.
 */
final class DocumentCopyRules implements CopyRules {
    @Override
    public boolean byEngine(Machine machine, int device, int from, int to, long bytes, CopyMethod method) {
        return switch (method) {
            case ENGINE -> true;
            case KERNEL -> false;
            case AUTO ->
                from == HOST
                        || to == HOST
                        || (from != to
                                && bytes >= machine.device(device).copyEngines().autoFromBytes());
        };
    }

    @Override
    public int engine(Machine machine, int device, int from, int to) {
        CopyEngineModel engines = machine.device(device).copyEngines();
        if (from == HOST || to == HOST) {
            int choice = from == HOST ? 0 : 1;
            return engines.hostEngines() > 0 ? choice % engines.hostEngines() : choice % engines.count();
        }
        int other = from == device ? to : from;
        if (!engines.map().isEmpty()) {
            return engines.map().get(other);
        }
        int peerEngines = engines.count() - engines.hostEngines();
        if (peerEngines == 0) {
            return other % engines.count();
        }
        // The device's own place comes after all its peers, so a local copy disturbs no peer while engines last.
        int peer = other == device ? machine.deviceCount() - 1 : other < device ? other : other - 1;
        return engines.hostEngines() + peer % peerEngines;
    }
}
