// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.overlap;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.runtime.json.JsonReader;
import io.weft.scheduler.OverlapProblem;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Another program on the same devices, which runs each of its variants once whenever it is told to, so that its repetitions and Weft's alternate. It is spoken to by lines on its standard input and answers each with one line of JSON on its standard
 * output; other lines that it prints are let pass, and its error stream is ours.
 *
 * <ul>
 *   <li>{@code begin PATTERN M,N,K}: prepares a problem; the answer is an object.
 *   <li>{@code run}: runs each variant once; the answer's {@code us} holds microseconds by variant.
 *   <li>{@code end}: forgets the problem, if there is one, and says that it is ready; the answer is an object.
 * </ul>
 *
 * <p>It ends when its standard input does. For one thread.
 */
public final class PeerProgram implements AutoCloseable {
    private static final String SUBJECT = "peer program";
    /** More than any program takes to start and prepare its first problem. */
    private static final int PATIENCE_SECONDS = 120;

    private static final int GRACE_SECONDS = 10;
    /** Stands for the end of the output in the queue. */
    private static final String END = "\0";

    private final String command;
    private final Process process;
    private final Writer in;
    private final BlockingQueue<String> answers = new ArrayBlockingQueue<>(1024);

    private PeerProgram(String command, Process process) {
        this.command = command;
        this.process = process;
        this.in = process.outputWriter(StandardCharsets.UTF_8);
        Thread.ofPlatform().daemon().name("weft peer program").start(this::listen);
    }

    /**
     * Starts it.
     *
     * @param command for the shell
     */
    public static PeerProgram start(String command) {
        try {
            return new PeerProgram(
                    command,
                    new ProcessBuilder("/bin/sh", "-c", "exec " + command)
                            .redirectError(ProcessBuilder.Redirect.INHERIT)
                            .start());
        } catch (IOException failure) {
            throw new AcceleratorException(
                    ErrorCode.NOT_FOUND, SUBJECT, "'" + command + "' cannot be started: " + failure.getMessage());
        }
    }

    private void listen() {
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                if (line.startsWith("{")) {
                    answers.put(line);
                }
            }
        } catch (IOException | InterruptedException ended) {
            // Told by the end below.
        } finally {
            answers.offer(END);
        }
    }

    private JsonFields ask(String line) {
        try {
            in.write(line);
            in.write('\n');
            in.flush();
        } catch (IOException gone) {
            throw dead("it does not take '" + line + "'", gone);
        }
        try {
            String answer = answers.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
            if (answer == null) {
                throw new AcceleratorException(
                        ErrorCode.TIMEOUT,
                        SUBJECT,
                        "'" + command + "' did not answer '" + line + "' within " + PATIENCE_SECONDS + " s");
            }
            if (answer.equals(END)) {
                throw dead("it ended without an answer to '" + line + "'", null);
            }
            String place = "the answer to '" + line + "'";
            return new JsonFields(SUBJECT, place, JsonReader.parse(SUBJECT, place, answer));
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new AcceleratorException(ErrorCode.ABORTED, SUBJECT, "interrupted while waiting", stop);
        }
    }

    private AcceleratorException dead(String what, Throwable cause) {
        return new AcceleratorException(ErrorCode.UNAVAILABLE, SUBJECT, "'" + command + "': " + what, cause);
    }

    /** Prepares a problem. A variant that it cannot do is its own to tell, and left out of its rounds. */
    void begin(OverlapProblem problem) {
        ask("begin " + problem.pattern().label() + " " + problem.m() + "," + problem.n() + "," + problem.k());
    }

    /** Runs each variant once; us by variant. */
    Map<String, Double> round() {
        JsonFields us = ask("run").object("us");
        Map<String, Double> times = new LinkedHashMap<>();
        for (String variant : us.names()) {
            if (!us.isNull(variant)) {
                times.put(variant, us.number(variant));
            }
        }
        return times;
    }

    /** Forgets the problem, if there is one. */
    void end() {
        ask("end");
    }

    @Override
    public void close() {
        try {
            in.close();
        } catch (IOException gone) {
            // It has ended.
        }
        try {
            if (!process.waitFor(GRACE_SECONDS, TimeUnit.SECONDS)) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            process.destroyForcibly();
        }
    }
}
