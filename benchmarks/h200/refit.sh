#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Fits the machine document anew to the times that stand in its head and to schedules of every second shape of shapes.txt, and holds it
# against the times of the other shapes; needs no GPU.
#
#     benchmarks/h200/refit.sh            # ./weft of this checkout
#     WEFT=weft benchmarks/h200/refit.sh
#
# What it writes: the document of the plugin; predicted-overlap.md and predicted-models.md of the report, by that document; and
# predicted-exchanged.md, by one that was fitted to the other half of the shapes and held against the first. Then rebuild (the document
# ships in the plugin) and run tables.py.
set -eu
cd "$(dirname "$0")/../.."
weft=${WEFT:-./weft}
report=docs/reports/h200
machine=hal-nvidia-cuda/src/main/resources/io/weft/cuda/machines/h200-2.yaml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# half 1|0 OPTION: the option before the odd or the even shapes.
half() { grep -v '^#' benchmarks/h200/shapes.txt | awk -v half="$1" -v option="$2" 'NR % 2 == half { print option, $1 }'; }

# fit HALF NAME FILE
fit() {
    # shellcheck disable=SC2046
    "$weft" calibrate --on 'cuda:h200-2?mode=timing' --times "$machine" --start "$machine" --schedules "$report/overlap.json" \
        $(half "$1" --shape) --name "$2" --out "$3"
}

# hold HALF NAME URI REPORT
hold() {
    # shellcheck disable=SC2046
    "$weft" bench predict --on "$3" --results "$report/$2.json" $(half "$1" --except) --markdown "$report/$4.md" | tail -n 1
}

fit 0 h200-2-exchanged "$work/exchanged.yaml" >"$work/log"
fit 1 h200-2 "$work/h200-2.yaml"
sed -i '2s|^#$|#\n# Two NVIDIA H200 of one host with 18 NVLinks between them. How well it predicts what took no part in the fit: docs/reports/h200.\n#|' \
    "$work/h200-2.yaml"
mv "$work/h200-2.yaml" "$machine"
cp "$machine" "$work/fitted.yaml"
# By names that are the same wherever this runs.
ln -s "$work" fits
trap 'rm -rf "$work" fits' EXIT
hold 1 overlap 'sim:file=fits/fitted.yaml?mode=timing' predicted-overlap
hold 1 models 'sim:file=fits/fitted.yaml?mode=timing' predicted-models
hold 0 overlap 'sim:file=fits/exchanged.yaml?mode=timing' predicted-exchanged
sed -i 's|sim:file=fits/fitted.yaml|cuda:h200-2|' "$report/predicted-overlap.md" "$report/predicted-models.md"
sed -i 's|sim:file=fits/exchanged.yaml?mode=timing|h200-2 fitted to the other half of the shapes|' "$report/predicted-exchanged.md"
