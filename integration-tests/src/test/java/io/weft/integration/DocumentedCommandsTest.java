// SPDX-License-Identifier: Apache-2.0
package io.weft.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Every {@code $ ./weft} line in a {@code sh} block of the README and of docs/ runs against the image, ends well, and
 * prints what the document shows below it. A command shown without output may print anything. The commands of one
 * document run in order in one folder, so that a later one finds the files of an earlier one; {@code docs} is there.
 */
class DocumentedCommandsTest {

    @TestFactory
    List<DynamicTest> aCommandThatADocumentShowsWorksAsShown() throws IOException {
        List<Path> documents = new ArrayList<>(List.of(Checkout.root().resolve("README.md")));
        Path docs = Checkout.root().resolve("docs");
        if (Files.isDirectory(docs)) {
            try (Stream<Path> files = Files.walk(docs)) {
                files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(documents::add);
            }
        }
        List<DynamicTest> tests = new ArrayList<>();
        for (Path document : documents) {
            String name = Checkout.root().relativize(document).toString();
            Path folder = Checkout.scratch("documents").resolve(name.replace('/', '-'));
            for (Fences.Shown shown : Fences.commands(document)) {
                if (shown.command().startsWith("./weft")) {
                    tests.add(dynamicTest(
                            name + ":" + shown.line() + " " + shown.command(), () -> check(shown, prepare(folder))));
                }
            }
        }
        if (tests.isEmpty()) {
            tests.add(dynamicTest("no document shows a command yet", () -> abort("no `$ ./weft` line in a sh block")));
        }
        return tests;
    }

    private static Path prepare(Path folder) throws IOException {
        Files.createDirectories(folder);
        link(folder.resolve("weft"), Checkout.image().resolve("bin/weft"));
        link(folder.resolve("docs"), Checkout.root().resolve("docs"));
        return folder;
    }

    private static void link(Path link, Path target) throws IOException {
        if (!Files.isSymbolicLink(link)) {
            Files.createSymbolicLink(link, target);
        }
    }

    private static void check(Fences.Shown shown, Path folder) throws IOException, InterruptedException {
        Program.Result result =
                Program.of("sh", "-c", shown.command()).in(folder).run().expect(0);
        if (!shown.output().isEmpty()) {
            List<String> printed = result.out().lines().toList();
            assertTrue(
                    Fences.matches(shown.output(), printed),
                    () -> shown.file() + ":" + shown.line() + " shows\n" + String.join("\n", shown.output())
                            + "\n\nand the command prints\n" + result.out());
        }
    }
}
