// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.ElementType;
import io.weft.api.Platform;
import io.weft.runtime.model.ModelConfig;
import io.weft.runtime.plan.Plan;
import io.weft.runtime.plan.PlanRequest;
import io.weft.runtime.plan.PlanService;
import io.weft.runtime.plan.Progress;
import io.weft.runtime.settings.EffectiveSettings;
import io.weft.runtime.sketch.SketchPlatform;
import io.weft.scheduler.Deployment;
import io.weft.scheduler.TransformerModel;
import java.io.StringReader;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

final class HtmlReportTest {
    private static final String NASTY = "<script>alert('x')</script> & \"quotes\" \u0007";

    private static String page(String name, int devices, int tp) {
        Platform platform = SketchPlatform.ring(devices, 50, name);
        ModelConfig model =
                new ModelConfig(TransformerModel.dense(name, 2, 1024, 16, 16, 64, 4096), List.of("note of " + name));
        Plan plan = new PlanService(EffectiveSettings.defaults())
                .plan(
                        platform,
                        new PlanRequest(model, Deployment.tensorParallel(4096, tp, ElementType.BF16), "model", true),
                        Progress.NONE);
        return HtmlReport.of(plan, platform);
    }

    private static Document parse(String page) throws Exception {
        // The page closes every element, so apart from the document type and void elements it reads as XML.
        String xml = page.replace("<!DOCTYPE html>", "").replaceAll("<meta ([^>]*)>", "<meta $1/>");
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(xml)));
    }

    @Test
    void thePageIsWellFormedAndNeedsNothingElse() throws Exception {
        String page = page("small", 8, 8);
        Document document = parse(page);
        for (String outside : List.of("http://", "https://", "src=", "url(", "<script", "<link", "@import")) {
            String rest = page.replace("http://www.w3.org/2000/svg", "");
            assertFalse(rest.contains(outside), outside);
        }
        assertEquals(0, document.getElementsByTagName("script").getLength());
        // A timeline of the first devices, one of the others, and candidates for each of four problems; and the
        // machine.
        assertEquals(4 * 3 + 1, document.getElementsByTagName("svg").getLength());
    }

    @Test
    void thePageSaysThatItsFiguresAreAModels() {
        assertTrue(page("small", 2, 2).contains("predicted by a model of the machine; nothing was measured"));
    }

    @Test
    void namesAreNeverMarkup() throws Exception {
        String page = page(NASTY, 2, 2);
        parse(page);
        assertFalse(page.contains("<script>alert"));
        assertTrue(page.contains("&lt;script&gt;"));
        assertFalse(page.contains("\u0007"));
    }

    @Test
    void aMachineTooLargeToDrawIsCounted() {
        assertTrue(page("small", 513, 8).contains("513 devices, too many to draw"));
    }

    @Test
    void equalPlansGiveEqualPages() {
        assertEquals(page("small", 8, 8), page("small", 8, 8));
    }
}
