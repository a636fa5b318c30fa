// SPDX-License-Identifier: Apache-2.0
package io.weft.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.constantpool.Utf8Entry;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Core never names a vendor. Every name and every string of a class file stands in its constant pool, so that is what
 * is read: packages, classes, methods, fields and literals, but neither comments nor documentation.
 */
class NeutralNamesTest {

    private static final Set<String> VENDOR_WORDS = Set.of(
            "nvidia", "cuda", "nccl", "nvlink", "amd", "rocm", "rccl", "xgmi", "ascend", "huawei", "hccl", "hccs");

    /** Between words: anything but letters and digits, and before a capital that follows a small letter. */
    private static final Pattern BOUNDARY = Pattern.compile("[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])");

    @ParameterizedTest
    @ValueSource(strings = {"api", "memory-pool", "core-scheduler"})
    void coreNamesNoVendor(String folder) throws IOException {
        List<String> found = new ArrayList<>();
        DependencyTableTest.Row row = DependencyTableTest.TABLE.stream()
                .filter(candidate -> candidate.folder().equals(folder))
                .findFirst()
                .orElseThrow();
        try (JarFile jar = new JarFile(DependencyTableTest.jar(row).toFile())) {
            for (JarEntry entry : jar.stream().toList()) {
                if (entry.getName().endsWith(".class")) {
                    for (String text : texts(jar.getInputStream(entry).readAllBytes())) {
                        vendorWords(text).forEach(word -> found.add(entry.getName() + ": " + word + " in " + text));
                    }
                }
            }
        }
        assertEquals(List.of(), found);
    }

    @Test
    void aVendorsWordIsFoundInNamesAndSentences() {
        assertEquals(List.of("amd"), vendorWords("io/weft/amd/Device"));
        assertEquals(List.of("nccl"), vendorWords("openNcclLibrary"));
        assertEquals(List.of("ascend"), vendorWords("needs Ascend 910B"));
    }

    @Test
    void partsOfOtherWordsAreNoVendors() {
        assertEquals(List.of(), vendorWords("ascending amd64 Hamdorf"));
    }

    private static List<String> texts(byte[] classFile) {
        List<String> texts = new ArrayList<>();
        for (PoolEntry entry : ClassFile.of().parse(classFile).constantPool()) {
            if (entry instanceof Utf8Entry text) {
                texts.add(text.stringValue());
            }
        }
        return texts;
    }

    private static List<String> vendorWords(String text) {
        return BOUNDARY.splitAsStream(text)
                .map(word -> word.toLowerCase(Locale.ROOT))
                .filter(VENDOR_WORDS::contains)
                .toList();
    }
}
