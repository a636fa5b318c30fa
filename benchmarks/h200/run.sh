#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks and measures Weft on a machine with NVIDIA GPUs, in one call:
#
#     benchmarks/h200/run.sh [STEP...]
#
# Steps, in this order unless named: env probe smoke conform1 conform2 proof torch overlap calibrate
# Each has a time limit and a log of its own; a step that fails does not stop the others. Results go to $OUT (or
# benchmarks/h200/target/out): summary.txt, logs.tar.gz, and JSON files of the reports.
#
# Settings by environment:
#   IMAGE   the packed image (benchmarks/h200/target/weft-image.tar.xz, made by pack.sh) or an unpacked one
#   SHAPES       file of shapes for the comparisons (benchmarks/h200/shapes.txt)
#   REPETITIONS  counted rounds (20)
#   LIMIT_STEP   seconds for a step in place of its own limit
#   ON           the platform (cuda:native)
#
# No setting of a GPU is changed, and NVLink multicast stays off.
set -u
here=$(CDPATH='' cd "$(dirname "$0")" && pwd -P)
root=$(CDPATH='' cd "$here/../.." && pwd -P)
OUT=${OUT:-$here/target/out}
WORK=${WORK:-/tmp/weft-h200}
ON=${ON:-cuda:native}
SHAPES=${SHAPES:-$here/shapes.txt}
REPETITIONS=${REPETITIONS:-20}
IMAGE=${IMAGE:-$here/target/weft-image.tar.xz}
export NCCL_NVLS_ENABLE=0 TORCH_SYMM_MEM_DISABLE_MULTICAST=1 NVSHMEM_DISABLE_NVLS=1
mkdir -p "$OUT" "$WORK/logs" "$WORK/results"
summary=$OUT/summary.txt
: >"$summary"

say() { echo "$*" | tee -a "$summary"; }

# step NAME SECONDS COMMAND...: runs it in the background of a time limit, keeps its log, says how it ended.
step() {
    local name=$1 limit=${LIMIT_STEP:-$2} begun=$SECONDS status
    shift 2
    timeout --kill-after=10 "$limit" "$@" >"$WORK/logs/$name.log" 2>&1 </dev/null
    status=$?
    case $status in
    0) say "ok      $name ($((SECONDS - begun)) s)" ;;
    124 | 137) say "LATE    $name: stopped after $limit s; tail of its log:" ;;
    *) say "FAILED  $name: exit code $status after $((SECONDS - begun)) s; tail of its log:" ;;
    esac
    if [ "$status" -ne 0 ]; then
        tail -n 25 "$WORK/logs/$name.log" | cut -c1-600 | sed 's/^/    /' | tee -a "$summary"
    fi
    keep
    return "$status"
}

# What there is so far goes out after each step, so that a machine that is taken away leaves it.
keep() {
    tar -C "$WORK" -czf "$OUT/logs.tar.gz.new" logs && mv -f "$OUT/logs.tar.gz.new" "$OUT/logs.tar.gz"
    find "$WORK/results" -maxdepth 1 -type f -exec cp -f {} "$OUT/" \;
}

unpack() {
    if [ -d "$IMAGE" ]; then
        weft=$IMAGE/bin/weft
        return 0
    fi
    weft=$WORK/weft/bin/weft
    if [ ! -x "$weft" ] || [ "$IMAGE" -nt "$WORK/weft" ]; then
        rm -rf "$WORK/weft"
        tar -C "$WORK" -xJf "$IMAGE" || return 1
        touch "$WORK/weft"
    fi
}

do_env() {
    nvidia-smi
    nvidia-smi topo -m
    nvidia-smi nvlink -s -i 0
    nvcc --version
    python3 -c 'import torch; print("torch", torch.__version__, "NCCL", torch.cuda.nccl.version())'
    env | grep -E '^(CUDA|NCCL|LD_LIBRARY|PATH|VIRTUAL_ENV)' | sort
    find / -xdev \( -name 'libcuda.so*' -o -name 'libcudart.so*' -o -name 'libcublasLt.so*' -o -name 'libnccl.so*' \
        -o -name 'libnvidia-ml.so*' \) 2>/dev/null
}

do_probe() {
    "$weft" backends && "$weft" topo --on "$ON" && "$weft" topo --on "$ON" --json >"$WORK/results/topology.json"
}

# Every pattern and schedule with real data, each number checked, and the element types.
do_smoke() {
    local status=0 pattern type
    for pattern in all-gather-gemm gemm-reduce-scatter gemm-all-reduce all-to-all-gemm gemm-all-to-all; do
        "$weft" run --on "$ON" --pattern "$pattern" --m 1024 --n 768 --k 640 --ranks "${RANKS:-2}" --schedule all --verify || status=1
    done
    for type in fp16 fp32 fp8 int8; do
        "$weft" run --on "$ON" --pattern all-gather-gemm --m 512 --n 256 --k 384 --ranks "${RANKS:-2}" --dtype "$type" --schedule all --verify || status=1
    done
    "$weft" run --on "$ON" --pattern all-gather-gemm --m 1000 --n 77 --k 333 --ranks "${RANKS:-2}" --schedule all --verify || status=1
    return $status
}

do_conform() { # NAME URI
    "$weft" conform --on "$2" --level full --report "$WORK/$1"
    local status=$?
    cp -f "$WORK/$1/report.json" "$WORK/results/$1.json" 2>/dev/null
    tar -C "$WORK" -czf "$WORK/logs/$1.tar.gz" "$1" 2>/dev/null
    return $status
}

# Copies by engines run no kernel: the profiler lists every kernel that ran. The same schedule with kernel copies is the control, in which ours must show.
do_proof() {
    command -v ncu >/dev/null || {
        echo "there is no ncu here"
        return 1
    }
    local engine status=0
    for engine in copy-engine kernel; do
        ncu --target-processes all --clock-control none --metrics sm__cycles_active.avg --csv --log-file "$WORK/logs/proof-$engine.csv" \
            "$weft" run --on "$ON" --pattern all-gather-gemm --m 4096 --n 4096 --k 4096 --ranks 2 --schedule "shard-p2p/engine=$engine" || status=1
        echo "kernels of shard-p2p with engine=$engine:"
        grep -o '"[^"]*([^"]*)"' "$WORK/logs/proof-$engine.csv" | sort | uniq -c | sort -rn | head -20
    done
    return $status
}

do_torch() {
    python3 "$root/benchmarks/torch/overlap.py" --shapes "$SHAPES" --repetitions "$REPETITIONS" --json "$WORK/results/torch.json"
}

do_overlap() {
    local peer=()
    [ -s "$WORK/results/torch.json" ] && peer=(--peer "$WORK/results/torch.json")
    "$weft" bench overlap --on "$ON" --shapes "$SHAPES" --repetitions "$REPETITIONS" "${peer[@]}" --json "$WORK/results/overlap.json"
}

do_calibrate() {
    "$weft" calibrate --on "$ON" --name h200-2 --out "$WORK/results/h200-2.yaml"
}

steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(env probe smoke conform1 conform2 proof torch overlap calibrate)
unpack || {
    say "FAILED  unpack: $IMAGE"
    exit 1
}
export weft WORK ON SHAPES REPETITIONS root
export -f do_env do_probe do_smoke do_conform do_proof do_torch do_overlap do_calibrate
failed=0
for name in "${steps[@]}"; do
    case $name in
    env) step env 60 bash -c do_env ;;
    probe) step probe 90 bash -c do_probe ;;
    smoke) step smoke 240 bash -c do_smoke ;;
    conform1) step conform1 240 bash -c "do_conform conformance-1 '$ON?devices=0'" ;;
    conform2) step conform2 240 bash -c "do_conform conformance-2 '$ON'" ;;
    proof) step proof 180 bash -c do_proof ;;
    torch) step torch 240 bash -c do_torch ;;
    overlap) step overlap 420 bash -c do_overlap ;;
    calibrate) step calibrate 240 bash -c do_calibrate ;;
    *)
        say "FAILED  there is no step '$name'"
        failed=1
        continue
        ;;
    esac || failed=1
done
keep
# Last, what a person reads first.
for name in "${steps[@]}"; do
    case $name in
    probe | smoke | overlap | torch)
        echo "--- $name"
        tail -n 40 "$WORK/logs/$name.log" | cut -c1-220
        ;;
    esac
done
echo "--- summary"
cat "$summary"
exit $failed
