// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import io.weft.api.DeviceProperties;
import io.weft.api.graph.CommandGraph;
import io.weft.api.topology.Topology;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Extension of a model: fits its numbers to times that were measured on another platform, and writes them down as a machine document. Deterministic; safe for any thread. */
public interface ModelFitter {
    /** What a micro-benchmark looks at, and so which numbers it decides. */
    enum Probe {
        /** Small kernels one after the other on one lane, or in turn on two. */
        LAUNCH,
        /** Copies between devices: by size, two on one pair, to all peers at once, both ways at once. */
        COPY,
        /** Copies by kernel between devices. */
        KERNEL_COPY,
        /** Copies and fills within one device. */
        LOCAL,
        /** Reductions within one device: of whole views, of views with gaps, and such that round. */
        REDUCE,
        /** One product, by shape. */
        GEMM,
        /** One product that adds to what is there, by shape and type of the result. */
        GEMM_ACCUMULATE,
        /** Products side by side. */
        GEMM_PAIR,
        /** A product beside copies. */
        GEMM_BESIDE_COPY,
        /** A collective by kind and size. */
        COLLECTIVE
    }

    /**
     * One micro-benchmark and its time.
     *
     * @param probe what it looks at
     * @param name for people, unique
     * @param graph what ran, as one device graph; graph device i was device i
     * @param nanos from the launch until everything was complete, ns
     * @param beside others that took turns with it. Where there are some, only what it took beside them counts: clocks that a power limit held down touched all of them alike. They need none of their own
     */
    record Measurement(Probe probe, String name, CommandGraph graph, double nanos, List<Measurement> beside) {
        public Measurement {
            Objects.requireNonNull(probe);
            Objects.requireNonNull(name);
            Objects.requireNonNull(graph);
            beside = List.copyOf(beside);
        }

        /** A time that counts by itself. */
        public Measurement(Probe probe, String name, CommandGraph graph, double nanos) {
            this(probe, name, graph, nanos, List.of());
        }
    }

    /**
     * What the host pays, ns; NaN where it could not be measured.
     *
     * @param issueKernelNanos a call that launches a kernel
     * @param issueCopyNanos a call that starts a copy by engine
     * @param issueEventNanos a call that records an event or makes a stream wait for one
     * @param eagerKernelNanos from a time stamp right before such a kernel to one right after it, on an idle stream
     */
    record HostCosts(double issueKernelNanos, double issueCopyNanos, double issueEventNanos, double eagerKernelNanos) {}

    /**
     * What to fit.
     *
     * @param name of the machine in the document
     * @param start the document from which to start, and what messages call it; without it one is made from the properties
     * @param devices the measured platform's devices
     * @param topology and how they are joined
     * @param measurements the times
     * @param host the host's costs
     * @param provenance what the document says about itself, by keyword: date, device, driver
     */
    record Request(
            String name,
            Optional<Document> start,
            List<DeviceProperties> devices,
            Topology topology,
            List<Measurement> measurements,
            HostCosts host,
            Map<String, String> provenance) {
        public Request {
            Objects.requireNonNull(name);
            Objects.requireNonNull(start);
            Objects.requireNonNull(topology);
            Objects.requireNonNull(host);
            devices = List.copyOf(devices);
            measurements = List.copyOf(measurements);
            provenance = java.util.Collections.unmodifiableMap(new java.util.LinkedHashMap<>(provenance));
        }
    }

    /**
     * A machine document.
     *
     * @param source what messages call it
     * @param text its text
     */
    record Document(String source, String text) {}

    /**
     * One number of the model.
     *
     * @param key where it stands in the document
     * @param start its value before, in the document's unit
     * @param value its value now
     * @param visible whether the measurements decide it; otherwise they say no more than that it is not larger, or not smaller, or nothing at all
     */
    record FittedNumber(String key, double start, double value, boolean visible) {}

    /**
     * How well the model reproduces one measurement.
     *
     * @param probe what it looks at
     * @param name for people
     * @param measuredNanos the measured time, ns
     * @param fittedNanos the fitted model's, ns
     */
    record Residual(Probe probe, String name, double measuredNanos, double fittedNanos) {
        /** Fitted over measured, minus 1. */
        public double error() {
            return fittedNanos / measuredNanos - 1;
        }
    }

    /**
     * The outcome.
     *
     * @param document the machine document
     * @param numbers every number that may be fitted
     * @param residuals one for each measurement, in their order
     */
    record Fit(String document, List<FittedNumber> numbers, List<Residual> residuals) {
        public Fit {
            numbers = List.copyOf(numbers);
            residuals = List.copyOf(residuals);
        }
    }

    /**
     * Fits.
     *
     * @throws io.weft.api.AcceleratorException BAD_DOCUMENT for a start document that cannot be read; INVALID_ARGUMENT when its devices are fewer than the measurements need
     */
    Fit fit(Request request);
}
