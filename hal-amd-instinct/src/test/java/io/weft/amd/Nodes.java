// SPDX-License-Identifier: Apache-2.0
package io.weft.amd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.amd.setting.AmdSettings;
import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.api.PlatformUri;
import io.weft.api.numeric.RandomData;
import io.weft.sim.machine.Machine;
import io.weft.sim.provider.MachinePlatform;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.function.Executable;

/** Modelled nodes, and what buffers hold, for the tests of this module. */
public final class Nodes {
    /** Of all data in these tests. */
    public static final long SEED = 6_2026;

    private Nodes() {}

    /** Opens a node; the caller closes it. */
    public static Platform open(String uri) {
        PlatformUri parsed = PlatformUri.parse(uri);
        return new Platform(parsed, new AmdProvider().open(parsed));
    }

    /** Opens a node of the first devices of two shipped machines, joined with one another; the caller closes it. */
    public static Platform mixed(String one, String other) {
        Machine first = AmdMachines.document(one).orElseThrow();
        Machine.Builder builder = Machine.builder("mixed").vendor("AMD");
        builder.device(first.device(0));
        builder.device(AmdMachines.document(other).orElseThrow().device(0));
        builder.link(first.links().getFirst());
        first.collectiveModels().forEach(builder::collective);
        Machine machine = NodeModel.of(builder.build(), AmdSettings.none());
        PlatformUri uri = PlatformUri.parse("amd:mixed");
        return new Platform(uri, new AmdPlatform(MachinePlatform.open(uri, machine), machine, AmdSettings.none()));
    }

    /** A shipped machine under settings, written as options of a URI such as {@code HSA_ENABLE_SDMA=0}; empty for none. */
    public static Machine machine(String name, String options) {
        PlatformUri uri = PlatformUri.parse("amd:" + name + (options.isEmpty() ? "" : "?" + options));
        return NodeModel.of(AmdMachines.document(name).orElseThrow(), AmdSettings.of(uri, variable -> null));
    }

    /** Random bytes of a seeded stream. */
    public static byte[] random(int bytes, long stream) {
        byte[] data = new byte[bytes];
        RandomData.fill(MemorySegment.ofArray(data), ElementType.INT8, SEED, stream);
        return data;
    }

    public static void write(Buffer buffer, byte[] data) {
        buffer.write(0, MemorySegment.ofArray(data));
    }

    public static byte[] read(Buffer buffer, int bytes) {
        byte[] data = new byte[bytes];
        buffer.read(MemorySegment.ofArray(data), 0);
        return data;
    }

    /** Runs what must be refused with a code and some words. */
    public static AcceleratorException refused(ErrorCode code, Executable call, String... words) {
        AcceleratorException refusal = assertThrows(AcceleratorException.class, call);
        assertEquals(code, refusal.code(), refusal::getMessage);
        assertTrue(refusal.getMessage().lines().count() == 1, refusal::getMessage);
        for (String word : words) {
            assertTrue(
                    refusal.getMessage().contains(word), () -> "'" + word + "' is missing in: " + refusal.getMessage());
        }
        return refusal;
    }
}
