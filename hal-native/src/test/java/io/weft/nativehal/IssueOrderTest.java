// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class IssueOrderTest {
    private final OpenCalls calls = new OpenCalls();
    private final IssueOrder order = new IssueOrder(calls);

    private static final class Part implements IssueOrder.Entry {
        private final String name;
        private boolean complete;

        Part(String name) {
            this.name = name;
        }

        @Override
        public boolean isComplete() {
            return complete;
        }

        @Override
        public String describe() {
            return name;
        }
    }

    private final Part a = new Part("a");
    private final Part b = new Part("b");
    private final Part c = new Part("c");

    private void issue(Part part, Object stream, boolean last) {
        part.complete = last;
        order.issued(part, stream);
        order.look();
    }

    @Test
    void equalOrdersAreForgottenOnceAllIsComplete() {
        issue(a, 0, false);
        issue(b, 0, false);
        issue(a, 1, true);
        assertTrue(order.isNoting());
        issue(b, 1, true);
        assertFalse(order.isNoting());
        assertTrue(calls.isEmpty());
    }

    @Test
    void crossedOrdersAreTold() {
        issue(a, 0, false);
        issue(b, 1, false);
        issue(b, 0, true);
        assertTrue(calls.isEmpty(), "a may still come first on another stream");
        issue(a, 1, true);
        assertFalse(calls.isEmpty());
        String text = calls.describe();
        assertTrue(text.contains("a and b wait") || text.contains("b and a wait"), text);
        assertTrue(order.isCircular(List.of(a)));
        order.forget(List.of(a));
        assertTrue(calls.isEmpty());
        assertFalse(order.isCircular(List.of(b)));
    }

    @Test
    void aCircleOfThreeIsTold() {
        issue(a, 0, false);
        issue(b, 0, false);
        issue(b, 1, true);
        issue(c, 1, false);
        issue(c, 2, true);
        issue(a, 2, true);
        assertFalse(calls.isEmpty());
        assertEquals(
                3,
                List.of(a, b, c).stream()
                        .filter(part -> order.isCircular(List.of(part)))
                        .count());
    }
}
