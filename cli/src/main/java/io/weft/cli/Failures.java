// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.api.AcceleratorException;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Turns whatever was thrown into one line on standard error and an exit code. The stack trace comes only with {@code --debug}. */
final class Failures implements IParameterExceptionHandler, IExecutionExceptionHandler {
    @Override
    public int handleParseException(ParameterException failure, String[] arguments) {
        CommandLine command = failure.getCommandLine();
        PrintWriter err = command.getErr();
        StringBuilder line = new StringBuilder(oneLine(failure.getMessage()));
        if (failure instanceof UnmatchedArgumentException unmatched) {
            String suggestions = String.join(", ", unmatched.getSuggestions());
            if (!suggestions.isEmpty()) {
                line.append("; did you mean ").append(suggestions).append('?');
            }
        }
        err.println("weft: " + line + "; see '" + command.getCommandSpec().qualifiedName() + " --help'");
        err.flush();
        if (Weft.isDebug(command)) {
            failure.printStackTrace(err);
            err.flush();
        }
        return ExitCode.UNUSABLE_INPUT;
    }

    @Override
    public int handleExecutionException(Exception failure, CommandLine command, ParseResult arguments) {
        PrintWriter err = command.getErr();
        int code = report(failure, err);
        if (Weft.isDebug(command)) {
            failure.printStackTrace(err);
        }
        err.flush();
        return code;
    }

    /** Writes the line and gives the exit code. */
    static int report(Throwable failure, PrintWriter err) {
        return switch (failure) {
            case AcceleratorException refusal -> {
                err.println("weft: " + oneLine(refusal.getMessage()));
                yield isFaultOfInput(refusal) ? ExitCode.UNUSABLE_INPUT : ExitCode.BAD_ANSWER;
            }
            case OutOfMemoryError memory -> {
                err.println("weft: this process ran out of memory (" + oneLine(memory.getMessage())
                        + "); use a smaller problem, or a timing-mode platform (?mode=timing), which holds no data");
                yield ExitCode.UNUSABLE_INPUT;
            }
            default -> {
                err.println("weft: internal error, please report it: "
                        + failure.getClass().getSimpleName()
                        + ": "
                        + oneLine(failure.getMessage())
                        + " (run again with --debug for the stack trace)");
                yield ExitCode.BAD_ANSWER;
            }
        };
    }

    private static boolean isFaultOfInput(AcceleratorException refusal) {
        return switch (refusal.code()) {
            case INTERNAL, STREAM_FAILED, DEVICE_LOST, VENDOR, ABORTED, TIMEOUT, COLLECTIVE_MISMATCH -> false;
            default -> true;
        };
    }

    /** Messages of other libraries may hold line breaks and control characters. */
    static String oneLine(String text) {
        if (text == null || text.isBlank()) {
            return "no further information";
        }
        String line = text.strip().replaceAll("\\s*[\\r\\n]+\\s*", " ").replaceAll("\\p{Cntrl}", "?");
        return line.length() <= 2000 ? line : line.substring(0, 2000) + "...";
    }
}
