// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.Buffer;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Reported bugs of other pools, put into copies of this one: the scenario of the report holds for the pool and fails for the copy, so a pool that had the bug would
 * not pass. A copy is one source file with a few words changed, compiled and loaded beside the real one.
 */
class SeededBugTest {
    private static final Path SOURCES = Path.of("src/main/java/io/weft/memory");

    /**
     * One bug.
     *
     * @param report where it was reported
     * @param scenario what shows it
     * @param file the file it is put into
     * @param words what is changed, each followed by what it becomes
     */
    record Bug(String report, PoolScenarios scenario, String file, List<String> words) {
        static Bug of(String report, PoolScenarios scenario, String file, String... words) {
            return new Bug(report, scenario, file, List.of(words));
        }

        @Override
        public String toString() {
            return scenario + " (" + report + ")";
        }
    }

    static Stream<Bug> bugs() {
        return Stream.of(
                Bug.of(
                        "https://github.com/rapidsai/rmm/issues/2039",
                        PoolScenarios.MEMORY_THAT_ONE_STREAM_HAS_PASSED_SERVES_ANOTHER,
                        "Arena",
                        "return owner != 0 && marks.isPassed(owner - 1, blocks.mark(block)) ? 0 : owner;",
                        "return owner;"),
                Bug.of(
                        "https://github.com/rapidsai/rmm/issues/1245, https://github.com/pytorch/pytorch/issues/110194,"
                                + " https://github.com/NVIDIA/cudf-spark/issues/4045",
                        PoolScenarios.SCATTERED_FREE_MEMORY_SERVES_ONE_LARGE_REQUEST,
                        "Arena",
                        "if (excess > 0) {\n            movePages(Math.min(excess",
                        "if (excess == Long.MAX_VALUE) {\n            movePages(Math.min(excess",
                        "// From the end, so that holes do not come between blocks that are still used.",
                        "if (target >= 0) {\nreturn;\n}"),
                Bug.of(
                        "https://github.com/rapidsai/rmm/issues/75, https://github.com/rapidsai/rmm/issues/1421",
                        PoolScenarios.PIECES_FREED_SIDE_BY_SIDE_JOIN,
                        "Arena",
                        "if (blocks.state(left) != Blocks.FREE || blocks.state(right) != Blocks.FREE) {",
                        "if (left != right) {"),
                Bug.of(
                        "https://github.com/pytorch/pytorch/issues/35901, https://github.com/netty/netty/issues/16827",
                        PoolScenarios.SMALL_LONG_LIVED_BLOCKS_LEAVE_LARGE_HOLES,
                        "PoolCore",
                        "        int block = arena.takeForSpan(granules, stream, false);",
                        "        if (granules > 0) {\nreturn obtain(granules, stream, stripe);\n}\n"
                                + "int block = arena.takeForSpan(granules, stream, false);"),
                Bug.of(
                        "https://github.com/pytorch/pytorch/issues/152135",
                        PoolScenarios.DRIFTING_ITERATIONS_DO_NOT_FRAGMENT,
                        "PoolCore",
                        "if (flushSpans(stripe)) {",
                        "if (granules < 0) {",
                        "if (stripe.spanBytes >= stripe.flushAt) {",
                        "if (stripe.spanBytes < 0) {"),
                Bug.of(
                        "https://github.com/llnl/Umpire/issues/906",
                        PoolScenarios.ODD_SIZES_ARE_SERVED_AGAIN_FROM_THE_SAME_MEMORY,
                        "FreeBins",
                        "int find(int length) {",
                        "int find(int exact) {\nint length = exact + 1;"),
                Bug.of(
                        "https://github.com/NVIDIA/cccl/issues/878",
                        PoolScenarios.A_BUSY_STREAMS_MEMORY_IS_NOT_GIVEN_TO_ANOTHER,
                        "StreamTable",
                        "return known != null ? known : add(stream);",
                        "return (known != null ? known : add(stream)) * 0;"),
                Bug.of(
                        "https://github.com/rapidsai/rmm/issues/649",
                        PoolScenarios.A_BUSY_STREAMS_MEMORY_IS_NOT_GIVEN_TO_ANOTHER,
                        "StreamTable",
                        "if (old.isClosed()) {",
                        "if (old != stream) {",
                        "                device.synchronize();\n                numbers",
                        "                numbers"),
                Bug.of(
                        "https://github.com/meta-pytorch/torchrec/pull/4231",
                        PoolScenarios.A_USE_ON_ANOTHER_STREAM_HOLDS_MEMORY,
                        "PoolCore",
                        "if (stream != span.stream) {",
                        "if (stream < 0) {"),
                Bug.of(
                        "https://github.com/NVIDIA/cuCascade/pull/189",
                        PoolScenarios.POOLS_OF_TWO_DEVICES_SHARE_NO_EVENT,
                        "StreamTable",
                        "private final ArrayDeque<Event> spare",
                        "private static final ArrayDeque<Event> spare"),
                Bug.of(
                        "https://github.com/pytorch/pytorch/pull/66941, https://github.com/NVIDIA/cuml/issues/2632",
                        PoolScenarios.CLOSED_STREAMS_ARE_FORGOTTEN,
                        "StreamTable",
                        "if (old.isClosed()) {",
                        "if (old == stream) {"),
                Bug.of(
                        "https://github.com/pytorch/pytorch/issues/189504, https://github.com/NVIDIA/cudf-spark/issues/6768",
                        PoolScenarios.BUSY_MEMORY_IS_WAITED_FOR_BEFORE_A_REQUEST_IS_REFUSED,
                        "PoolCore",
                        "int block = arena.takeForeign(granules, stream);",
                        "int block = 0;",
                        "        arena.marks.synchronize();\n        poll(stripe);\n        arena.sweep();\n        block",
                        "        block"),
                Bug.of(
                        "https://github.com/NVIDIA/cudf-spark/issues/13672",
                        PoolScenarios.SMALL_REQUESTS_ARE_RETRIED_AS_LARGE_ONES_ARE,
                        "PoolCore",
                        "return block != 0 ? block : obtain(granules, stream, stripe);",
                        "return block;"),
                Bug.of(
                        "https://github.com/rapidsai/rmm/issues/1664",
                        PoolScenarios.A_POOL_AT_ITS_LIMIT_FROM_THE_START_SERVES_TWO_HALVES,
                        "PoolCore",
                        "long granules = ((bytes - 1) >> SHIFT) + 1;",
                        "long granules = ((bytes - 1) >> SHIFT) + 2;"),
                Bug.of(
                        "https://github.com/rapidsai/rmm/issues/1306, https://github.com/rapidsai/rmm/pull/1375",
                        PoolScenarios.EVENTS_ARE_HANDED_BACK_AT_CLOSE,
                        "StreamTable",
                        "spare.forEach(Event::close);",
                        ""),
                Bug.of(
                        "https://github.com/apache/arrow-java/issues/950",
                        PoolScenarios.CLOSING_HANDS_EVERY_BYTE_BACK,
                        "DevicePool",
                        "        streams.close();\n        source.close();",
                        "        streams.close();"),
                Bug.of(
                        "https://github.com/netty/netty/issues/15850, https://github.com/netty/netty/pull/14298",
                        PoolScenarios.TRIMMING_HANDS_EMPTY_SPANS_BACK,
                        "PoolCore",
                        "arena.dissolveAll();\n                flushSpans(stripe);",
                        "arena.dissolveAll();"),
                Bug.of(
                        "https://github.com/microsoft/mimalloc/issues/1117, https://github.com/microsoft/mimalloc/issues/1364",
                        PoolScenarios.BLOCKS_FREED_BY_ANOTHER_THREAD_COME_BACK,
                        "PoolCore",
                        "                chunk[at] = 0;\n",
                        "                chunk[at] = 0;\nif (stripe != stripe()) {\nstripe.unlock();\nreturn;\n}\n"),
                Bug.of(
                        "https://github.com/pytorch/pytorch/issues/146431",
                        PoolScenarios.A_FOREIGN_BUFFER_IS_REFUSED,
                        "DevicePool",
                        "if (block.pool == this) {",
                        "if (block.pool != null) {"),
                Bug.of(
                        "https://github.com/matrixorigin/matrixone/pull/9812",
                        PoolScenarios.A_DOUBLE_FREE_IS_NAMED,
                        "PoolCore",
                        "int asked = -chunk[at];",
                        "int asked = Math.max(1, -chunk[at]);"),
                Bug.of(
                        "https://github.com/llnl/Umpire/issues/846, https://github.com/llnl/Umpire/pull/539",
                        PoolScenarios.BYTES_ADD_UP_TO_NOTHING_AT_THE_END,
                        "PoolCore",
                        "                stripe.live -= asked;\n                chunk[at] = 0;",
                        "                stripe.live -= classes.size(sizeClass);\n                chunk[at] = 0;"),
                Bug.of(
                        "https://github.com/rapidsai/rmm/issues/2002",
                        PoolScenarios.AN_ALIGNMENT_THAT_CANNOT_BE_KEPT_IS_REFUSED,
                        "PoolOptions",
                        "if (alignment < 128 || alignment > 16384 || Long.bitCount(alignment) != 1) {",
                        "if (alignment < 1) {"),
                Bug.of(
                        "https://github.com/rapidsai/rmm/issues/2116, https://github.com/rapidsai/rmm/issues/2342",
                        PoolScenarios.EVERY_ADDRESS_IS_ALIGNED_AS_ASKED,
                        "PoolCore",
                        "this.classes = new SizeClasses(options.alignment());",
                        "this.classes = new SizeClasses(128);"),
                Bug.of(
                        "https://github.com/NVIDIA/cudf/issues/10384",
                        PoolScenarios.THE_LIMIT_COUNTS_WHAT_THE_DEVICE_HANDS_OUT,
                        "Arena",
                        "        reserved += (long) granules << SHIFT;\n        peakReserved",
                        "        reserved += ((long) granules << SHIFT) / 2;\n        peakReserved"),
                Bug.of(
                        "https://github.com/NVIDIA/nvshmem/issues/40",
                        PoolScenarios.A_REFUSAL_LEAVES_NOTHING_BEHIND,
                        "Arena",
                        "if (wish == need || !source.obtain((long) top << SHIFT, (long) need << SHIFT)) {\n                    settle",
                        "if (wish == need || !source.obtain((long) top << SHIFT, (long) need << SHIFT)) {\n"
                                + "                    count(need);\n                    settle"),
                Bug.of(
                        "https://github.com/NVIDIA/cuDecomp/pull/111",
                        PoolScenarios.A_SYMMETRIC_HEAPS_PIECES_JOIN,
                        "OffsetAllocator",
                        "Long after = free.remove(end);",
                        "Long after = null;"));
    }

    @ParameterizedTest
    @EnumSource
    void thePoolBehaves(PoolScenarios scenario) {
        assertDoesNotThrow(scenario::run);
    }

    @ParameterizedTest
    @MethodSource("bugs")
    void aCopyWithTheReportedBugIsFound(Bug bug, @TempDir Path folder) throws Exception {
        String source = Files.readString(SOURCES.resolve(bug.file() + ".java"));
        for (int i = 0; i < bug.words().size(); i += 2) {
            String words = bug.words().get(i);
            int at = source.indexOf(words);
            assertTrue(at >= 0 && source.indexOf(words, at + 1) < 0, "not there once: " + words);
            source = source.replace(words, bug.words().get(i + 1));
        }
        Path changed = folder.resolve(bug.file() + ".java");
        Files.writeString(changed, source);
        compile(changed, folder);
        try (URLClassLoader copy = new Copy(folder)) {
            Runnable scenario = Stream.of(
                            copy.loadClass(PoolScenarios.class.getName()).getEnumConstants())
                    .filter(constant ->
                            constant.toString().equals(bug.scenario().toString()))
                    .map(Runnable.class::cast)
                    .findFirst()
                    .orElseThrow();
            assertEquals(copy, scenario.getClass().getClassLoader(), "the copy is not the one that runs");
            Throwable found = assertThrows(Throwable.class, scenario::run, "the scenario does not notice the bug");
            assertFalse(found instanceof LinkageError, () -> "the copy does not run: " + found);
        }
    }

    private static Path classes(Class<?> type) {
        return Path.of(URI.create(
                type.getProtectionDomain().getCodeSource().getLocation().toString()));
    }

    /** Tests are patched into the module, so the module's place is not theirs. */
    private static URL tests() throws IOException {
        String scenarios =
                PoolScenarios.class.getResource("PoolScenarios.class").toString();
        return URI.create(scenarios.substring(0, scenarios.lastIndexOf("io/weft/memory/")))
                .toURL();
    }

    private static void compile(Path source, Path into) {
        StringWriter messages = new StringWriter();
        PrintWriter out = new PrintWriter(messages);
        int code = ToolProvider.findFirst("javac")
                .orElseThrow()
                .run(
                        out,
                        out,
                        "-proc:none",
                        "-nowarn",
                        "-d",
                        into.toString(),
                        "-cp",
                        classes(PoolCore.class) + File.pathSeparator + classes(Buffer.class),
                        source.toString());
        assertEquals(0, code, messages::toString);
    }

    /** Loads the pool's classes itself, the changed ones first, and leaves everything else to the usual loader. */
    private static final class Copy extends URLClassLoader {
        Copy(Path changed) throws IOException {
            super(
                    new URL[] {
                        changed.toUri().toURL(), classes(PoolCore.class).toUri().toURL(), tests()
                    },
                    SeededBugTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("io.weft.memory.")) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded != null ? loaded : findClass(name);
            }
        }
    }
}
