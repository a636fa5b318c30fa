// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import io.weft.api.Capability;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/** Every rule, in the order of its files. Immutable. */
public final class Catalogue {
    /** The version of the rules and their proofs. */
    public static final String VERSION = "0.1.0";

    private static final Pattern OBLIGATION = Pattern.compile("\\b(MUST|SHOULD)\\b");

    /** Capabilities that are an extension of the SPI; what is said about them requires that the extension is there. */
    private static final Set<Capability> EXTENSIONS = EnumSet.of(
            Capability.COLLECTIVES,
            Capability.SYMMETRIC_MEMORY,
            Capability.VIRTUAL_MEMORY,
            Capability.DEVICE_GRAPHS,
            Capability.PERFORMANCE_MODEL,
            Capability.FAULT_INJECTION);

    private static final String EXTENSIONS_ARE_THERE = "PRV-011";

    private final Map<String, Rule> rules;

    private Catalogue(Map<String, Rule> rules) {
        this.rules = rules;
    }

    /** The suite's own rules. */
    public static Catalogue standard() {
        Map<String, String> texts = new LinkedHashMap<>();
        for (Area area : Area.values()) {
            texts.put(area.resource(), resource(area));
        }
        return of(texts);
    }

    private static String resource(Area area) {
        try (InputStream in = Catalogue.class.getResourceAsStream(area.resource())) {
            if (in == null) {
                throw new IllegalStateException("the catalogue lacks " + area.resource());
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
    }

    /**
     * Reads rules from documents.
     *
     * @param texts YAML by file name
     * @throws UnusableInput naming the file, the rule and what is wrong
     */
    static Catalogue of(Map<String, String> texts) {
        Map<String, Rule> rules = new LinkedHashMap<>();
        texts.forEach((name, text) -> {
            Document document = Document.parse(name, text);
            Area area = document.constant("area", Area.class, UnaryOperator.identity());
            List<String> common = document.texts("requires");
            for (Document entry : document.documents("rules")) {
                Rule rule = rule(area, common, entry, texts.containsKey(Area.PRV.resource()));
                if (rules.put(rule.id(), rule) != null) {
                    throw new UnusableInput(entry.place() + ": the id " + rule.id() + " is taken");
                }
            }
            document.refuseOthers();
        });
        rules.values()
                .forEach(rule -> rule.requires().forEach(required -> {
                    if (!rules.containsKey(required)) {
                        throw new UnusableInput(rule.id() + " requires " + required + ", which is no rule");
                    }
                }));
        Catalogue catalogue = new Catalogue(rules);
        rules.values().forEach(rule -> {
            if (catalogue.required(rule).contains(rule)) {
                throw new UnusableInput(rule.id() + " requires itself, by way of other rules");
            }
        });
        return catalogue;
    }

    private static Rule rule(Area area, List<String> common, Document entry, boolean withProviderRules) {
        String id = entry.text("id");
        if (!id.matches(area + "-\\d{3}")) {
            throw new UnusableInput(entry.place() + ": id '" + id + "' must be " + area + "- and three digits");
        }
        String sentence = entry.text("sentence").replaceAll("\\s+", " ");
        List<String> words = OBLIGATION
                .matcher(sentence)
                .results()
                .map(m -> m.group())
                .distinct()
                .toList();
        if (words.size() != 1) {
            throw new UnusableInput(entry.place() + ": the sentence of " + id + " must say either MUST or SHOULD");
        }
        Set<Capability> capabilities = EnumSet.noneOf(Capability.class);
        for (String name : entry.texts("capability")) {
            capabilities.add(Document.constant(
                    entry.place() + ": capability", name, Capability.class, UnaryOperator.identity()));
        }
        String profileName = entry.text("profile", null);
        Optional<Profile> profile = profileName == null
                ? Optional.empty()
                : Optional.of(Document.constant(
                        entry.place() + ": profile", profileName, Profile.class, UnaryOperator.identity()));
        profile.ifPresent(feature -> capabilities.add(feature.capability()));
        Set<String> requires = new LinkedHashSet<>(entry.texts("requires"));
        requires.addAll(common);
        if (withProviderRules && capabilities.stream().anyMatch(EXTENSIONS::contains)) {
            requires.add(EXTENSIONS_ARE_THERE);
        }
        requires.remove(id);
        Rule rule = new Rule(
                id,
                area,
                sentence,
                Obligation.valueOf(words.getFirst()),
                entry.text("since", VERSION),
                entry.constant("level", Level.class, UnaryOperator.identity()),
                capabilities,
                profile,
                entry.text("check").replaceAll("\\s+", " "),
                List.copyOf(requires),
                entry.text("unproven", "").replaceAll("\\s+", " "),
                entry.flag("standing"));
        entry.refuseOthers();
        return rule;
    }

    /** All rules, in catalogue order. */
    public Collection<Rule> rules() {
        return rules.values();
    }

    /** A rule by its id. */
    public Optional<Rule> find(String id) {
        return Optional.ofNullable(rules.get(id));
    }

    /**
     * A rule by its id.
     *
     * @throws UnusableInput when there is none, naming near ones
     */
    public Rule rule(String id) {
        return find(id).orElseThrow(() -> {
            String area = id.length() < 3 ? "" : id.substring(0, 3).toUpperCase(Locale.ROOT);
            List<String> near = rules.keySet().stream()
                    .filter(known -> known.startsWith(area))
                    .toList();
            return new UnusableInput("there is no rule '" + id + "'; "
                    + (near.isEmpty()
                            ? "areas are " + List.of(Area.values())
                            : area + " has " + near.getFirst() + " to " + near.getLast()));
        });
    }

    /** Every rule that a rule requires, directly or by way of others. */
    public Set<Rule> required(Rule rule) {
        Set<Rule> found = new LinkedHashSet<>();
        Deque<String> open = new ArrayDeque<>(rule.requires());
        while (!open.isEmpty()) {
            Rule next = rules.get(open.poll());
            if (found.add(next)) {
                open.addAll(next.requires());
            }
        }
        return found;
    }

    /** Rules in an order in which every rule comes after those it requires, otherwise in the given one. */
    List<Rule> inOrderOfDependence(Collection<Rule> wanted) {
        Set<Rule> order = new LinkedHashSet<>();
        Set<Rule> all = new LinkedHashSet<>(wanted);
        wanted.forEach(rule -> place(rule, all, order));
        return new ArrayList<>(order);
    }

    private void place(Rule rule, Set<Rule> wanted, Set<Rule> order) {
        if (order.contains(rule)) {
            return;
        }
        rule.requires().forEach(id -> place(rules.get(id), wanted, order));
        if (wanted.contains(rule)) {
            order.add(rule);
        }
    }
}
