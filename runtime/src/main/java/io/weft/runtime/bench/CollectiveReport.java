// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.bench;

import io.weft.api.ElementType;
import io.weft.runtime.json.JsonWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What {@code weft bench collectives} tells, in the terms of rccl-tests: times are microseconds, bandwidths GB/s (1e9 bytes/s).
 *
 * @param figures {@code model} or {@code measured}
 * @param platform its URI
 * @param machine its name
 * @param request what was asked for
 * @param tables one for each operation and number of ranks
 * @param notes what a reader should know, each one sentence
 */
public record CollectiveReport(
        String figures,
        String platform,
        String machine,
        CollectiveRequest request,
        List<Table> tables,
        List<String> notes) {
    /**
     * One operation over one number of ranks.
     *
     * @param operation what
     * @param ranks on how many devices
     * @param rows by type, reduction and size
     */
    public record Table(CollectiveOperation operation, int ranks, List<Row> rows) {
        public Table {
            rows = List.copyOf(rows);
        }
    }

    /**
     * One message.
     *
     * @param bytes of the larger buffer of a rank
     * @param count in elements
     * @param type element type
     * @param reduction empty where nothing is reduced
     * @param root -1 where there is none
     * @param outOfPlace with two buffers
     * @param inPlace with one; empty where the operation has no such form
     * @param algorithm what the platform says it does; empty unless asked for
     */
    public record Row(
            long bytes,
            long count,
            ElementType type,
            Optional<BenchReduction> reduction,
            int root,
            Timing outOfPlace,
            Optional<Timing> inPlace,
            String algorithm) {
        /** The type's name in rccl-tests. */
        public String typeLabel() {
            return BenchTypes.label(type);
        }

        /** The reduction's name in rccl-tests. */
        public String reductionLabel() {
            return reduction.map(BenchReduction::label).orElse("none");
        }

        private List<Timing> timings() {
            List<Timing> timings = new ArrayList<>(2);
            timings.add(outOfPlace);
            inPlace.ifPresent(timings::add);
            return timings;
        }
    }

    /**
     * How long one way took.
     *
     * @param us time of one call
     * @param algorithmGbps bytes over time
     * @param busGbps what a link carries
     * @param wrong elements that are wrong, over all ranks; empty when nothing was checked
     */
    public record Timing(double us, double algorithmGbps, double busGbps, OptionalLong wrong) {}

    public CollectiveReport {
        tables = List.copyOf(tables);
        notes = List.copyOf(notes);
    }

    private List<Timing> timings() {
        List<Timing> timings = new ArrayList<>();
        tables.forEach(table -> table.rows().forEach(row -> timings.addAll(row.timings())));
        return timings;
    }

    /** Elements that are wrong, over everything. */
    public long wrong() {
        return timings().stream().mapToLong(timing -> timing.wrong().orElse(0)).sum();
    }

    /** How many ways were checked. */
    public long checked() {
        return timings().stream().filter(timing -> timing.wrong().isPresent()).count();
    }

    /** Mean of all bus bandwidths, in and out of place. */
    public double averageBusBandwidth() {
        return timings().stream().mapToDouble(Timing::busGbps).average().orElse(0);
    }

    /** The report as JSON. What was not checked or is not there is null. */
    public String json() {
        return JsonWriter.text(json -> json.object(() -> {
            json.member("figures", figures);
            json.member("platform", platform);
            json.member("machine", machine);
            json.member("iterations", request.iterations());
            json.member("seed", request.seed());
            json.array(
                    "tables",
                    tables,
                    table -> json.object(() -> {
                        json.member("operation", table.operation().label());
                        json.member("ranks", table.ranks());
                        json.array("rows", table.rows(), row -> row(json, row));
                    }));
            json.member("averageBusGBps", averageBusBandwidth());
            json.member("wrong", wrong());
            json.array("notes", notes, json::value);
        }));
    }

    private static void row(JsonWriter json, Row row) {
        json.object(() -> {
            json.member("bytes", row.bytes());
            json.member("count", row.count());
            json.member("type", row.typeLabel());
            json.member("elementType", row.type().label());
            json.member("redop", row.reductionLabel());
            json.member("root", row.root());
            json.object("outOfPlace", () -> timing(json, row.outOfPlace()));
            if (row.inPlace().isPresent()) {
                json.object("inPlace", () -> timing(json, row.inPlace().get()));
            } else {
                json.member("inPlace", null);
            }
            if (!row.algorithm().isEmpty()) {
                json.member("algorithm", row.algorithm());
            }
        });
    }

    private static void timing(JsonWriter json, Timing timing) {
        json.member("us", timing.us());
        json.member("algbwGBps", timing.algorithmGbps());
        json.member("busbwGBps", timing.busGbps());
        if (timing.wrong().isPresent()) {
            json.member("wrong", timing.wrong().getAsLong());
        } else {
            json.member("wrong", null);
        }
    }
}
