// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import java.io.PrintWriter;
import java.io.StringWriter;

/** One call of the command inside the test's own process. */
record Invocation(int code, String out, String err) {
    static Invocation of(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = Weft.execute(new PrintWriter(out), new PrintWriter(err), arguments);
        return new Invocation(code, out.toString(), err.toString());
    }
}
