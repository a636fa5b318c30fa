// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.graph;

import io.weft.api.BufferView;
import io.weft.api.ElementType;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.conformance.reference.Codec;
import io.weft.conformance.reference.SlotMemory;
import java.util.Arrays;

/** What the slots of a generated graph hold before it runs: small whole numbers, none of them zero, a pure function of a seed. */
final class GraphContent {
    private static final int LARGEST = 4;

    private GraphContent() {}

    /** The element type in which each slot is used; int8 where none is. */
    static ElementType[] types(CommandGraph graph) {
        ElementType[] types = new ElementType[graph.slots().size()];
        Arrays.fill(types, ElementType.INT8);
        boolean[] known = new boolean[types.length];
        for (int node = 0; node < graph.size(); node++) {
            Command command = graph.command(node);
            for (BufferView view : command.reads()) {
                note(view, types, known);
            }
            for (BufferView view : command.writes()) {
                note(view, types, known);
            }
        }
        return types;
    }

    private static void note(BufferView view, ElementType[] types, boolean[] known) {
        int slot = ((Slot) view.memory()).index();
        if (!known[slot]) {
            known[slot] = true;
            types[slot] = view.type();
        }
    }

    /** The bytes of every slot. */
    static byte[][] of(CommandGraph graph, long seed) {
        ElementType[] types = types(graph);
        byte[][] content = new byte[types.length][];
        for (Slot slot : graph.slots()) {
            ElementType type = types[slot.index()];
            content[slot.index()] = new byte[Math.toIntExact(slot.bytes())];
            Codec codec = Codec.of(type);
            for (int i = 0; i < slot.bytes() / type.bytes(); i++) {
                // By name, so that a slot keeps its content when others are left out.
                long hash = mix(mix(seed + 0x9E3779B97F4A7C15L * slot.name().hashCode()) + i);
                int size = 1 + (int) Long.remainderUnsigned(hash >>> 8, LARGEST);
                SlotMemory.put(
                        content[slot.index()], i * type.bytes(), type, codec.encode((hash & 1) == 0 ? size : -size));
            }
        }
        return content;
    }

    // Finaliser of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
    private static long mix(long z) {
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }
}
