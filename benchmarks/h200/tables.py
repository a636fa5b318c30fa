#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Writes the tables of a report on hardware from its raw files:
#
#     benchmarks/h200/tables.py docs/reports/h200
#
# The folder's README.md holds places '<!-- table NAME -->' ... '<!-- end -->'; what stands between them is replaced. Only
# the raw files beside it are read, so no number of a table is typed by hand. '--check' changes nothing and fails if
# the page is not what the files say.
import json
import math
import pathlib
import re
import sys

PATTERNS = ["all-gather-gemm", "gemm-reduce-scatter"]
# The aims of the comparison.
LEAST_RATIO = 0.98
SHARE_AIM = 0.85
WORTH_FROM = 1.1
COMMAND_AIM_NS = 2000


def main(arguments):
    check = "--check" in arguments
    folder = pathlib.Path([a for a in arguments if a != "--check"][0])
    page = folder / "README.md"
    old = page.read_text()
    new = re.sub(
        r"(<!-- table ([a-z-]+) -->\n).*?(<!-- end -->)",
        lambda m: m[1] + "\n" + TABLES[m[2]](folder) + "\n\n" + m[3],
        old,
        flags=re.DOTALL,
    )
    if check:
        if new != old:
            sys.exit(f"{page} is not what its raw files say; run {sys.argv[0]} {folder}")
        return
    page.write_text(new)


def load(folder, name):
    return json.loads((folder / name).read_text())


def table(heads, rows):
    """Markdown; a head that begins with '>' is of numbers."""
    lines = ["| " + " | ".join(h.lstrip(">") for h in heads) + " |"]
    lines.append("|" + "|".join("---:" if h.startswith(">") else "---" for h in heads) + "|")
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def geometric(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def shape(r):
    return f"{r['m']}, {r['n']}, {r['k']}"


def ratios(r):
    return {
        "Weft's serial": r["serialUs"] / r["choiceUs"],
        "PyTorch serial": r["peer"]["serial"] / r["choiceUs"],
        "PyTorch async TP": r["peer"]["async-tp"] / r["choiceUs"],
    }


def choices(folder, name, names):
    rows = []
    for r in load(folder, name)["results"]:
        peer = r["peer"]
        row = [r["pattern"], shape(r)]
        if names:
            row[0:0] = [r.get("name", "").replace(" (Qwen2.5-72B has the same)", ", Qwen2.5-72B")]
        row += [r["choice"], f"{r['choiceUs']:.0f}", f"{r['serialUs']:.0f}", f"{r['gemmUs']:.0f}"]
        row += [f"{peer['serial']:.0f}", f"{peer['async-tp']:.0f}"]
        row += [f"{v:.3f}x" for v in ratios(r).values()]
        row += [f"{r['idealSpeedup']:.2f}x", f"{100 * r['choiceShareOfIdeal']:.0f} %"]
        rows.append(row)
    heads = ["layer"] if names else []
    heads += ["pattern", "M, N, K", "choice", ">us", ">serial", ">GEMM alone", ">PyTorch serial", ">PyTorch async TP"]
    heads += [">over serial", ">over PyTorch serial", ">over async TP", ">ideal", ">share of ideal"]
    return table(heads, rows)


def verified(results):
    schedules = [s for r in results for s in r["schedules"]]
    return f"{sum(s['check']['verified'] for s in schedules)} of {len(schedules)}"


def summary(folder, name):
    data = load(folder, name)
    results = data["results"]
    rows = []
    for pattern in PATTERNS:
        of = [r for r in results if r["pattern"] == pattern]
        for other in ratios(of[0]):
            values = [ratios(r)[other] for r in of]
            least = min(of, key=lambda r: ratios(r)[other])
            below = sum(v < LEAST_RATIO for v in values)
            rows.append(
                [pattern, other, f"{geometric(values):.2f}x", f"{min(values):.3f}x", shape(least), f"{below} of {len(of)}"]
            )
    heads = ["pattern", "over", ">geometric mean", ">smallest", "where", f">below {LEAST_RATIO}"]
    shares = []
    for pattern in PATTERNS:
        of = [r["choiceShareOfIdeal"] for r in results if r["pattern"] == pattern and r["idealSpeedup"] > WORTH_FROM]
        shares.append(
            [
                pattern,
                len(of),
                sum(v >= SHARE_AIM for v in of),
                f"{100 * median(of):.0f} %",
                f"{100 * min(of):.0f} %",
                f"{100 * max(of):.0f} %",
                f"{geometric([r['gemmUs'] / r['choiceUs'] for r in results if r['pattern'] == pattern]):.3f}x",
            ]
        )
    shares = table(
        [
            f"pattern, ideal above {WORTH_FROM}",
            ">problems",
            f">at least {100 * SHARE_AIM:.0f} % of the ideal gain",
            ">median",
            ">least",
            ">most",
            ">GEMM alone over the choice, geometric mean of all",
        ],
        shares,
    )
    return (
        f"{data['date']}, {data['rounds']} counted rounds; {verified(results)} schedules right.\n\n"
        + table(heads, rows)
        + "\n\n"
        + shares
    )


def median(values):
    values = sorted(values)
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def kept(folder):
    """What the choices of an earlier run, seen again, are worth among all schedules of a later one."""
    rows = []
    for r in load(folder, "overlap.json")["results"]:
        best = min(r["schedules"], key=lambda s: s["us"])
        rows.append(
            [
                r["pattern"],
                shape(r),
                r["choice"],
                f"{r['choiceUs']:.0f}",
                best["schedule"],
                f"{best['us']:.0f}",
                f"{100 * (r['choiceUs'] / best['us'] - 1):.1f} %",
                *[f"{v:.3f}x" for v in ratios(r).values()],
            ]
        )
    heads = ["pattern", "M, N, K", "choice", ">us", "best of all", ">us", ">behind it"]
    return table(heads + [">over serial", ">over PyTorch serial", ">over async TP"], rows)


def conformance(folder):
    reports = [load(folder, f"conformance-{n}.json") for n in (1, 2)]
    outcomes = [k for k in reports[0]["counts"] if any(r["counts"][k] for r in reports)]
    rows = []
    for r in reports:
        bad = sum(r["counts"][k] for k in ("broken", "not followed", "hung", "unexpected pass", "not judged"))
        rows.append(
            [
                len(r["environment"]["devices"]),
                r["options"]["level"],
                "good" if r["good"] else "NOT GOOD",
                *[r["counts"][k] for k in outcomes],
                bad,
                f"{r['seconds']:.0f} s",
            ]
        )
    heads = [">devices", "level", "verdict"] + [">" + k for k in outcomes]
    text = table(heads + [">broken, hung or not judged", ">took"], rows)
    reasons = {}
    for r in reports:
        n = len(r["environment"]["devices"])
        for rule in r["rules"]:
            if rule["outcome"] == "not applicable":
                reasons.setdefault(rule["reason"], {}).setdefault(n, []).append(rule["id"])
    rows = []
    for reason, by in sorted(reasons.items(), key=lambda e: -sum(map(len, e[1].values()))):
        rows.append([reason, len(by.get(1, [])), len(by.get(2, []))])
    text += "\n\n" + table(["not applicable, because", ">one device", ">two devices"], rows)
    unproven = [f"{x['id']} ({x['reason']})" for x in reports[1]["rules"] if x["outcome"] == "unproven"]
    return text + "\n\nUnproven: " + "; ".join(unproven) + "."


def versions(folder):
    report = load(folder, "conformance-2.json")
    environment = report["environment"]
    rows = [["machine", environment["machine"]], ["devices", ", ".join(environment["devices"])]]
    rows += [[k, v] for k, v in environment["versions"].items()]
    rows += [["Java", environment["jdk"]], ["system", environment["os"]]]
    rows += [["conformance suite", f"{environment['suite']['version']}, {environment['suite']['sha256'][:16]}"]]
    return table(["what", "version"], rows)


def proof(folder):
    rows = []
    counts = {}
    for run in ("copy-engine", "kernel"):
        for line in (folder / f"proof-{run}.tsv").read_text().splitlines():
            times, size, what = line.split("\t")
            # Copies from the host bring data and library state in before the schedule.
            if what.startswith("kernel") or "device to device" in what:
                counts.setdefault(what, {})[run] = (int(times), int(size))
    for what, by in counts.items():
        cells = [f"{by[r][0]} ({by[r][1]} bytes)" if r in by and by[r][1] else by[r][0] if r in by else 0 for r in
                 ("copy-engine", "kernel")]
        rows.append([re.sub(r"_Z\d+(\w+?)24ncclDevKernelArgs\w+", r"\1", what), *cells])
    return table(["what CUPTI counted", ">copies by engine", ">control: copies by kernel"], rows)


def host(folder):
    ours = {r["what"]: r for r in load(folder, "issue.json")["rows"]}
    floor = {r["what"]: r for r in load(folder, "floor.json")["rows"]}
    vendors = {
        "fill of 4 KiB": "cuMemsetD8Async of 4 KiB",
        "copy of 4 KiB within a device": "cudaMemcpyAsync within a device, kind default",
        "copy of 4 KiB to another device, by engine": "cudaMemcpyAsync to another device, kind default",
        "copy of 4 KiB to another device, by kernel": "cuLaunchKernel of a copy of 4 KiB within a device",
        "bf16 GEMM, 32 x 32 x 32": "cublasLtMatmul, bf16, 32 x 32 x 32",
        "record of an event": "cudaEventRecord",
        "wait for an event": "cudaStreamWaitEvent",
    }
    rows = []
    for what, row in ours.items():
        below = floor.get(vendors.get(what))
        aim = "within" if row["medianNs"] < COMMAND_AIM_NS else "above"
        if what.startswith("launch"):
            aim = ""
        elif aim == "above" and below and below["medianNs"] >= COMMAND_AIM_NS:
            aim = "above, as the call alone is"
        rows.append(
            [
                what,
                f"{row['medianNs']:.0f}",
                f"{row['p90Ns']:.0f}",
                vendors.get(what, ""),
                f"{below['medianNs']:.0f}" if below else "",
                aim,
            ]
        )
    return table(["call", ">Weft, ns", ">p90", "the vendor's own call, from C", ">ns", f"aim of {COMMAND_AIM_NS} ns"], rows)


def aims(folder):
    duel, models = (load(folder, f"{n}.json")["results"] for n in ("duel", "models"))
    reports = [load(folder, f"conformance-{n}.json") for n in (1, 2)]
    rows = [
        [
            "conformance FULL on one and on two devices",
            " and ".join("good" if r["good"] and r["options"]["level"] == "full" else "not good" for r in reports),
            met(all(r["good"] for r in reports)),
        ]
    ]
    both = duel + models
    for other in ratios(duel[0]):
        least = min(ratios(r)[other] for r in both)
        rows.append(
            [
                f"the choice at least {LEAST_RATIO} of {other} on every one of {len(both)} problems",
                f"at least {least:.3f}x",
                met(least >= LEAST_RATIO),
            ]
        )
    for pattern, aim in zip(PATTERNS, (1.20, 1.13)):
        mean = geometric([ratios(r)["PyTorch async TP"] for r in duel if r["pattern"] == pattern])
        rows.append(
            [f"{pattern} over async TP, geometric mean of the eight shapes, {aim:.2f}x", f"{mean:.2f}x", met(mean >= aim)]
        )
    for pattern in PATTERNS:
        of = [r["choiceShareOfIdeal"] for r in both if r["pattern"] == pattern and r["idealSpeedup"] > WORTH_FROM]
        good = sum(v >= SHARE_AIM for v in of)
        rows.append(
            [
                f"{pattern}: {100 * SHARE_AIM:.0f} % of the ideal gain where the ideal is above {WORTH_FROM}",
                f"{good} of {len(of)}, median {100 * median(of):.0f} %",
                met(good == len(of)),
            ]
        )
    commands = [r for r in load(folder, "issue.json")["rows"] if not r["what"].startswith("launch")]
    good = sum(r["medianNs"] < COMMAND_AIM_NS for r in commands)
    rows.append(
        [f"each command issued within {COMMAND_AIM_NS} ns", f"{good} of {len(commands)} kinds", met(good == len(commands))]
    )
    for name, what in (
        ("overlap", "every schedule of the shapes not fitted"),
        ("exchanged", "the same, the halves of the shapes exchanged"),
        ("models", "serial and choice of the models' layers"),
    ):
        error, worst, mean, most = said(folder, name)[1]
        rows.append([f"{what}: median error of the prediction under 5 %", f"{error} %", met(error < 5)])
        rows.append([f"{what}: worst error under 15 %", f"{worst} %", met(worst < 15)])
        rows.append([f"{what}: regret within 2 %, mean", f"{mean} %", met(mean <= 2)])
        rows.append([f"{what}: regret within 2 %, each", f"{most} %", met(most <= 2)])
    return table(["aim", "reached", ""], rows)


def met(good):
    return "met" if good else "**missed**"


def said(folder, name):
    text = (folder / f"predicted-{name}.md").read_text()
    line = next(line for line in text.splitlines() if "median error" in line)
    numbers = re.search(
        r"median error ([\d.]+) %, worst ([\d.]+) %.*regret ([\d.]+) % in the mean, ([\d.]+) % at worst", line
    )
    return line, [float(n) for n in numbers.groups()]


def predicted(folder):
    rows = []
    for name in ("overlap", "models"):
        rows.append([f"[{name}.json](predicted-{name}.md)", said(folder, name)[0]])
    rows.append(
        ["overlap.json, [the halves of its shapes exchanged](predicted-exchanged.md)", said(folder, "exchanged")[0]]
    )
    kinds = (folder / "predicted-overlap.md").read_text()
    kinds = kinds[kinds.index("| what |"):].split("\n\n")[0]
    return table(["times of", "the model against them"], rows) + "\n\n" + kinds


def regret(folder):
    """Where the model's choice was not the best measured one, and how often the best was faster when both ran in turn."""
    text = (folder / "predicted-overlap.md").read_text()
    results = {(r["pattern"], shape(r)): r["schedules"] for r in load(folder, "overlap.json")["results"]}
    rows = []
    for line in text[text.index("| pattern | M, N, K | model's choice |") :].split("\n\n")[0].splitlines()[2:]:
        pattern, where, choice, best, lost = [cell.strip() for cell in line.strip("|").split("|")][:5]
        if choice != best:
            runs = {s["schedule"]: s for s in results[pattern, where]}
            of = list(zip(runs[best]["runsUs"], runs[choice]["runsUs"]))
            wins = sum(a < b for a, b in of)
            spread = max(runs[best]["spread"], runs[choice]["spread"])
            rows.append([pattern, where, choice, best, lost, f"{100 * spread:.1f} %", f"{wins} of {len(of)}"])
    heads = ["pattern", "M, N, K", "model's choice", "best measured", ">regret", ">larger spread of the two"]
    return table(heads + [">rounds in which the best was faster"], rows)


# Traces of the memory step: what they are, and their files.
TRACES = [
    ("LLM, full step, context 512", "pytorch-llm-ctx512-fullstep"),
    ("LLM, forward pass, context 128", "pytorch-llm-ctx128-forward"),
    ("three training steps of a transformer, recorded on this machine", "snapshot"),
]


def memory(folder):
    """The vendor's allocators from C, what PyTorch recorded of itself, and Weft's pool, over the same traces."""
    rows = []

    def row(what, who, report, held, used, calls):
        rows.append(
            [
                what,
                who,
                f"{report['coldNsPerEvent']:,.0f}" if report else "",
                f"{report['medianNsPerEvent']:,.0f}" if report else "",
                f"{report['p99Ns']:,.0f}" if report else "",
                f"{held / 1e9:.2f} GB" if held else "",
                f"{100 * (1 - used / held):.2f} %" if held else "",
                calls,
            ]
        )

    for what, name in TRACES:
        data = load(folder, f"memory-{name}.json")
        live = data["trace"]["peakAllocatedBytes"]
        of = {report["pool"]: report for report in data["pools"]}
        vendor = folder / f"memory-{name}-vendor.json"
        if vendor.exists():
            for report in json.loads(vendor.read_text())["allocators"]:
                row(what, report["allocator"] + ", from C", report, report["peakReservedBytes"], live, "")
        row(what, "the device's allocator through Weft", of["device"], 0, 0, of["device"]["deviceCalls"])
        row(what, "PyTorch, as it recorded itself", None, data["recordedPeakReservedBytes"], live, "")
        row(what, "Weft's pool", of["weft"], of["weft"]["peakReservedBytes"], live, of["weft"]["deviceCalls"])
    heads = ["trace", "allocator", ">first pass, ns per event", ">later, median", ">p99 of single events", ">held at most"]
    return table(heads + [">fragmentation", ">driver calls, first pass"], rows)


def second(folder):
    rows = [
        ["[the shipped `cuda:h200-2`](predicted-second.md), calibrated on the first machine", said(folder, "second")[0]],
        [
            "[the second machine's own calibration](predicted-second-own.md), no schedule in its fit",
            said(folder, "second-own")[0],
        ],
    ]
    return table(["model", "its predictions of overlap-second.json"], rows)


TABLES = {
    "memory": memory,
    "second": second,
    "second-summary": lambda folder: summary(folder, "overlap-second.json"),
    "regret": regret,
    "aims": aims,
    "versions": versions,
    "conformance": conformance,
    "proof": proof,
    "duel": lambda folder: choices(folder, "duel.json", False),
    "duel-summary": lambda folder: summary(folder, "duel.json"),
    "models": lambda folder: choices(folder, "models.json", True),
    "models-summary": lambda folder: summary(folder, "models.json"),
    "kept": kept,
    "kept-summary": lambda folder: summary(folder, "overlap.json"),
    "predicted": predicted,
    "host": host,
}

if __name__ == "__main__":
    main(sys.argv[1:])
