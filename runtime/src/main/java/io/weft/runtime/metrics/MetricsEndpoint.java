// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.metrics;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/** Serves {@code /metrics} in Prometheus' text format, on this host's loopback address alone. Started by the setting {@code metrics.port}. */
public final class MetricsEndpoint implements AutoCloseable {
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JobMetrics metrics = new JobMetrics(registry);
    private final HttpServer server;

    private MetricsEndpoint(HttpServer server) {
        this.server = server;
    }

    /**
     * Starts.
     *
     * @param port to listen on, 0 for any that is free
     * @throws AcceleratorException UNAVAILABLE when the port is taken
     */
    public static MetricsEndpoint start(int port) {
        HttpServer server;
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        } catch (IOException taken) {
            throw new AcceleratorException(
                    ErrorCode.UNAVAILABLE,
                    "metrics",
                    "port " + port + " cannot be listened on (" + taken.getMessage()
                            + "); set metrics.port to another one, or to 0 for any that is free");
        }
        MetricsEndpoint endpoint = new MetricsEndpoint(server);
        server.createContext("/metrics", endpoint::answer);
        server.start();
        return endpoint;
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            if (!exchange.getRequestMethod().equals("GET")
                    || !exchange.getRequestURI().getPath().equals("/metrics")) {
                exchange.sendResponseHeaders(404, -1);
                return;
            }
            byte[] text = registry.scrape().getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
            exchange.sendResponseHeaders(200, text.length);
            exchange.getResponseBody().write(text);
        }
    }

    /** Where it listens. */
    public int port() {
        return server.getAddress().getPort();
    }

    /** What it serves. */
    public JobMetrics metrics() {
        return metrics;
    }

    /** The text that it would serve now. */
    public String scrape() {
        return registry.scrape();
    }

    /** Stops listening. */
    @Override
    public void close() {
        server.stop(0);
        registry.close();
    }
}
