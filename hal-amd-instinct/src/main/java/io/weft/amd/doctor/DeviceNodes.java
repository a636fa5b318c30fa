// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.doctor;

import io.weft.spi.HostFiles;
import io.weft.spi.input.FindingReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * {@code /dev/kfd} and {@code /dev/dri/renderD*}: whether they are there and may be used. They are never opened: opening {@code /dev/kfd} makes a process show up as one that uses
 * the GPU (ROCm/legacy-rocm-build#4411). A captured folder holds {@code dev.txt} in their place, as {@code ls -lR /dev/kfd /dev/dri} prints it.
 */
final class DeviceNodes {
    private static final String CHECK = "device-nodes";
    private static final String SOURCE = "ROCm installation guide, 'Configuring permissions for GPU access'";
    private static final Pattern LISTED = Pattern.compile(
            "^c([r-])([w-])[x-]([r-])([w-])[x-]([r-])([w-])\\S*\\s+\\d+\\s+(\\S+)\\s+(\\S+)\\s+.*?(kfd|renderD\\d+)$");

    private DeviceNodes() {}

    static void look(Node node, FindingReport report) {
        HostFiles host = node.host();
        if (host.isLive()) {
            live(node, report);
            return;
        }
        Optional<String> listing = host.text("dev.txt");
        if (listing.isEmpty()) {
            if (host.exists("dev/kfd")) {
                report.good(CHECK, "dev/kfd is in the capture; its permissions cannot be told from a copy");
            } else {
                report.note(
                        CHECK,
                        "neither dev.txt nor dev/kfd is in the capture, so device nodes cannot be judged",
                        "Write dev.txt with: ls -lR /dev/kfd /dev/dri",
                        "");
            }
            return;
        }
        listed(node, listing.get(), report);
    }

    private static void live(Node node, FindingReport report) {
        Path kfd = Path.of("/dev/kfd");
        if (!Files.exists(kfd)) {
            absent(node, report);
            return;
        }
        if (usable(kfd, report)) {
            report.good(CHECK, "/dev/kfd may be read and written");
        }
        List<String> present = new ArrayList<>();
        for (String name : node.host().list("dev/dri")) {
            if (name.startsWith("renderD")) {
                present.add(name);
                usable(Path.of("/dev/dri", name), report);
            }
        }
        renderNodes(node, present.size(), report);
    }

    private static boolean usable(Path device, FindingReport report) {
        if (Files.isReadable(device) && Files.isWritable(device)) {
            return true;
        }
        String owner = "";
        try {
            PosixFileAttributes attributes =
                    Files.readAttributes(device, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            owner = attributes.group().getName();
        } catch (IOException | UnsupportedOperationException unknown) {
            owner = "";
        }
        forbidden(device.toString(), owner, report);
        return false;
    }

    private static void forbidden(String device, String group, FindingReport report) {
        report.problem(
                CHECK,
                device + " may not be read and written by this user"
                        + (group.isEmpty() ? "" : "; its group is " + group),
                "Without it HIP finds no device, or that GPU is missing.",
                SOURCE,
                group.isEmpty() || group.equals("root")
                        ? "Install AMD's udev rules (group render, mode 0660) and add the user to that group."
                        : "Add the user to the group '" + group + "' (usermod -aG " + group
                                + " USER) and log in again; in a container use --group-add.");
    }

    private static void absent(Node node, FindingReport report) {
        boolean driver = node.host().exists("sys/module/amdgpu");
        report.problem(
                CHECK,
                "/dev/kfd does not exist"
                        + (driver ? ", although the amdgpu driver is loaded" : " and no amdgpu driver is loaded"),
                "HIP then has no device at all. That it 'falls back to PCIe' is folklore.",
                SOURCE,
                driver
                        ? "In a container pass --device=/dev/kfd --device=/dev/dri."
                        : "Load the driver (modprobe amdgpu), or use a node that has AMD GPUs.");
    }

    private static void listed(Node node, String listing, FindingReport report) {
        boolean kfd = false;
        int render = 0;
        List<String> open = new ArrayList<>();
        List<String> grouped = new ArrayList<>();
        for (String line : listing.split("\\R", -1)) {
            Matcher device = LISTED.matcher(line.strip());
            if (!device.matches()) {
                continue;
            }
            String name = device.group(9);
            kfd |= name.equals("kfd");
            render += name.startsWith("render") ? 1 : 0;
            if (device.group(5).equals("r") && device.group(6).equals("w")) {
                open.add(name);
            } else if (device.group(3).equals("r") && device.group(4).equals("w")) {
                grouped.add(name + " (group " + device.group(8) + ")");
            } else {
                forbidden("/dev/" + (name.equals("kfd") ? "" : "dri/") + name, "", report);
            }
        }
        if (!kfd) {
            absent(node, report);
            return;
        }
        if (!open.isEmpty()) {
            report.good(CHECK, "open to everybody: " + String.join(", ", open));
        }
        if (!grouped.isEmpty()) {
            report.note(
                    CHECK,
                    "only for members of a group: " + String.join(", ", grouped),
                    "The user who runs the job must be a member.",
                    SOURCE);
        }
        renderNodes(node, render, report);
    }

    private static void renderNodes(Node node, int present, FindingReport report) {
        if (node.gpus() > present) {
            report.problem(
                    CHECK,
                    present + " render nodes in /dev/dri for " + node.gpus() + " GPUs of the driver",
                    "A GPU without its render node cannot be used; containers often get /dev/kfd and too few of these.",
                    SOURCE,
                    "In a container pass --device=/dev/dri, or one --device for every renderD that belongs to it.");
        } else if (present > 0) {
            report.good(CHECK, present + " render nodes in /dev/dri");
        }
    }
}
