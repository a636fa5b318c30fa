#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks and measures Weft on a machine with NVIDIA GPUs, in one call:
#
#     benchmarks/h200/run.sh [STEP...]
#
# Steps, in this order unless named:
#   env        driver, libraries, links
#   probe      weft backends and topo
#   smoke      every pattern and schedule on small data, every number checked
#   conform1   conformance FULL on one device; conform2: on all. A rule that does not end within PATIENCE counts as hanging, and the log's last line names the rule if the whole process dies
#   proof      that copies between devices ran on copy engines, told by CUPTI
#   issue      host cost of each call: Weft's, and of the vendor's own calls from C
#   duel       PyTorch, Weft's serial schedule and its choice in turn, repetition by repetition, on the shapes of the published comparison
#   models     the same on the layers of Llama-3-70B and Qwen2.5-72B
#   overlap    every schedule, PyTorch in turn with them, on the shapes of the published comparison
#   calibrate  the machine document
#   predict    the document's predictions against the times of overlap and models
#   memory     traces of $TRACES and of PyTorch training steps made here: through Weft's pool in the device's memory, the device's allocators called from C, and PyTorch's own
#   torch      PyTorch by itself
#
# Each has a time limit and a log of its own; a step that fails does not stop the others. Results go to $OUT (or
# benchmarks/h200/target/out) after each step: summary.txt, logs.tar.gz, and JSON files of the reports.
#
# Settings by environment:
#   IMAGE   the packed image (benchmarks/h200/target/weft-image.tar.xz, made by pack.sh) or an unpacked one
#   SHAPES       file of shapes for duel, overlap and torch (benchmarks/h200/shapes.txt)
#   MODELS       file of shapes for models (benchmarks/h200/models.txt)
#   TRACES       folder of memory traces, 'op,id,bytes,stream' as gzip (none)
#   REPETITIONS  counted rounds (20)
#   PATIENCE     seconds for one rule of conformance (15)
#   RULES        only these rules of conformance, parted by commas
#   LIMIT_STEP   seconds for a step in place of its own limit
#   ON           the platform (cuda:native)
#   SELECT       how the choice is made: auto, heuristic, model, measured (auto)
#
# No setting of a GPU is changed, and NVLink multicast stays off.
set -u
here=$(CDPATH='' cd "$(dirname "$0")" && pwd -P)
root=$(CDPATH='' cd "$here/../.." && pwd -P)
OUT=${OUT:-$here/target/out}
WORK=${WORK:-/tmp/weft-h200}
ON=${ON:-cuda:native}
SHAPES=${SHAPES:-$here/shapes.txt}
MODELS=${MODELS:-$here/models.txt}
PATIENCE=${PATIENCE:-15}
RULES=${RULES:-}
TRACES=${TRACES:-}
SELECT=${SELECT:-}
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
    # Where the process dies in a library, this file has the Java stack.
    JDK_JAVA_OPTIONS="-XX:ErrorFile=$WORK/logs/$1-crash.log ${JDK_JAVA_OPTIONS:-}" "$weft" conform --on "$2" --level full --patience "$PATIENCE" ${RULES:+--rule "$RULES"} --verbose --report "$WORK/$1"
    local status=$?
    cp -f "$WORK/$1/report.json" "$WORK/results/$1.json" 2>/dev/null
    tar -C "$WORK" -czf "$WORK/logs/$1.tar.gz" "$1" 2>/dev/null
    return $status
}

# What ran on the devices, told by CUPTI after it ran: copies with the kind of channel that carried them, and kernels. The same schedule with kernel copies is the control, in which our copy kernel must show and no copy
# between devices may.
do_proof() {
    local cuda header engine library=$WORK/libactivities.so
    header=$(find /usr/local /opt -name cupti_activity.h -not -path '*/nsight*' 2>/dev/null | head -n 1)
    cuda=$(find /usr/local /opt -name 'libcupti.so.1[2-9]' -not -path '*nsight*' 2>/dev/null | head -n 1)
    echo "headers: ${header:-none}; library: ${cuda:-none}"
    if [ -n "$header" ] && [ -n "$cuda" ] &&
        gcc -O2 -shared -fPIC -I"$(dirname "$header")" -I/usr/local/cuda/include -o "$library" "$here/activities.c" "$cuda" \
            -Wl,-rpath,"$(dirname "$cuda")" -lpthread; then
        for engine in copy-engine kernel; do
            CUDA_INJECTION64_PATH=$library ACTIVITIES_OF_WEFT=$WORK/results/proof-$engine.tsv timeout 60 "$weft" run --on "$ON" \
                --pattern all-gather-gemm --m 4096 --n 4096 --k 4096 --ranks 2 --schedule "shard-p2p/engine=$engine" || return 1
            echo "--- shard-p2p with engine=$engine: times, bytes, what"
            cut -c1-160 "$WORK/results/proof-$engine.tsv"
        done
        if grep -q 'weft_copy' "$WORK/results/proof-copy-engine.tsv"; then
            echo "NOT PROVEN: a copy kernel of ours ran in the schedule by copy engines"
            return 1
        fi
        if grep -q 'copy by compute, device to device' "$WORK/results/proof-copy-engine.tsv"; then
            echo "NOT PROVEN: a copy between devices ran on multiprocessors in the schedule by copy engines"
            return 1
        fi
        grep -q 'copy by copy engine, device to device' "$WORK/results/proof-copy-engine.tsv" && grep -q 'weft_copy' "$WORK/results/proof-kernel.tsv" && {
            echo "PROVEN: copies ran on copy engines' channels, and no copy kernel ran; the control ran ours"
            return 0
        }
        echo "NOT PROVEN by CUPTI"
    fi
    proof_by_ncu
}

# Slower and weaker: a few kernels of each run, by name. NCCL's are left out, for they wait for each other and ncu runs one at a time.
proof_by_ncu() {
    command -v ncu >/dev/null || {
        echo "there is no ncu here"
        return 1
    }
    local engine
    for engine in copy-engine kernel; do
        timeout 60 ncu --target-processes all --clock-control none --set none --metrics gpu__time_duration.sum --kernel-name 'regex:^(?!nccl)' \
            --launch-count 40 --csv --log-file "$WORK/logs/proof-$engine.csv" \
            "$weft" run --on "$ON" --pattern all-gather-gemm --m 4096 --n 4096 --k 4096 --ranks 2 --schedule "shard-p2p/engine=$engine"
        echo "kernels of shard-p2p with engine=$engine:"
        grep -o '"[^"]*([^"]*)"' "$WORK/logs/proof-$engine.csv" | sort | uniq -c | sort -rn | head -20
    done
    return 1
}

# What the host spends on each call, once its code is compiled, and what the vendor's calls by themselves cost.
do_issue() {
    local status=0 header library
    "$weft" bench issue --on "$ON" --json "$WORK/results/issue.json" || status=1
    header=$(find /usr/local /opt -name cublasLt.h 2>/dev/null | head -n 1)
    library=$(find /usr/local /opt -name 'libcublasLt.so.1[2-9]' 2>/dev/null | head -n 1)
    if [ -z "$header" ] || [ -z "$library" ]; then
        echo "no floor: header ${header:-none}, library ${library:-none}"
        return $status
    fi
    # The driver's library is where the driver is, and a stub stands for it where programs are linked.
    gcc -O2 -I"$(dirname "$header")" -o "$WORK/floor" "$here/floor.c" -L"$(dirname "$library")" -L"$(dirname "$library")/stubs" \
        -l:"$(basename "$library")" -lcudart -lcuda -Wl,-rpath,"$(dirname "$library")" &&
        "$WORK/floor" "$root/hal-nvidia-cuda/src/main/resources/io/weft/cuda/weft_kernels.ptx" >"$WORK/results/floor.json" &&
        cat "$WORK/results/floor.json" || status=1
    return $status
}

# PyTorch and Weft take turns in every round: GEMM alone, communication alone, serial, overlapped, of both. A bench of many schedules keeps a device at its power limit all the time, which slows each of its products; these rounds do not.
beside() { # NAME SHAPES ARGUMENTS...
    local name=$1 shapes=$2
    shift 2
    "$weft" bench overlap --on "$ON" --shapes "$shapes" --repetitions "$REPETITIONS" "$@" ${SELECT:+--select "$SELECT"} \
        --peer-program "python3 '$root/benchmarks/torch/overlap.py' --serve" --json "$WORK/results/$name.json"
}

do_duel() { beside duel "$SHAPES" --schedule serial; }

do_models() { beside models "$MODELS" --schedule serial; }

do_overlap() { beside overlap "$SHAPES"; }

# The vendor's allocators from C, PyTorch's as it records itself, and Weft's pool, over the same traces.
do_memory() {
    local status=0 header trace name
    python3 "$root/benchmarks/torch/memory.py" --out "$WORK/memory" || status=1
    cp -f "$WORK/memory/memory.json" "$WORK/results/memory-torch.json"
    tar -C "$WORK" -czf "$WORK/logs/memory-traces.tar.gz" memory
    header=$(find /usr/local /opt -name cuda.h -path '*include/cuda.h' 2>/dev/null | head -n 1)
    gcc -O2 -I"$(dirname "$header")" -o "$WORK/allocators" "$here/allocators.c" -L"$(dirname "$header")/../lib64/stubs" -L/usr/local/cuda/lib64/stubs -lcuda || status=1
    for trace in ${TRACES:+"$TRACES"/*.csv.gz} "$WORK"/memory/snapshot.pickle "$WORK"/memory/trace.json.gz "$WORK"/memory/timeline.raw.json.gz; do
        [ -s "$trace" ] || continue
        name=$(basename "$trace")
        name=${name%%.*}
        case $trace in
        *.csv.gz)
            gzip -dc "$trace" >"$WORK/$name.csv"
            "$WORK/allocators" "$WORK/$name.csv" 7 >"$WORK/results/memory-$name-vendor.json" || status=1
            cat "$WORK/results/memory-$name-vendor.json"
            ;;
        esac
        "$weft" pool replay "$trace" --on "$ON" --passes 7 --json >"$WORK/results/memory-$name.json" || status=1
        cat "$WORK/results/memory-$name.json"
        "$weft" pool replay "$trace" || status=1
    done
    return $status
}

do_torch() {
    python3 "$root/benchmarks/torch/overlap.py" --shapes "$SHAPES" --repetitions "$REPETITIONS" --json "$WORK/results/torch.json"
}

do_calibrate() {
    "$weft" calibrate --on "$ON" --name h200-2 --out "$WORK/results/h200-2.yaml"
}

# Needs no GPU: the document that was made here, or the one that ships.
do_predict() {
    local status=0 name machine=$WORK/results/h200-2.yaml on except=()
    on="sim:file=$machine?mode=timing"
    if [ ! -s "$machine" ]; then
        on="cuda:h200-2?mode=timing"
        # refit.sh fitted it to every second shape.
        mapfile -t except < <(grep -v '^#' "$here/shapes.txt" | awk 'NR % 2 == 1 { print "--except\n" $1 }')
    fi
    for name in overlap models; do
        if [ -s "$WORK/results/$name.json" ]; then
            "$weft" bench predict --on "$on" --results "$WORK/results/$name.json" "${except[@]}" --markdown "$WORK/results/predict-$name.md" || status=1
        fi
    done
    return $status
}

steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(env probe smoke conform1 conform2 proof issue duel models overlap calibrate predict)
unpack || {
    say "FAILED  unpack: $IMAGE"
    exit 1
}
export weft WORK ON TRACES SHAPES MODELS REPETITIONS PATIENCE RULES SELECT root here
export -f do_memory do_env do_probe do_smoke do_conform do_proof proof_by_ncu do_issue do_torch do_overlap do_duel do_models do_calibrate do_predict beside
failed=0
for name in "${steps[@]}"; do
    case $name in
    env) step env 60 bash -c do_env ;;
    probe) step probe 90 bash -c do_probe ;;
    smoke) step smoke 240 bash -c do_smoke ;;
    conform1) step conform1 180 bash -c "do_conform conformance-1 '$ON?devices=0&stall-timeout-ms=3000'" ;;
    conform2) step conform2 240 bash -c "do_conform conformance-2 '$ON?stall-timeout-ms=3000'" ;;
    proof) step proof 180 bash -c do_proof ;;
    issue) step issue 120 bash -c do_issue ;;
    duel) step duel 180 bash -c do_duel ;;
    models) step models 420 bash -c do_models ;;
    predict) step predict 60 bash -c do_predict ;;
    memory) step memory 300 bash -c do_memory ;;
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
    probe | smoke | proof | issue | memory | overlap | torch | duel | models | predict)
        echo "--- $name"
        tail -n 40 "$WORK/logs/$name.log" | cut -c1-220
        ;;
    esac
done
echo "--- summary"
cat "$summary"
exit $failed
