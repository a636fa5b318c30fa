// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.sdma;

import io.weft.amd.setting.AmdSettings;
import io.weft.amd.setting.Setting;
import io.weft.api.CopyMethod;
import io.weft.sim.machine.CopyRules;
import io.weft.sim.machine.Machine;

/**
 * ROCr's and HIP's rules for copies:
 *
 * <ul>
 *   <li>Between GPUs a kernel copies up to ROC_P2P_SDMA_SIZE, 1 MiB, and an engine above. {@link CopyMethod#ENGINE} is hipMemcpyDeviceToDeviceNoCU (kind 1024).
 *   <li>With the host an engine copies, from GPU_FORCE_BLIT_COPY_SIZE on. Data for the device take engine 0 and data for the host engine 1; gfx94x has the two the other
 *       way round.
 *   <li>Between GPUs one engine drives one link, the one that the {@link EngineMap} says, also over several hops. With ganging (HSA_ENABLE_SDMA_GANG=1) a copy
 *       takes as many engines as its links are wide.
 *   <li>Engines move lines of {@value #LINE} bytes: one that is touched in part is moved as a whole. No figure for more than that is known.
 * </ul>
 */
public final class SdmaRules implements CopyRules {
    /** Bytes of a line of the last cache before memory, in which engines read and write. */
    public static final int LINE = 128;

    /** ROC_P2P_SDMA_SIZE when it is not set, bytes (clr source: 1024 KiB). */
    public static final long PEER_KERNEL_BYTES = 1L << 20;

    private static final long KIB = 1024;

    private final EngineMap map;
    private final boolean peerEngines;
    private final boolean ganging;
    private final long peerKernelBytes;
    private final long hostKernelBytes;
    private final boolean[] hostSwapped;

    /** The rules of a machine under some settings. */
    public SdmaRules(Machine machine, EngineMap map, AmdSettings settings) {
        this.map = map;
        peerEngines = !settings.isOff(Setting.HSA_ENABLE_PEER_SDMA);
        ganging = settings.isOn(Setting.HSA_ENABLE_SDMA_GANG);
        peerKernelBytes = KIB * settings.number(Setting.ROC_P2P_SDMA_SIZE, (int) (PEER_KERNEL_BYTES / KIB));
        hostKernelBytes = KIB * settings.number(Setting.GPU_FORCE_BLIT_COPY_SIZE, 0);
        hostSwapped = new boolean[machine.deviceCount()];
        for (int device = 0; device < hostSwapped.length; device++) {
            hostSwapped[device] = machine.device(device).architecture().startsWith("gfx94");
        }
    }

    /** Which engine serves which peer. */
    public EngineMap map() {
        return map;
    }

    /** Most bytes of a copy between GPUs that a kernel carries out when the method is left open. */
    public long peerKernelBytes() {
        return peerEngines ? peerKernelBytes : Long.MAX_VALUE;
    }

    /** Most bytes of a copy with the host that a kernel carries out when the method is left open. */
    public long hostKernelBytes() {
        return hostKernelBytes;
    }

    /** Whether copies over parallel links take several engines. */
    public boolean isGanging() {
        return ganging;
    }

    @Override
    public boolean byEngine(Machine machine, int device, int from, int to, long bytes, CopyMethod method) {
        boolean host = from == HOST || to == HOST;
        boolean peer = !host && from != to;
        return switch (method) {
            case KERNEL -> false;
            case ENGINE -> !peer || peerEngines;
            case AUTO -> host ? bytes > hostKernelBytes : peer && bytes > peerKernelBytes();
        };
    }

    @Override
    public int engine(Machine machine, int device, int from, int to) {
        if (from == HOST || to == HOST) {
            int count = machine.device(device).copyEngines().count();
            return count < 2 ? 0 : (to == HOST) == hostSwapped[device] ? 0 : 1;
        }
        return map.engine(device, from == device ? to : from);
    }

    @Override
    public double bandwidth(Machine machine, int device, int from, int to) {
        if (from == HOST || to == HOST) {
            return Double.POSITIVE_INFINITY; // a host engine keeps up with the link: rocm-bandwidth-test has 57.3 GB/s
        }
        return gang(machine, device, from, to)
                * machine.device(device).copyEngines().bandwidth();
    }

    /** How many engines share a copy between GPUs. */
    int gang(Machine machine, int device, int from, int to) {
        if (!ganging || from == to) {
            return 1;
        }
        int peers = machine.device(device).copyEngines().count()
                - machine.device(device).copyEngines().hostEngines();
        return Math.clamp(machine.route(from, to).width(), 1, Math.max(1, peers));
    }

    @Override
    public long moved(long sourceOffset, long destinationOffset, long bytes) {
        return Math.max(lines(sourceOffset, bytes), lines(destinationOffset, bytes));
    }

    /** Bytes of the lines that a range touches. */
    private static long lines(long offset, long bytes) {
        long first = offset & -LINE;
        long end = (offset + bytes + LINE - 1) & -LINE;
        return end - first;
    }
}
