// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import io.weft.conformance.bench.Bench;
import io.weft.conformance.proofs.ProofClasses;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** All proofs, by rule. A method that looks like a proof and names no rule is refused, so that nothing is silently never run. */
final class ProofBook {
    private final Map<String, List<Proof>> proofs;
    private final String digest;

    private ProofBook(Map<String, List<Proof>> proofs, String digest) {
        this.proofs = proofs;
        this.digest = digest;
    }

    /** The suite's own proofs for these rules. */
    static ProofBook standard(Catalogue catalogue) {
        return of(catalogue, ProofClasses.all());
    }

    /**
     * Collects proofs.
     *
     * @throws IllegalStateException for a proof without a rule, a rule without a proof or a reason, and a method that cannot be run
     */
    static ProofBook of(Catalogue catalogue, List<Class<?>> classes) {
        Map<String, List<Proof>> proofs = new LinkedHashMap<>();
        for (Class<?> type : classes) {
            Method[] methods = type.getDeclaredMethods();
            // The order of reflection is no order.
            Arrays.sort(methods, Comparator.comparing(Method::getName));
            for (Method method : methods) {
                proof(catalogue, type, method, proofs);
            }
        }
        for (Rule rule : catalogue.rules()) {
            boolean proven = proofs.containsKey(rule.id()) || rule.standing();
            if (proven == rule.isUnproven()) {
                throw new IllegalStateException(rule.id()
                        + (proven ? " has a proof and is said to be unproven" : " has neither a proof nor a reason"));
            }
        }
        return new ProofBook(proofs, digest(classes));
    }

    private static void proof(Catalogue catalogue, Class<?> type, Method method, Map<String, List<Proof>> proofs) {
        Proves proves = method.getAnnotation(Proves.class);
        String name = type.getSimpleName() + "." + method.getName();
        boolean takesBench = Arrays.equals(method.getParameterTypes(), new Class<?>[] {Bench.class});
        if (proves == null) {
            if (takesBench && !Modifier.isPrivate(method.getModifiers()) && !method.isSynthetic()) {
                throw new IllegalStateException(
                        name + " takes a bench and names no rule: add @Proves or make it private");
            }
            return;
        }
        if (!takesBench || method.getReturnType() != void.class) {
            throw new IllegalStateException(name + " must take a bench and return nothing");
        }
        if (catalogue.find(proves.value()).isEmpty()) {
            throw new IllegalStateException(name + " proves " + proves.value() + ", which is no rule");
        }
        method.setAccessible(true);
        proofs.computeIfAbsent(proves.value(), id -> new ArrayList<>())
                .add(new Proof(proves.value(), name, bench -> run(type, method, bench)));
    }

    private static void run(Class<?> type, Method method, Bench bench) throws Throwable {
        var constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        try {
            method.invoke(constructor.newInstance(), bench);
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        }
    }

    private static String digest(List<Class<?>> classes) {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            for (Area area : Area.values()) {
                add(sha, Catalogue.class, area.resource());
            }
            for (Class<?> type : classes) {
                add(sha, type, type.getSimpleName() + ".class");
            }
            return HexFormat.of().formatHex(sha.digest());
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
    }

    private static void add(MessageDigest sha, Class<?> beside, String name) throws IOException {
        try (InputStream in = beside.getResourceAsStream(name)) {
            if (in != null) {
                sha.update(in.readAllBytes());
            }
        }
    }

    /** The proofs of a rule; none for standing and unproven rules. */
    List<Proof> of(Rule rule) {
        return proofs.getOrDefault(rule.id(), List.of());
    }

    /** SHA-256 over the rules and the proofs' classes. */
    String digest() {
        return digest;
    }
}
