// SPDX-License-Identifier: Apache-2.0
package io.weft.integration;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The fenced blocks of Markdown files, which these tests hold to their word. */
final class Fences {
    private static final String FENCE = "```";

    private Fences() {}

    /**
     * A command that a document shows, and what it says that it prints.
     *
     * @param line where it stands, from 1
     * @param command as typed, continued lines joined
     * @param output the lines below it up to the next command or the end of the block; {@code ...} stands for any
     *     number of lines
     */
    record Shown(Path file, int line, String command, List<String> output) {}

    /** The blocks with the given info string, each as its lines. */
    static List<List<String>> blocks(Path file, String info) throws IOException {
        return located(file, info).stream().map(Block::lines).toList();
    }

    /** The blocks that are whole files: {@code file=PATH} in the info string names each. */
    static Map<String, String> files(Path file) throws IOException {
        Map<String, String> files = new LinkedHashMap<>();
        for (Block block : all(file)) {
            int at = block.info().indexOf("file=");
            if (at >= 0) {
                files.put(block.info().substring(at + "file=".length()), String.join("\n", block.lines()) + "\n");
            }
        }
        return files;
    }

    /** The commands after {@code $} in the {@code sh} blocks. */
    static List<Shown> commands(Path file) throws IOException {
        List<Shown> commands = new ArrayList<>();
        for (Block block : located(file, "sh")) {
            List<String> lines = block.lines();
            for (int at = 0; at < lines.size(); at++) {
                if (!lines.get(at).startsWith("$ ")) {
                    continue;
                }
                int first = at;
                StringBuilder command = new StringBuilder(lines.get(at).substring(2));
                while (command.toString().endsWith("\\") && at + 1 < lines.size()) {
                    at++;
                    command.setLength(command.length() - 1);
                    command.append(lines.get(at).strip());
                }
                List<String> output = new ArrayList<>();
                while (at + 1 < lines.size() && !lines.get(at + 1).startsWith("$ ")) {
                    at++;
                    output.add(lines.get(at));
                }
                commands.add(new Shown(file, block.line() + first, command.toString(), List.copyOf(output)));
            }
        }
        return commands;
    }

    /**
     * Whether lines are those that a document shows.
     *
     * @param shown {@code ...} stands for any number of lines
     * @param actual what was printed
     */
    static boolean matches(List<String> shown, List<String> actual) {
        if (shown.isEmpty()) {
            return actual.isEmpty();
        }
        List<String> rest = shown.subList(1, shown.size());
        if (shown.getFirst().strip().equals("...")) {
            for (int skipped = 0; skipped <= actual.size(); skipped++) {
                if (matches(rest, actual.subList(skipped, actual.size()))) {
                    return true;
                }
            }
            return false;
        }
        return !actual.isEmpty()
                && shown.getFirst().stripTrailing().equals(actual.getFirst().stripTrailing())
                && matches(rest, actual.subList(1, actual.size()));
    }

    private record Block(int line, String info, List<String> lines) {}

    private static List<Block> located(Path file, String info) throws IOException {
        return all(file).stream().filter(block -> block.info().equals(info)).toList();
    }

    private static List<Block> all(Path file) throws IOException {
        List<Block> blocks = new ArrayList<>();
        List<String> lines = Files.readAllLines(file);
        for (int at = 0; at < lines.size(); at++) {
            if (!lines.get(at).startsWith(FENCE)) {
                continue;
            }
            String found = lines.get(at).substring(FENCE.length()).strip();
            int begin = at + 1;
            at = begin;
            while (at < lines.size() && !lines.get(at).startsWith(FENCE)) {
                at++;
            }
            blocks.add(new Block(begin + 1, found, List.copyOf(lines.subList(begin, at))));
        }
        return blocks;
    }
}
