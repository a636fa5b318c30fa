// SPDX-License-Identifier: Apache-2.0
package io.weft.integration;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.SAXException;

/** What this build would publish: the parent, the BOM, and every module that does not skip deployment. */
final class Artifacts {
    private Artifacts() {}

    /**
     * One published module.
     *
     * @param folder where it is built
     * @param pom its {@code <project>} element
     */
    record Artifact(Path folder, Element pom) {

        String artifactId() {
            return text(pom, "artifactId");
        }

        /** The packaging, with Maven's default. */
        String packaging() {
            String packaging = text(pom, "packaging");
            return packaging.isEmpty() ? "jar" : packaging;
        }

        /** Whether it has a parent; the parent's own elements count for it then. */
        boolean hasParent() {
            return child(pom, "parent") != null;
        }

        /** The jars that belong to it: the main one and, unless this is a fast build, sources and Javadoc. */
        List<Path> jars() {
            List<Path> jars = new ArrayList<>();
            if (packaging().equals("jar")) {
                for (String classifier :
                        Checkout.sourcesAndJavadoc() ? List.of("", "-sources", "-javadoc") : List.of("")) {
                    jars.add(folder.resolve("target")
                            .resolve(artifactId() + "-" + Checkout.version() + classifier + ".jar"));
                }
            }
            return jars;
        }
    }

    /** All of them, the parent first. */
    static List<Artifact> published() throws IOException {
        List<Artifact> published = new ArrayList<>();
        Artifact root = read(Checkout.root());
        published.add(root);
        for (Element module : children(child(root.pom(), "modules"), "module")) {
            Artifact artifact =
                    read(Checkout.root().resolve(module.getTextContent().strip()));
            Element properties = child(artifact.pom(), "properties");
            if (properties == null || !text(properties, "maven.deploy.skip").equals("true")) {
                published.add(artifact);
            }
        }
        return published;
    }

    /** Copies what would be published into a folder, laid out as a Maven repository. */
    static void publishTo(Path repository) throws IOException {
        for (Artifact artifact : published()) {
            Path folder =
                    repository.resolve("io/weft").resolve(artifact.artifactId()).resolve(Checkout.version());
            Files.createDirectories(folder);
            String name = artifact.artifactId() + "-" + Checkout.version() + ".pom";
            Files.copy(artifact.folder().resolve("pom.xml"), folder.resolve(name), StandardCopyOption.REPLACE_EXISTING);
            for (Path jar : artifact.jars()) {
                Files.copy(jar, folder.resolve(jar.getFileName()), StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    private static Artifact read(Path folder) throws IOException {
        try {
            Document document = DocumentBuilderFactory.newDefaultInstance()
                    .newDocumentBuilder()
                    .parse(folder.resolve("pom.xml").toFile());
            return new Artifact(folder, document.getDocumentElement());
        } catch (ParserConfigurationException | SAXException broken) {
            throw new IOException(folder.resolve("pom.xml") + " is no readable POM", broken);
        }
    }

    /** The first child of that name, or null. */
    static Element child(Element parent, String name) {
        return children(parent, name).stream().findFirst().orElse(null);
    }

    /** The children of that name; none if there is no parent. */
    static List<Element> children(Element parent, String name) {
        List<Element> found = new ArrayList<>();
        if (parent != null) {
            for (Node node = parent.getFirstChild(); node != null; node = node.getNextSibling()) {
                if (node instanceof Element element && element.getTagName().equals(name)) {
                    found.add(element);
                }
            }
        }
        return found;
    }

    /** The text of the first child of that name; empty if there is none. */
    static String text(Element parent, String name) {
        Element found = child(parent, name);
        return found == null ? "" : found.getTextContent().strip();
    }
}
