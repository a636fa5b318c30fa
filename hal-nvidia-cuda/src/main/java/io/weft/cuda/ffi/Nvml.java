// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda.ffi;

import io.weft.nativehal.ffi.Native;
import io.weft.nativehal.ffi.NativeLibrary;
import io.weft.nativehal.ffi.Scratch;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Locale;

/**
 * NVML: links and clocks of devices, read only. What it cannot tell is reported as unknown, never as a failure. No setting of a device is ever changed.
 *
 * <p>Source of signatures and numbers: nvml.h of driver 580.
 */
public final class Nvml implements AutoCloseable {
    /** File names. */
    public static final List<String> NAMES = List.of("libnvidia-ml.so.1", "libnvidia-ml.so");
    /** {@code NVML_NVLINK_MAX_LINKS}. */
    public static final int MAX_LINKS = 18;
    /** A link leads to another GPU: {@code nvmlIntNvLinkDeviceType_t}, in which 2 is a switch. */
    public static final int REMOTE_DEVICE = 0;

    private static final int FIELD_LINK_SPEED_COMMON = 90; // NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON
    private static final long FIELD_BYTES = 40; // nvmlFieldValue_t
    private static final int CLOCK_SM = 1;
    private static final int CLOCK_MEMORY = 2;

    private final NativeLibrary library;
    private final MemorySegment shutdown;
    private final MemorySegment driverVersion;
    private final MemorySegment handleByBusId;
    private final MemorySegment linkState;
    private final MemorySegment linkVersion;
    private final MemorySegment remoteBus;
    private final MemorySegment remoteType;
    private final MemorySegment fieldValues;
    private final MemorySegment maxClock;
    private final MemorySegment clock;
    private final MemorySegment commonAncestor;
    private final MemorySegment powerLimit;
    private boolean started;

    /** Looks every function up and starts the library. */
    public Nvml(NativeLibrary library) {
        this.library = library;
        MemorySegment init = library.find("nvmlInit_v2");
        shutdown = library.find("nvmlShutdown");
        driverVersion = library.find("nvmlSystemGetDriverVersion");
        handleByBusId = library.find("nvmlDeviceGetHandleByPciBusId_v2");
        linkState = library.find("nvmlDeviceGetNvLinkState");
        linkVersion = library.find("nvmlDeviceGetNvLinkVersion");
        remoteBus = library.find("nvmlDeviceGetNvLinkRemotePciInfo_v2");
        remoteType = library.find("nvmlDeviceGetNvLinkRemoteDeviceType");
        fieldValues = library.find("nvmlDeviceGetFieldValues");
        maxClock = library.find("nvmlDeviceGetMaxClockInfo");
        clock = library.find("nvmlDeviceGetClockInfo");
        commonAncestor = library.find("nvmlDeviceGetTopologyCommonAncestor");
        powerLimit = library.find("nvmlDeviceGetPowerManagementLimit");
        started = init != null && Native.call(init) == 0;
    }

    /** The library behind it. */
    public NativeLibrary library() {
        return library;
    }

    /** Whether it could be started. */
    public boolean isStarted() {
        return started;
    }

    /** Version of the driver such as {@code 580.95.05}; empty when unknown. */
    public String driverVersion() {
        Scratch out = Scratch.mine();
        out.word(0, 0);
        return !started || driverVersion == null || Native.call(driverVersion, out.address(), 96) != 0
                ? ""
                : Native.text(out.address());
    }

    /** The device at a PCI address; 0 when unknown. */
    public long device(String busId) {
        if (!started || handleByBusId == null || busId.isEmpty()) {
            return 0;
        }
        Scratch out = Scratch.mine();
        out.memory().setString(64, busId);
        return Native.call(handleByBusId, out.address() + 64, out.address()) == 0 ? out.word(0) : 0;
    }

    /** Whether a link is up. */
    public boolean isLinkActive(long device, int link) {
        Scratch out = Scratch.mine();
        return linkState != null && Native.call(linkState, device, link, out.address()) == 0 && out.integer(0) == 1;
    }

    /** Generation of a link, 0 when unknown. */
    public int linkVersion(long device, int link) {
        Scratch out = Scratch.mine();
        return linkVersion != null && Native.call(linkVersion, device, link, out.address()) == 0 ? out.integer(0) : 0;
    }

    /** What a link leads to; -1 when unknown. */
    public int remoteType(long device, int link) {
        Scratch out = Scratch.mine();
        return remoteType != null && Native.call(remoteType, device, link, out.address()) == 0 ? out.integer(0) : -1;
    }

    /** PCI address of the other end of a link, as {@link #normalBusId(String)} writes it; empty when unknown. */
    public String remoteBusId(long device, int link) {
        Scratch out = Scratch.mine();
        // nvmlPciInfo_t: a short address of 16 bytes, five 32-bit words, then the address of 32 bytes.
        return remoteBus == null || Native.call(remoteBus, device, link, out.address()) != 0
                ? ""
                : normalBusId(Native.text(out.address() + 36));
    }

    /** MB/s of each link in each direction, of those that are up; 0 when unknown. */
    public long linkMegabytesPerSecond(long device) {
        if (fieldValues == null) {
            return 0;
        }
        Scratch out = Scratch.mine();
        MemorySegment memory = out.memory();
        memory.asSlice(0, FIELD_BYTES).fill((byte) 0);
        memory.set(ValueLayout.JAVA_INT, 0, FIELD_LINK_SPEED_COMMON);
        if (Native.call(fieldValues, device, 1, out.address()) != 0 || out.integer(28) != 0) {
            return 0;
        }
        // The value's type follows the time stamps: unsigned int (1) or a 64-bit integer.
        return out.integer(24) == 1 ? Integer.toUnsignedLong(out.integer(32)) : out.word(32);
    }

    /** Highest clock of the compute units, MHz; 0 when unknown. */
    public int maxComputeMegahertz(long device) {
        return clock(maxClock, device, CLOCK_SM);
    }

    /** Highest clock of the memory, MHz; 0 when unknown. */
    public int maxMemoryMegahertz(long device) {
        return clock(maxClock, device, CLOCK_MEMORY);
    }

    /** Present clock of the compute units, MHz; 0 when unknown. */
    public int computeMegahertz(long device) {
        return clock(clock, device, CLOCK_SM);
    }

    private static int clock(MemorySegment function, long device, int which) {
        Scratch out = Scratch.mine();
        return function == null || Native.call(function, device, which, out.address()) != 0 ? 0 : out.integer(0);
    }

    /** Power limit in milliwatts; 0 when unknown. */
    public int powerLimitMilliwatts(long device) {
        Scratch out = Scratch.mine();
        return powerLimit == null || Native.call(powerLimit, device, out.address()) != 0 ? 0 : out.integer(0);
    }

    /** How far apart two devices are on PCIe, {@code nvmlGpuTopologyLevel_t}: 10 and 20 below one or more switches, 30 one host bridge, 40 one NUMA node, 50 beyond; -1 when unknown. */
    public int commonAncestor(long device, long other) {
        Scratch out = Scratch.mine();
        return commonAncestor == null || Native.call(commonAncestor, device, other, out.address()) != 0
                ? -1
                : out.integer(0);
    }

    /** One spelling for PCI addresses: {@code 0000:0c:00.0}. The vendor's libraries write the domain with four or eight digits, in either case. */
    public static String normalBusId(String text) {
        String lower = text.strip().toLowerCase(Locale.ROOT);
        int colon = lower.indexOf(':');
        return colon > 4 ? lower.substring(colon - 4) : lower;
    }

    @Override
    public void close() {
        if (started && shutdown != null) {
            started = false;
            Native.call(shutdown);
        }
    }
}
