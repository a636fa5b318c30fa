// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.dataformat.yaml.YAMLFactory;
import tools.jackson.dataformat.yaml.YAMLParser;

/**
 * Parses YAML into nodes that know their lines. Anchors and aliases are refused: a machine needs none (a device has a {@code count}), and without them no document
 * can grow beyond its own size.
 */
final class DocumentParser {
    private static final int MAX_DEPTH = 32;
    private static final YAMLFactory YAML = YAMLFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(2 * MAX_DEPTH)
                    .build())
            .build();

    private final String source;

    private DocumentParser(String source) {
        this.source = source;
    }

    static DocumentNode.Entries parse(String source, String text) {
        return new DocumentParser(source).parse(text);
    }

    private DocumentNode.Entries parse(String text) {
        try (YAMLParser parser = (YAMLParser) YAML.createParser(ObjectReadContext.empty(), text)) {
            JsonToken token = parser.nextToken();
            if (token == null) {
                throw new BadDocument(source, 1, "the document is empty; expected a machine");
            }
            DocumentNode root = node(parser, token, 0);
            JsonToken more = parser.nextToken();
            if (more != null) {
                throw new BadDocument(source, line(parser), "a second document begins here; expected one machine");
            }
            if (root instanceof DocumentNode.Entries entries) {
                return entries;
            }
            throw new BadDocument(source, root.line(), "found " + root.found() + ", expected the keys of a machine");
        } catch (JacksonException wrong) {
            TokenStreamLocation at = wrong.getLocation();
            throw new BadDocument(source, at == null ? 1 : Math.max(1, at.getLineNr()), syntax(wrong));
        } catch (StackOverflowError deep) {
            throw new BadDocument(source, 1, "blocks are nested too deeply; expected at most " + MAX_DEPTH + " levels");
        }
    }

    private DocumentNode node(YAMLParser parser, JsonToken token, int depth) {
        int line = line(parser);
        if (depth > MAX_DEPTH) {
            throw new BadDocument(
                    source, line, "blocks are nested too deeply; expected at most " + MAX_DEPTH + " levels");
        }
        if (parser.isCurrentAlias()) {
            throw new BadDocument(
                    source, line, "found the alias '*" + parser.getString() + "'; aliases are not accepted");
        }
        if (parser.getObjectId() != null) {
            throw new BadDocument(
                    source, line, "found the anchor '&" + parser.getObjectId() + "'; anchors are not accepted");
        }
        return switch (token) {
            case START_OBJECT -> entries(parser, line, depth);
            case START_ARRAY -> {
                List<DocumentNode> items = new ArrayList<>();
                for (JsonToken t = parser.nextToken(); t != JsonToken.END_ARRAY; t = parser.nextToken()) {
                    items.add(node(parser, t, depth + 1));
                }
                yield new DocumentNode.Items(line, items);
            }
            case VALUE_NULL -> new DocumentNode.Scalar(line, "", false);
            case VALUE_STRING -> new DocumentNode.Scalar(line, parser.getString(), true);
            default -> new DocumentNode.Scalar(line, parser.getString(), false);
        };
    }

    private DocumentNode entries(YAMLParser parser, int line, int depth) {
        Map<String, DocumentNode.Entry> entries = new LinkedHashMap<>();
        for (JsonToken t = parser.nextToken(); t != JsonToken.END_OBJECT; t = parser.nextToken()) {
            String key = parser.currentName();
            int keyLine = line(parser);
            DocumentNode.Entry before = entries.get(key);
            if (before != null) {
                throw new BadDocument(
                        source, keyLine, key + ": this key stands twice; it was first given in line " + before.line());
            }
            DocumentNode value = node(parser, parser.nextToken(), depth + 1);
            entries.put(key, new DocumentNode.Entry(keyLine, value));
        }
        return new DocumentNode.Entries(line, entries);
    }

    private static int line(YAMLParser parser) {
        return Math.max(1, parser.currentTokenLocation().getLineNr());
    }

    private static String syntax(JacksonException wrong) {
        String text = wrong.getOriginalMessage();
        for (String line : text.lines().toList()) {
            String sentence = line.strip();
            // The parser's own text goes on with a drawing of the place.
            if (!sentence.isEmpty() && !sentence.startsWith("in ") && !sentence.startsWith("while ")) {
                return "not valid YAML: " + sentence;
            }
        }
        return "not valid YAML: " + text.lines().findFirst().orElse("");
    }
}
