// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.doctor;

import io.weft.spi.HostFiles;
import io.weft.spi.input.FindingReport;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Whether driver, firmware, CANN, PyTorch and torch_npu go together. */
final class Versions {
    private static final String CHECK = "versions";
    private static final String SOURCE = "Ascend/pytorch, COMPATIBILITY";
    private static final Pattern KEY = Pattern.compile("(?im)^\\s*version\\s*=\\s*([\\w.+-]+)");
    private static final Pattern PACKAGE = Pattern.compile("(torch|torch_npu)-(\\d[\\w.+!-]*?)\\.dist-info");
    private static final Pattern RELEASE = Pattern.compile("(\\d{1,3})\\.(\\d{1,3})(?:\\.?(RC)?(\\d{1,3}))?.*");

    /** A row of the compatibility table. */
    record Row(String torchNpu, String pytorch, String cann) {}

    static final List<Row> TABLE = Resource.lines("versions.csv").stream()
            .filter(line -> !line.startsWith("torch_npu,"))
            .map(line -> line.split(",", -1))
            .map(cells -> new Row(cells[0], cells[2], cells[3]))
            .toList();

    private Versions() {}

    static void look(Node node, FindingReport report) {
        HostFiles host = node.host();
        Optional<String> driver = version(host, "usr/local/Ascend/driver/version.info");
        Optional<String> firmware = version(host, "usr/local/Ascend/firmware/version.info");
        driver.ifPresent(text -> report.good(CHECK, "driver " + text));
        firmware.ifPresent(text -> report.good(CHECK, "firmware " + text));
        if (driver.isPresent() && firmware.isEmpty()) {
            report.note(
                    CHECK,
                    "no version of the firmware is to be seen here",
                    "Inside a container only the driver's is mounted.",
                    "",
                    "Compare it on the host: driver and firmware are released in pairs.");
        }
        String tool = node.devices().map(devices -> devices.toolVersion()).orElse("");
        if (driver.isPresent() && !tool.isEmpty() && !matches(tool, driver.get())) {
            report.warning(
                    CHECK,
                    "npu-smi is of version " + tool + " and the driver of " + driver.get(),
                    "npu-smi comes with the driver; another one may be mounted into a container.",
                    "",
                    "Mount driver and npu-smi of the host together.");
        }
        severalProcesses(driver.or(() -> tool.isEmpty() ? Optional.empty() : Optional.of(tool)), report);
        Optional<String> cann = cann(node);
        Map<String, Set<String>> packages = packages(host);
        Set<String> plugins = packages.getOrDefault("torch_npu", Set.of());
        Set<String> frameworks = packages.getOrDefault("torch", Set.of());
        if (plugins.isEmpty()) {
            cann.ifPresent(text -> report.good(CHECK, "CANN " + text));
            return;
        }
        for (String plugin : plugins) {
            pair(plugin, cann, frameworks, report);
        }
    }

    private static void pair(String plugin, Optional<String> cann, Set<String> frameworks, FindingReport report) {
        Optional<Row> known = row(plugin);
        if (known.isEmpty()) {
            report.note(
                    CHECK,
                    "torch_npu " + plugin + " is not in the table of " + TABLE.size() + " releases",
                    "It is newer than this table, or a build of its own.",
                    SOURCE,
                    "Compare it with the table of its release.");
            return;
        }
        Row row = known.get();
        for (String framework : frameworks) {
            String plain = framework.replaceFirst("\\+.*", "");
            if (!plain.equals(row.pytorch())) {
                report.problem(
                        CHECK,
                        "torch_npu " + plugin + " is for PyTorch " + row.pytorch() + ", and " + framework
                                + " is installed",
                        "It is compiled against one release of PyTorch; import fails with an undefined symbol.",
                        SOURCE,
                        "Install torch==" + row.pytorch() + ".");
            }
        }
        if (cann.isEmpty()) {
            report.note(
                    CHECK,
                    "torch_npu " + plugin + " needs CANN " + row.cann() + ", and no CANN is to be seen here",
                    "",
                    SOURCE,
                    "");
        } else if (matches(cann.get(), row.cann())) {
            report.good(CHECK, "torch_npu " + plugin + " with CANN " + cann.get() + ", as published");
        } else if (compare(cann.get(), row.cann()) < 0) {
            report.problem(
                    CHECK,
                    "torch_npu " + plugin + " needs CANN " + row.cann() + ", and " + cann.get() + " is installed",
                    "Symbols that it looks for are not there, such as aclrtPeekAtLastError.",
                    SOURCE + "; Ascend/pytorch#99, DeepLink-org/dlinfer#183",
                    "Install CANN " + row.cann() + ", or torch_npu of " + cann.get() + ": " + forCann(cann.get()));
        } else {
            report.warning(
                    CHECK,
                    "torch_npu " + plugin + " is released for CANN " + row.cann() + ", and the newer " + cann.get()
                            + " is installed",
                    "Newer CANN mostly keeps what was there, but nobody has tested this pair.",
                    SOURCE,
                    "Prefer the pair that is published: " + forCann(cann.get()));
        }
    }

    private static String forCann(String cann) {
        List<String> releases = TABLE.stream()
                .filter(row -> matches(cann, row.cann()))
                .map(Row::torchNpu)
                .toList();
        return releases.isEmpty() ? "none is known for it" : String.join(", ", releases);
    }

    /** The row of a release; local build tags do not count. */
    static Optional<Row> row(String torchNpu) {
        String plain = torchNpu.replaceFirst("\\+.*", "");
        return TABLE.stream().filter(row -> row.torchNpu().equals(plain)).findFirst();
    }

    private static void severalProcesses(Optional<String> driver, FindingReport report) {
        if (driver.isEmpty() || compare(driver.get(), "25.0.RC1") >= 0) {
            return;
        }
        report.note(
                CHECK,
                "driver " + driver.get() + " lets one process use an NPU at a time for collectives",
                "Several processes on one NPU need 25.0.RC1 or later; two services on one fail to get queues.",
                "HCCL documentation, constraints; vllm-project/vllm-ascend#5213",
                "Give every service NPUs of its own (ASCEND_RT_VISIBLE_DEVICES).");
    }

    /** Whether a full version is of a release, such as {@code 8.0.RC3.alpha001} of {@code 8.0.RC3}. */
    static boolean matches(String full, String release) {
        String a = full.toLowerCase(Locale.ROOT);
        String b = release.toLowerCase(Locale.ROOT);
        return a.equals(b) || (a.startsWith(b) && !Character.isDigit(a.charAt(b.length())));
    }

    /** By release: a candidate comes before the release. Zero when one of them is none. */
    static int compare(String a, String b) {
        Matcher left = RELEASE.matcher(a.toUpperCase(Locale.ROOT));
        Matcher right = RELEASE.matcher(b.toUpperCase(Locale.ROOT));
        if (!left.matches() || !right.matches()) {
            return 0;
        }
        for (int part = 1; part <= 2; part++) {
            int order = Integer.compare(Integer.parseInt(left.group(part)), Integer.parseInt(right.group(part)));
            if (order != 0) {
                return order;
            }
        }
        boolean leftCandidate = left.group(3) != null;
        boolean rightCandidate = right.group(3) != null;
        if (leftCandidate != rightCandidate) {
            return leftCandidate ? -1 : 1;
        }
        return Integer.compare(number(left.group(4)), number(right.group(4)));
    }

    private static int number(String text) {
        return text == null ? 0 : Integer.parseInt(text);
    }

    private static Optional<String> version(HostFiles host, String file) {
        return host.text(file).flatMap(text -> {
            Matcher key = KEY.matcher(text);
            return key.find() ? Optional.of(key.group(1)) : Optional.empty();
        });
    }

    /** CANN's version: of the folder that the environment names, else of the usual ones. */
    private static Optional<String> cann(Node node) {
        List<String> roots = new ArrayList<>();
        for (String variable : List.of("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")) {
            node.variable(variable)
                    .filter(text -> text.startsWith("/") && text.length() > 1)
                    .ifPresent(text -> roots.add(text.substring(1)));
        }
        roots.add("usr/local/Ascend/cann");
        roots.add("usr/local/Ascend/ascend-toolkit/latest");
        for (String name : node.host().list("usr/local/Ascend")) {
            if (name.startsWith("cann-")) {
                roots.add("usr/local/Ascend/" + name);
            }
        }
        for (String root : roots) {
            for (String architecture : List.of("aarch64-linux", "x86_64-linux")) {
                Optional<String> found =
                        version(node.host(), root + "/" + architecture + "/ascend_toolkit_install.info");
                if (found.isPresent()) {
                    return found;
                }
            }
        }
        return Optional.empty();
    }

    private static Map<String, Set<String>> packages(HostFiles host) {
        List<String> folders = new ArrayList<>();
        for (String prefix : List.of("usr/local/lib", "usr/lib", "opt/conda/lib", "usr/local/python3/lib")) {
            pythons(host, prefix, folders);
        }
        for (String name : host.list("usr/local")) {
            if (name.startsWith("python3")) {
                pythons(host, "usr/local/" + name + "/lib", folders);
            }
        }
        Map<String, Set<String>> found = new LinkedHashMap<>();
        for (String folder : folders) {
            for (String name : host.list(folder)) {
                Matcher matcher = PACKAGE.matcher(name);
                if (matcher.matches()) {
                    found.computeIfAbsent(matcher.group(1), key -> new LinkedHashSet<>())
                            .add(matcher.group(2));
                }
            }
        }
        return found;
    }

    private static void pythons(HostFiles host, String prefix, List<String> folders) {
        for (String name : host.list(prefix)) {
            if (name.startsWith("python3")) {
                folders.add(prefix + "/" + name + "/site-packages");
                folders.add(prefix + "/" + name + "/dist-packages");
            }
        }
    }
}
