// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

import io.weft.api.Finding;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Collects in what two sources differ, so that 56 pairs with one cause are one finding and not 56. */
final class Contradictions {
    private static final int EXAMPLES = 3;

    private record Key(Finding.Severity severity, String what, String first, String second) {}

    private final Map<Key, List<String>> found = new LinkedHashMap<>();

    /**
     * Notes one.
     *
     * @param what such as {@code width}
     * @param first the source whose word is taken
     * @param second the other source
     * @param example both values with the pair or GPU
     */
    void add(Finding.Severity severity, String what, String first, String second, String example) {
        found.computeIfAbsent(new Key(severity, what, first, second), key -> new ArrayList<>())
                .add(example);
    }

    List<Finding> findings() {
        List<Finding> findings = new ArrayList<>();
        found.forEach((key, examples) -> {
            String more = examples.size() > EXAMPLES ? "; and " + (examples.size() - EXAMPLES) + " more" : "";
            findings.add(new Finding(
                    key.severity(),
                    "sources-contradict",
                    key.first() + " and " + key.second() + " differ in " + key.what() + ": "
                            + String.join("; ", examples.subList(0, Math.min(EXAMPLES, examples.size()))) + more,
                    "One of them is of another machine, another time, or wrong; " + key.first()
                            + " is believed here, nothing is averaged.",
                    "",
                    "Capture all files at one time on one machine; if they still differ, trust the kernel driver's "
                            + "tree (--kfd)."));
        });
        return findings;
    }
}
