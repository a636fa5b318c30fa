// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.graph;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.Platform;
import io.weft.api.PlatformUri;
import io.weft.conformance.mutants.FuzzMutants;
import io.weft.conformance.mutants.Mutant;
import io.weft.conformance.mutants.MutantProvider;
import io.weft.sim.provider.SimProvider;
import io.weft.spi.AcceleratorProvider;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

class GraphFuzzerTest {
    private static final String URI_TEXT = "sim:mesh-8?stall-timeout-ms=250";
    private static final int CASES = 200;
    private static final long SEED = 20_261_129;

    private static Platform open(AcceleratorProvider provider) {
        PlatformUri uri = PlatformUri.parse(URI_TEXT);
        return new Platform(uri, provider.open(uri));
    }

    private static Optional<GraphFuzzer.Finding> fuzz(AcceleratorProvider provider, int cases, long seed) {
        try (Platform platform = open(provider)) {
            return GraphFuzzer.run(platform, URI_TEXT, cases, seed, done -> {});
        }
    }

    private static AcceleratorProvider mutated(Mutant mutant) {
        return new MutantProvider(new SimProvider(), mutant.mutation().get());
    }

    @Test
    void nothingIsFoundOnTheReferenceBackend() {
        fuzz(new SimProvider(), CASES, SEED).ifPresent(finding -> {
            throw new AssertionError("seed " + finding.seed() + ": " + finding.difference() + "\n" + finding.test());
        });
    }

    @TestFactory
    Stream<DynamicTest> everyFaultIsFoundAndMadeSmall() {
        return FuzzMutants.all().stream()
                .map(mutant -> DynamicTest.dynamicTest(mutant.what(), () -> {
                    GraphFuzzer.Finding finding =
                            fuzz(mutated(mutant), CASES, SEED).orElseThrow(() -> new AssertionError("nothing found"));
                    assertTrue(
                            finding.smallest().size() <= Math.min(4, finding.nodesDrawn()),
                            () -> finding.smallest().size() + " nodes are left of " + finding.nodesDrawn() + ":\n"
                                    + finding.test());
                }));
    }

    @Test
    void theSameSeedFindsTheSame() {
        Mutant mutant = FuzzMutants.all().getFirst();
        GraphFuzzer.Finding first = fuzz(mutated(mutant), CASES, SEED).orElseThrow();
        assertEquals(
                first.test(), fuzz(mutated(mutant), CASES, SEED).orElseThrow().test());
        GraphFuzzer.Finding again = fuzz(mutated(mutant), 1, first.seed()).orElseThrow();
        assertEquals(0, again.number());
        assertEquals(first.test(), again.test(), "the finding's own seed draws it again, as the first");
    }

    @Test
    void thePrintedTestCompilesAndFailsOnTheSameMutantOnly(@TempDir Path classes) throws Exception {
        for (Mutant mutant : List.of(
                FuzzMutants.all().getFirst(),
                FuzzMutants.all().get(2),
                FuzzMutants.all().get(8),
                FuzzMutants.all().getLast())) {
            GraphFuzzer.Finding finding = fuzz(mutated(mutant), CASES, SEED).orElseThrow();
            Method check = compiled(finding.test(), Files.createTempDirectory(classes, "test"));
            try (Platform broken = open(mutated(mutant));
                    Platform right = open(new SimProvider())) {
                InvocationTargetException failure =
                        assertThrows(InvocationTargetException.class, () -> check.invoke(null, broken));
                assertInstanceOf(AssertionError.class, failure.getCause());
                assertEquals(finding.difference(), failure.getCause().getMessage());
                assertDoesNotThrow(() -> check.invoke(null, right));
            }
        }
    }

    /** Compiles a printed test and gives its check. */
    private static Method compiled(String text, Path classes) throws Exception {
        Path source = classes.resolve("SmallestFailingGraphTest.java");
        Files.writeString(source, text);
        StringWriter said = new StringWriter();
        PrintWriter out = new PrintWriter(said);
        int result = ToolProvider.findFirst("javac")
                .orElseThrow()
                .run(
                        out,
                        out,
                        "-proc:none",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-d",
                        classes.toString(),
                        source.toString());
        assertEquals(0, result, () -> said + "\n" + text);
        URLClassLoader loader =
                new URLClassLoader(new URL[] {classes.toUri().toURL()}, GraphFuzzerTest.class.getClassLoader());
        Method check = loader.loadClass("SmallestFailingGraphTest").getDeclaredMethod("check", Platform.class);
        check.setAccessible(true);
        return check;
    }
}
