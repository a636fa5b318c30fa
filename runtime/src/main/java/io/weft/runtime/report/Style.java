// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.report;

/** Colours and forms of pages and drawings, for light and dark screens alike. */
final class Style {
    /** Named colours. The five hues stay apart for the usual forms of colour blindness. */
    static final String PALETTE = """
            :root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--faint:#667;--rule:#d5d9e0;--panel:#f5f6f8;
            --gemm:#2563a8;--copy:#c2631a;--collective:#8a4fa3;--reduce:#2f7d4f;--fill:#7a7a7a;--good:#2f7d4f;--bad:#b3261e}
            @media(prefers-color-scheme:dark){:root{--paper:#15181c;--ink:#e6e9ee;--faint:#9aa3b0;--rule:#333a44;--panel:#1d2127;
            --gemm:#6aa5e8;--copy:#f0a35e;--collective:#c796dd;--reduce:#6fc193;--fill:#a0a0a0;--good:#6fc193;--bad:#ff8a80}}
            """;

    /** A topology drawing. */
    static final String TOPOLOGY = """
            .topology text{font:13px system-ui,sans-serif;fill:var(--ink)}.topology .paper{fill:var(--paper)}
            .link{stroke:var(--faint);stroke-width:1.6;stroke-opacity:.8}.link:hover{stroke-opacity:1;stroke-width:3}
            .link.fabric{stroke:var(--gemm)}.link.in-package{stroke:var(--reduce)}.link.switched-fabric{stroke:var(--collective)}
            .link.network{stroke:var(--copy)}.link.pcie{stroke-dasharray:6 4}.link.host{stroke-dasharray:2 4}
            .link.one-way{stroke:var(--bad);stroke-width:2.4}
            .device{fill:var(--panel);stroke:var(--ink);stroke-width:1.5}.topology .device-label{font-weight:600}
            .topology .address{font-size:9.5px;fill:var(--faint)}.topology .headline{font-size:17px;font-weight:600}
            .numa{fill:none;stroke:var(--rule);stroke-width:10}.numa-plate{fill:var(--rule)}.topology .numa-label{font-size:11px}
            .card rect{fill:var(--paper);stroke:var(--copy);stroke-width:1.3}.topology .card-label{font-size:10px}
            .topology .legend{font-size:12px}.topology .caption{font-size:12px;fill:var(--faint)}.cell{fill:var(--gemm)}
            """;

    /** Everything else on a page. */
    static final String PAGE = """
            *{box-sizing:border-box}body{margin:0 auto;max-width:1400px;padding:24px;background:var(--paper);color:var(--ink);
            font:15px/1.5 system-ui,sans-serif}h1{font-size:24px;margin:0 0 4px}h2{font-size:19px;margin:36px 0 8px}
            h3{font-size:15px;margin:20px 0 6px}p{margin:6px 0;max-width:80ch}.faint{color:var(--faint)}
            .label{display:inline-block;border:1px solid var(--copy);color:var(--copy);border-radius:4px;padding:0 8px;font-weight:600}
            .scroll{overflow-x:auto}table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}
            th,td{padding:4px 8px;border-bottom:1px solid var(--rule);text-align:right;white-space:nowrap}
            th{color:var(--faint);font-weight:600}th.l,td.l{text-align:left}tr.sum td{font-weight:600}
            figure{margin:8px 0 0}summary{cursor:pointer;font-size:13px;color:var(--faint)}svg{max-width:100%;height:auto;display:block}.topology{max-width:760px}
            .plot text{font:11px system-ui,sans-serif;fill:var(--faint)}.plot .name{fill:var(--ink)}.plot .grid{stroke:var(--rule)}
            .gemm{fill:var(--gemm)}.copy{fill:var(--copy)}.collective{fill:var(--collective)}.reduce{fill:var(--reduce)}
            .fill{fill:var(--fill)}.chosen{fill:var(--good)}.other{fill:var(--faint);fill-opacity:.55}
            .key{font-size:12px;color:var(--faint)}.key b{display:inline-block;width:10px;height:10px;border-radius:2px;margin:0 5px 0 14px}
            """;

    /** Memory over time and in place. */
    static final String MEMORY = """
            .area{fill:var(--gemm);fill-opacity:.25;stroke:var(--gemm)}.line{fill:none;stroke-width:1.6}.hover{fill:transparent}
            .hover:hover{fill:var(--ink);fill-opacity:.12}.weft{stroke:var(--good)}.caching{stroke:var(--copy)}.bestfit{stroke:var(--collective)}
            .out{fill:var(--gemm)}.small{fill:var(--reduce)}.held{fill:var(--collective)}.free{fill:var(--rule)}
            .out,.small,.held{stroke:var(--paper);stroke-width:.4}.out:hover,.small:hover,.held:hover{fill:var(--ink)}
            .edge{stroke:var(--ink);stroke-width:.7}
            """;

    private Style() {}
}
