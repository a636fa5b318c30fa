// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Unusable input gets one line that names what is wrong and what would be accepted, exit code 2, and nothing on standard output. */
class BadInputTest {
    private static final String PLAN = "plan --on sim:mesh-8 --model llama-3-8b --tokens 1024 --tp 8";
    private static final String RUN = "run --on sim:mesh-8 --pattern all-gather-gemm --m 64 --n 8 --k 8";

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "plan --on sim:mesh-8 --model no/such/config.json --tokens 1|no/such/config.json",
                "plan --on sim:mesh-8 --model llama-9-9b --tokens 1|did you mean",
                "plan --on sim:mesh-8 --tokens 1|--model",
                "plan --on sim:mesh-9 --model llama-3-8b --tokens 1|mesh-8",
                "plan --on simulator:mesh-8 --model llama-3-8b --tokens 1|sim:mesh-8",
                "plan --on mesh-8 --model llama-3-8b --tokens 1|provider:target",
                "plan --on sim:mesh-8?mood=fast --model llama-3-8b --tokens 1|mood",
                "plan --on sim:mesh-8?mode=fast --model llama-3-8b --tokens 1|timing",
                "plan --on sim:file=no/such/machine.yaml --model llama-3-8b --tokens 1|no/such/machine.yaml",
            })
    void whatDoesNotExistIsNamedWithWhatDoes(String line, String word) {
        unusable(line, word);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "bench overlap --on sim:switch-8 --shape 1,2|M,N,K",
                "bench overlap --on sim:switch-8 --shapes no/such/shapes.txt|does not exist",
                "bench overlap --on sim:switch-8 --shape 64,64,64 --pattern gather|all-gather-gemm",
                "bench overlap --on sim:switch-8 --shape 64,64,64 --schedule fast|cover-merge",
                "bench overlap --on sim:switch-8 --shape 64,64,64 --select best|measured",
                "bench overlap --on sim:switch-8 --shape 64,64,64 --repetitions 0|1 or more",
                "bench overlap --on sim:switch-8 --shape 64,64,64 --ranks 9|9 ranks",
                "bench overlap --on sim:switch-8 --shape 64,64,64 --peer no/such/peer.json|does not exist",
                "bench predict --on sim:switch-8 --results no/such/results.json|does not exist",
                "calibrate --on sim:switch-8|mode=timing",
                "calibrate --on sim:switch-8?mode=timing --start no/such/machine.yaml|does not exist",
                "calibrate --on sim:switch-8?mode=timing --repetitions 0|1 or more",
                "calibrate --on sim:switch-8?mode=timing --times no/such/machine.yaml|does not exist",
                "calibrate --on sim:switch-8?mode=timing --shape 1,2,3|--schedules",
                "bench predict --on sim:switch-8 --results no/such/results.json --except 1,2|M,N,K",
                "run --on sim:switch-8 --pattern all-gather-gemm --m 8 --n 8 --k 8 --ranks 2 --select best|measured",
            })
    void whatCannotBeTimedOrFittedIsNamedWithWhatCan(String line, String word) {
        unusable(line, word);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--tokens 0|tokens",
                "--tokens -5|-5",
                "--tokens many|many",
                "--tokens 99999999999999999999|--tokens",
                "--tp 3|1, 2, 4, 8",
                "--tp 0|tensor parallel 0",
                "--tp 16|16",
                "--ep 2|no experts",
                "--dtype fp7|bf16",
                "--dtype int32|int32",
                "--select best|heuristic",
                "--skew -1|skew",
                "--jsn|--json",
                "-D plan.selekt=model|plan.select",
                "-D plan.select=best|heuristic",
                "-D plan.threads=-1|plan.threads",
            })
    void aPlanOptionThatMakesNoSenseIsRefused(String options, String word) {
        List<String> arguments = new ArrayList<>(List.of(PLAN.split(" ", -1)));
        String name = options.split(" ", -1)[0];
        int given = arguments.indexOf(name);
        if (given >= 0 && !name.equals("-D")) {
            arguments.subList(given, given + 2).clear();
        }
        arguments.addAll(List.of(options.split(" ", -1)));
        unusable(String.join(" ", arguments), word);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--m 0|M 0",
                "--n -1|-1",
                "--m 9223372036854775807|2^62",
                "--m 100000000000 --n 100000 --k 8|memory",
                "--ranks 0|ranks",
                "--ranks 9|8",
                "--pattern all-gather|all-gather-gemm",
                "--schedule fastest|hetero-fused-1d",
                "--schedule hetero-fused-1d/chunk=2|chunk",
                "--chunks 0|chunks",
                "--skew 0.5|skew",
                "--on sim:mesh-8?mode=timing --verify|data",
            })
    void aRunOptionThatMakesNoSenseIsRefused(String options, String word) {
        List<String> arguments = new ArrayList<>(List.of(RUN.split(" ", -1)));
        String[] more = options.split(" ", -1);
        for (String option : more) {
            int given = arguments.indexOf(option);
            if (option.startsWith("--") && given >= 0) {
                arguments.subList(given, given + 2).clear();
            }
        }
        arguments.addAll(List.of(more));
        unusable(String.join(" ", arguments), word);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--op all_scatter|reduce_scatter",
                "--ranks 0|1 to 8",
                "--ranks 9|1 to 8",
                "--ranks x|'x'",
                "--ranks 1 --op sendrecv|2 ranks",
                "-b 0|-b",
                "-b 16 -e 8|-b",
                "-b -5|-5",
                "-e 8Q|powers of 1024",
                "-e 99999999999999999999|powers of 1024",
                "-e 9999999T|2^60",
                "-e 64T|smaller -e",
                "-f 1|2 or more",
                "-f 2 -i 8|exclude",
                "-i 0|1 or more",
                "-i 1|100000",
                "-d float7|bf16",
                "-o xor|mulsum",
                "-r 8|0 to 7",
                "-n 0|1 or more",
                "-w -1|0 or more",
                "-c 2|0 nor 1",
                "--on sim:mesh-9|mesh-8",
            })
    void aBenchOptionThatMakesNoSenseIsRefused(String options, String word) {
        String on = options.startsWith("--on") ? "" : "--on sim:mesh-8 ";
        unusable("bench collectives " + on + options, word);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--on , --tp 4|empty",
                "--on sim:ring-4 --tp 4 --model ,|empty",
                "--on sim:ring-4 --tp 4 --tokens ,|empty",
                "--on sim:ring-4 --tp ,|empty",
                "--on sim:mesh-9 --tp 4|mesh-8",
                "--on sim:ring-4 --tp 8|needs 8 devices",
                "--on sim:ring-4 --tp 0,-1|none of the 2 points",
                "--on sim:ring-4 --tp four|four",
                "--on sim:ring-4 --tp 4 --model llama-9|neither a known model",
                "--on sim:ring-4 --tp 4 --tokens 1,x|'x'",
                "--on sim:ring-4 --tp 4 --dtype fp7|bf16",
                "--on sim:ring-4 --tp 4 --select best|heuristic",
                "--on sim:ring-4 --tp 4 --out sweep.txt|.csv or .json",
                "--on sim:ring-4 --tp 4 --out no/such/folder/sweep.csv|folder does not exist",
                "--on sim:ring-4|--tp",
            })
    void aSweepOptionThatMakesNoSenseIsRefused(String options, String word) {
        String model = options.contains("--model") ? "" : " --model llama-3-8b";
        String tokens = options.contains("--tokens") ? "" : " --tokens 1024";
        unusable("sweep" + model + tokens + " " + options, word);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "``|trace.csv:1: the file is empty",
                "hello~|trace.csv:1: unknown first line 'hello'",
                "op,id,bytes,stream,t_us~|allocates nothing",
                "op,id,bytes,stream,t_us~a,1,1024,0~|trace.csv:2: expected 5 columns, found 4",
                "op,id,bytes,stream,t_us~a,1,1024,0,5~a,2,99999999999999999999,0,6|trace.csv:3: bytes",
                "op,id,bytes,stream,t_us~a,1,-1,0,5~|trace.csv:2: bytes -1",
                "op,id,bytes,stream,t_us~grow,1,1,0,5~|trace.csv:2: unknown op 'grow'",
                "id,lower,upper,size~0,5,5,1~|trace.csv:2: block 0 ends at 5",
                "weft-pool-recording,7~|trace.csv:1: unknown first line",
            })
    void aTraceThatCannotBeReadIsNamedWithItsLine(String content, String word) throws IOException {
        Path file = Files.writeString(folder.resolve("trace.csv"), content.replace('~', '\n'));
        unusable("pool replay " + file, word);
    }

    @Test
    void aTraceThatIsCutOffBinaryMissingOrAFolderIsNamed() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
            gzip.write("op,id,bytes\n".getBytes(StandardCharsets.UTF_8));
            for (int i = 0; i < 9000; i++) {
                gzip.write(("a," + i + "," + (i * 7919L % 100_003) + "\n").getBytes(StandardCharsets.UTF_8));
            }
        }
        byte[] whole = bytes.toByteArray();
        Path cut = Files.write(folder.resolve("cut.csv.gz"), Arrays.copyOf(whole, whole.length / 2));
        unusable("pool replay " + cut, "cut off or damaged");
        Path binary = Files.write(folder.resolve("binary.csv"), new byte[] {(byte) 0xFF, (byte) 0xFE, 0, 1, 2});
        unusable("pool replay " + binary, "binary.csv: this is neither text nor a pickle");
        unusable("pool replay " + folder.resolve("none.csv"), "does not exist");
        unusable("pool replay " + folder, "folder");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--pool arena|weft, caching, bestfit",
                "--pool ,|no pool is named; accepted are weft, caching, bestfit",
                "--limit 0|1 or more",
                "--limit much|powers of 1024",
                "--passes 2|3 to",
                "--device gpu7|gpu7",
                "--on sim:mesh-8|is a model",
                "--on nothing:here|nothing",
                "--html no/such/folder/page.html|folder does not exist",
            })
    void aReplayOptionThatMakesNoSenseIsRefused(String options, String word) throws IOException {
        Path file = Files.writeString(folder.resolve("t.csv"), "op,id,bytes,dev\na,1,5,cuda0\n");
        unusable("pool replay " + file + " " + options, word);
    }

    @ParameterizedTest
    @ValueSource(strings = {"op,id,bytes~a,1,5", "id,lower,upper,size~0,1,2,3"})
    void aDeviceOfATraceThatNamesNoneIsRefused(String content) throws IOException {
        Path file = Files.writeString(folder.resolve("t.csv"), content.replace('~', '\n'));
        unusable("pool replay " + file + " --device 1", "names no devices; leave --device out");
    }

    @Test
    void aNameThatNoFileCanHaveIsRefusedInWords() {
        Invocation call = Invocation.of("pool", "replay", "a\0b");
        assertEquals(2, call.code());
        assertTrue(call.err().contains("'a?b' cannot name a file here: Nul character"), call.err());
    }

    @Test
    void anEmptyNameIsNoFolder() throws IOException {
        Path file = Files.writeString(folder.resolve("t.csv"), "op,id,bytes\na,1,5\n");
        assertTrue(Invocation.of("pool", "replay", "").err().contains("'': this names no file"));
        assertTrue(Invocation.of("pool", "replay", file.toString(), "--passes", "3", "--html", "")
                .err()
                .contains("write: '' names no file"));
    }

    @Test
    void aReplayWithoutAFileIsRefused() {
        unusable("pool replay", "FILE");
    }

    @Test
    void aBenchmarkThatDoesNotExistSuggestsOne() {
        unusable("bench collective --on sim:mesh-8", "collectives");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"model_type\": \"llama\", \"hidden_size\": 40|config.json:1:",
                "{\"model_type\": \"llama\", \"hidden_size\": \"big\"}|hidden_size",
                "{\"model_type\": \"llama\", \"hidden_size\": -4096}|hidden_size",
                "[1, 2]|object",
                "{\"model_type\": \"sundial\"}|hidden_size",
                "{}|hidden_size",
                "not json at all|config.json:1:1",
            })
    void aModelFileThatCannotBeUsedIsNamedWithThePlace(String content, String word) throws IOException {
        Path file = Files.writeString(folder.resolve("config.json"), content);
        String line = "plan --on sim:mesh-8 --tokens 1024 --model " + file;
        unusable(line, word);
        unusable(line, "config.json");
    }

    @Test
    void emptyBinaryAndUnreadableModelFilesAreRefused() throws IOException {
        Path empty = Files.writeString(folder.resolve("empty.json"), "");
        unusable("plan --on sim:mesh-8 --tokens 1 --model " + empty, "empty.json");
        Path binary = Files.write(folder.resolve("binary.json"), new byte[] {(byte) 0xFF, (byte) 0xFE, 0, 1, 2});
        unusable("plan --on sim:mesh-8 --tokens 1 --model " + binary, "binary.json");
        unusable("plan --on sim:mesh-8 --tokens 1 --model " + folder, "directory");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "machine: [",
                "machine: x\nplugin: y\n",
                "",
                "- 1\n- 2\n",
                "machine: x\ndevices:\n  - count: -1\n",
                "machine: x\ndevices: 7\n"
            })
    void aBrokenMachineDocumentIsNamedWithThePlace(String content) throws IOException {
        Path file = Files.writeString(folder.resolve("machine.yaml"), content);
        unusable("topo --on sim:file=" + file, "machine.yaml");
    }

    /** Nothing to do is not done in silence. */
    @Test
    void anEmptyShapesFileIsRefused() throws IOException {
        Path file = Files.writeString(folder.resolve("shapes.txt"), "# only a comment\n\n");
        unusable("bench overlap --on sim:switch-8 --shapes " + file, "shapes.txt holds no shape");
        Path other = Files.writeString(folder.resolve("other.txt"), "gemm-all-reduce 64,64,64\n");
        unusable(
                "bench overlap --on sim:switch-8 --pattern all-gather-gemm --shapes " + other,
                "no shape is meant for the pattern all-gather-gemm");
    }

    @Test
    void aMachineDocumentThatIsADirectoryOrBinaryIsRefused() throws IOException {
        unusable("topo --on sim:file=" + folder, "directory");
        Path binary = Files.write(folder.resolve("m.yaml"), new byte[] {(byte) 0xFF, (byte) 0xFE, 0, 1, 2});
        unusable("topo --on sim:file=" + binary, "m.yaml");
    }

    @Test
    void anOutputFileThatCannotBeWrittenIsNamed() {
        unusable(PLAN + " --html " + folder, "directory");
        unusable(PLAN + " --trace " + folder.resolve("none/trace.json"), "trace.json");
        unusable("topo --on sim:ring-4 --dot " + folder, "directory");
    }

    @Test
    void aFullDiskIsNamed() {
        assumeTrue(Files.exists(Path.of("/dev/full")), "this system has no /dev/full");
        unusable(PLAN + " --html /dev/full", "/dev/full");
        unusable("topo --on sim:ring-4 --svg /dev/full", "/dev/full");
    }

    @Test
    void aSettingsFileIsCheckedLineByLine() throws IOException {
        Path file = Files.writeString(folder.resolve("weft.properties"), "plan.select = model\nplan.thread = 2\n");
        System.setProperty("weft.settings.system", file.toString());
        try {
            unusable("config", "weft.properties:2");
            unusable("config", "plan.threads");
        } finally {
            System.clearProperty("weft.settings.system");
        }
    }

    @Test
    void aBrokenPluginLeavesEverythingElseWorkingAndShowsItsCause() throws IOException {
        Path plugins = Files.createDirectory(folder.resolve("plugins"));
        Files.writeString(plugins.resolve("broken.jar"), "this is no jar", StandardCharsets.UTF_8);
        Invocation backends = Invocation.of("backends", "-D", "plugins.path=" + plugins);
        assertEquals(0, backends.code(), backends.err());
        assertTrue(
                backends.out().lines().anyMatch(line -> line.contains("broken.jar") && line.contains("FAILED")),
                backends.out());
        assertTrue(
                backends.out().lines().anyMatch(line -> line.startsWith("sim ") && line.contains("LOADED")),
                backends.out());
        assertEquals(
                0,
                Invocation.of("topo", "--on", "sim:ring-4", "-D", "plugins.path=" + plugins)
                        .code());
    }

    @Test
    void aDeniedBackendSaysSo() {
        unusable("topo --on sim:ring-4 -D providers.deny=sim", "DISABLED");
    }

    private static void unusable(String line, String word) {
        Invocation call = Invocation.of(line.split(" ", -1));
        assertEquals(2, call.code(), line + "\n" + call.err() + call.out());
        assertEquals(1, call.err().strip().lines().count(), call.err());
        assertTrue(call.err().contains(word), () -> line + "\nshould name '" + word + "': " + call.err());
        assertFalse(call.err().contains("internal error"), call.err());
        assertEquals("", call.out());
    }
}
