// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.Buffer;
import io.weft.api.Capability;
import io.weft.api.DeviceProperties;
import io.weft.api.ErrorCode;
import io.weft.api.MemoryInfo;
import io.weft.api.PlatformProperties;
import io.weft.api.Stream;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;
import io.weft.conformance.bench.NotApplicable;
import io.weft.spi.DeviceDriver;
import io.weft.spi.PlatformDriver;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** Proofs of the rules about devices. */
final class DeviceProofs {
    private static final Pattern BUS_ID = Pattern.compile("[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");

    @Proves("DEV-001")
    void devicesAreNumberedInOrder(Bench bench) {
        bench.that(!bench.driver().devices().isEmpty(), "at least one device", "there is none");
        int ordinal = 0;
        for (DeviceDriver device : bench.driver().devices()) {
            bench.equal(
                    "the ordinal of device " + ordinal,
                    ordinal,
                    device.properties().ordinal());
            ordinal++;
        }
    }

    @Proves("DEV-002")
    void aDeviceDescribesItselfTheSameWay(Bench bench) {
        for (DeviceDriver device : bench.driver().devices()) {
            DeviceProperties first = device.properties();
            bench.equal("the second answer of device " + first.ordinal(), first, device.properties());
        }
    }

    @Proves("DEV-003")
    void aDeviceHasANameAndAnArchitecture(Bench bench) {
        each(bench, "a name", properties -> !properties.name().isBlank(), DeviceProperties::name);
        each(bench, "an architecture", properties -> !properties.architecture().isBlank(), p -> p.architecture());
    }

    @Proves("DEV-004")
    void theFiguresOfADeviceArePossible(Bench bench) {
        each(bench, "1 compute unit or more", p -> p.computeUnits() >= 1, p -> p.computeUnits());
        each(bench, "1 hardware queue or more", p -> p.hardwareQueues() >= 1, p -> p.hardwareQueues());
        each(bench, "1 priority or more", p -> p.priorities() >= 1, p -> p.priorities());
        each(bench, "more than 0 bytes of memory", p -> p.memoryBytes() > 0, p -> p.memoryBytes());
        each(bench, "memory of more than 0 bytes/s", p -> p.memoryBandwidth() > 0, p -> p.memoryBandwidth());
        each(bench, "0 copy engines or more", p -> p.copyEngines() >= 0, p -> p.copyEngines());
    }

    @Proves("DEV-005")
    void theAlignmentIsAPowerOfTwo(Bench bench) {
        each(
                bench,
                "an alignment that is a power of two of at least 128",
                p -> p.allocationAlignment() >= 128 && Long.bitCount(p.allocationAlignment()) == 1,
                p -> p.allocationAlignment());
    }

    @Proves("DEV-006")
    void gemmTypesHavePeaks(Bench bench) {
        each(
                bench,
                "peaks for exactly the types of its GEMM",
                p -> p.peakFlops().keySet().equals(p.gemmTypes()),
                p -> "peaks for " + p.peakFlops().keySet() + " and GEMMs of " + p.gemmTypes());
        each(
                bench,
                "peaks of more than 0",
                p -> p.peakFlops().values().stream().allMatch(peak -> peak > 0),
                DeviceProperties::peakFlops);
    }

    @Proves("DEV-007")
    void busAddressesAreWrittenInFull(Bench bench) {
        each(
                bench,
                "a bus address such as 0000:0c:00.0, or none",
                p -> p.busId().isEmpty() || BUS_ID.matcher(p.busId()).matches(),
                DeviceProperties::busId);
    }

    @Proves("DEV-008")
    void busAddressesDiffer(Bench bench) {
        Map<String, Integer> seen = new HashMap<>();
        for (DeviceDriver device : bench.driver().devices()) {
            DeviceProperties properties = device.properties();
            Integer other = seen.put(properties.busId(), properties.ordinal());
            bench.that(
                    properties.busId().isEmpty() || other == null,
                    "device " + properties.ordinal() + " to have a bus address of its own",
                    "it has that of device " + other + ": " + properties.busId());
        }
    }

    @Proves("DEV-009")
    void aPlatformDescribesItselfTheSameWay(Bench bench) {
        PlatformDriver driver = bench.driver();
        PlatformProperties first = driver.properties();
        var capabilities = driver.capabilities();
        int devices = driver.topology().devices();
        try (Stream stream = bench.device().createStream()) {
            stream.synchronize();
        }
        bench.equal("the properties, asked for again", first, driver.properties());
        bench.equal("the capabilities, asked for again", capabilities, driver.capabilities());
        bench.equal(
                "the devices of the topology, asked for again",
                devices,
                driver.topology().devices());
    }

    @Proves("DEV-010")
    void copyEnginesAreDeclaredWhereTheyAre(Bench bench) {
        declared(bench, Capability.COPY_ENGINES, "a copy engine", p -> p.copyEngines() > 0);
    }

    @Proves("DEV-011")
    void prioritiesAreDeclaredWhereTheyAre(Bench bench) {
        declared(bench, Capability.STREAM_PRIORITIES, "more than one priority", p -> p.priorities() > 1);
    }

    private static void declared(Bench bench, Capability capability, String what, Predicate<DeviceProperties> has) {
        boolean all =
                bench.driver().devices().stream().map(DeviceDriver::properties).allMatch(has);
        boolean declares = bench.driver().capabilities().contains(capability);
        bench.equal(capability + " declared, as every device " + (all ? "has " : "has not ") + what, all, declares);
    }

    @Proves("DEV-012")
    void aPlatformNamesItsMachineAndVendor(Bench bench) {
        PlatformProperties properties = bench.driver().properties();
        bench.that(!properties.machine().isBlank(), "the machine to have a name", "it is empty");
        bench.that(!properties.vendor().isBlank(), "the vendor to have a name", "it is empty");
    }

    @Proves("DEV-013")
    void versionsHaveValues(Bench bench) {
        bench.driver()
                .properties()
                .versions()
                .forEach((name, value) -> bench.that(
                        !name.isBlank() && !value.isBlank(),
                        "every version to have a name and a value",
                        "there is '" + name + "' with '" + value + "'"));
    }

    @Proves("DEV-014")
    void theClockDoesNotGoBack(Bench bench) {
        Stream stream = bench.stream(bench.device());
        long last = bench.driver().nanoTime();
        for (int i = 0; i < 40; i++) {
            if (i % 10 == 0) {
                stream.synchronize();
            }
            long now = bench.driver().nanoTime();
            bench.that(now >= last, "the clock at " + last + " ns or later", "it is " + now + " ns");
            last = now;
        }
    }

    @Proves("DEV-015")
    void theClockMovesWithWork(Bench bench) {
        Stream stream = bench.stream(bench.device());
        Buffer buffer = bench.buffer(bench.device(), 1 << 16);
        long before = bench.driver().nanoTime();
        for (int i = 0; i < 8; i++) {
            stream.fill(Bench.bytes(buffer), i);
        }
        stream.synchronize();
        long after = bench.driver().nanoTime();
        bench.that(after > before, "the clock after the work later than " + before + " ns", "it is " + after + " ns");
    }

    @Proves("DEV-016")
    void aDeviceIsNotItsOwnPeer(Bench bench) {
        for (DeviceDriver device : bench.driver().devices()) {
            bench.equal(
                    "access of device " + device.properties().ordinal() + " to itself as a peer",
                    false,
                    device.canAccess(device));
        }
    }

    @Proves("DEV-017")
    void accessHasOneDirection(Bench bench) {
        List<DeviceDriver> pair = accessible(bench);
        enable(bench, pair.get(0), pair.get(1));
        bench.refuses(
                "disabling access in the direction that nobody enabled",
                () -> pair.get(1).disablePeerAccess(pair.get(0)),
                ErrorCode.INVALID_STATE);
    }

    @Proves("DEV-018")
    void accessIsEnabledOnce(Bench bench) {
        List<DeviceDriver> pair = accessible(bench);
        enable(bench, pair.get(0), pair.get(1));
        bench.refuses(
                "enabling access again", () -> pair.get(0).enablePeerAccess(pair.get(1)), ErrorCode.INVALID_STATE);
    }

    @Proves("DEV-019")
    void accessThatIsOffCannotBeTurnedOff(Bench bench) {
        List<DeviceDriver> pair = accessible(bench);
        bench.refuses(
                "disabling access that nobody enabled",
                () -> pair.get(0).disablePeerAccess(pair.get(1)),
                ErrorCode.INVALID_STATE);
    }

    @Proves("DEV-020")
    void accessCanBeTakenBackAndGivenAgain(Bench bench) {
        List<DeviceDriver> pair = accessible(bench);
        DeviceDriver device = pair.get(0);
        DeviceDriver peer = pair.get(1);
        bench.step("enabling access");
        device.enablePeerAccess(peer);
        bench.step("disabling access");
        device.disablePeerAccess(peer);
        bench.step("enabling access again");
        device.enablePeerAccess(peer);
        bench.step("disabling access again");
        device.disablePeerAccess(peer);
    }

    @Proves("DEV-021")
    void accessWhereThereIsNoneIsRefused(Bench bench) {
        for (DeviceDriver device : bench.driver().devices()) {
            for (DeviceDriver peer : bench.driver().devices()) {
                if (!device.equals(peer) && !device.canAccess(peer)) {
                    bench.refuses(
                            "access where there is none", () -> device.enablePeerAccess(peer), ErrorCode.PEER_ACCESS);
                    return;
                }
            }
        }
        throw new NotApplicable("every device of the platform can access every other");
    }

    private static List<DeviceDriver> accessible(Bench bench) {
        for (DeviceDriver device : bench.driver().devices()) {
            for (DeviceDriver peer : bench.driver().devices()) {
                if (!device.equals(peer) && device.canAccess(peer) && peer.canAccess(device)) {
                    return List.of(device, peer);
                }
            }
        }
        throw new NotApplicable("the platform has no two devices that can access each other");
    }

    private static void enable(Bench bench, DeviceDriver device, DeviceDriver peer) {
        device.enablePeerAccess(peer);
        bench.atEnd(() -> device.disablePeerAccess(peer));
    }

    @Proves("DEV-022")
    void anyThreadMayUseThePlatform(Bench bench) {
        byte[] data = bench.randomBytes(512);
        bench.together(1, thread -> {
            bench.step("allocating and running a command on another thread");
            Buffer from = bench.upload(bench.device(), data);
            Buffer to = bench.buffer(bench.device(), data.length);
            Stream stream = bench.stream(bench.device());
            stream.copy(Bench.bytes(to), Bench.bytes(from));
            stream.synchronize();
            bench.holds("what the other thread copied", data, to);
        });
    }

    @Proves("DEV-023")
    void memoryNowFitsWhatWasPromised(Bench bench) {
        for (DeviceDriver device : bench.driver().devices()) {
            MemoryInfo now = device.memoryInfo();
            long promised = device.properties().memoryBytes();
            bench.that(
                    now.totalBytes() >= 1 && now.totalBytes() <= promised,
                    "a total of 1 to " + promised + " bytes",
                    "it is " + now.totalBytes());
            bench.that(
                    now.freeBytes() >= 0 && now.freeBytes() <= now.totalBytes(),
                    "0 to " + now.totalBytes() + " bytes free",
                    "it is " + now.freeBytes());
        }
    }

    private static void each(
            Bench bench,
            String what,
            Predicate<DeviceProperties> holds,
            java.util.function.Function<DeviceProperties, Object> value) {
        for (DeviceDriver device : bench.driver().devices()) {
            DeviceProperties properties = device.properties();
            bench.that(
                    holds.test(properties),
                    "device " + properties.ordinal() + " to have " + what,
                    "it has '" + value.apply(properties) + "'");
        }
    }
}
