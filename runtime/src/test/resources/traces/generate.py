#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the fixtures beside it: made-up snapshots and traces in the structure that PyTorch gives them.

The events are played once, forwards, from a state that the test knows; the snapshot is the state at the end.
"""
import gzip
import json
import os
import pickle

HERE = os.path.dirname(os.path.abspath(__file__))
MIB = 1 << 20
BASE = 0x7F0000000000
FRAMES = [{"filename": "model.py", "name": "forward", "line": 7}]


def entry(action, addr, size, stream, time, **more):
    where = "device_free" if action == "oom" else "addr"
    return {"action": action, where: addr, "size": size, "stream": stream, "time_us": time, "compile_context": "N/A",
            "user_metadata": "", "frames": FRAMES, **more}


def block(address, size, requested, state):
    return {"address": address, "size": size, "requested_size": requested, "state": state, "frames": FRAMES}


def segment(device, address, total, stream, blocks, expandable=False):
    active = [b for b in blocks if b["state"] == "active_allocated"]
    return {"device": device, "address": address, "total_size": total,
            "allocated_size": sum(b["size"] for b in active), "active_size": sum(b["size"] for b in active),
            "requested_size": sum(b["requested_size"] for b in active), "stream": stream,
            "segment_type": "large" if total > 2 * MIB else "small", "segment_pool_id": (0, 0),
            "is_expandable": expandable, "frames": [], "blocks": blocks}


# Device 1, from the start: weights of 4,000,000 bytes that nobody touches, a block of 1,000 bytes that is freed, and
# segments of 20, 2 and 2 MiB. The oldest event is the end of a free that the ring has lost the start of.
WEIGHTS, OLD, FIRST, SECOND, THIRD = BASE, BASE + 64 * MIB, BASE + 8 * MIB, BASE + 32 * MIB, BASE + 96 * MIB
SIDE = 94_000_000_000_000
T = 1_700_000_000_000_000
EVENTS = [
    entry("free_completed", OLD + MIB, 512, 0, T),
    entry("alloc", FIRST, 3_000_000, 0, T + 10),
    entry("segment_alloc", SECOND, 20 * MIB, SIDE, T + 11),
    entry("alloc", SECOND, 5_000_000, SIDE, T + 12),
    entry("free_requested", OLD, 1_000, 0, T + 13),
    entry("free_completed", OLD, 1_000, 0, T + 13),
    entry("oom", 7_000_000, 90 * MIB, 0, T + 14),
    entry("segment_map", THIRD, 6 * MIB, 0, T + 15),
    entry("alloc", THIRD, 1_500_000, 0, T + 16),
    entry("free_requested", SECOND, 5_000_000, SIDE, T + 17),
    entry("free_completed", SECOND, 5_000_000, SIDE, T + 18),
    entry("alloc", SECOND, 200, SIDE, T + 19),
    entry("free_requested", FIRST, 3_000_000, 0, T + 20),
    entry("free_completed", FIRST, 3_000_000, 0, T + 21),
    entry("segment_unmap", THIRD + 2 * MIB, 4 * MIB, 0, T + 22),
    entry("segment_free", BASE + 128 * MIB, 2 * MIB, 0, T + 23),
    entry("snapshot", 0, 0, 0, T + 24),
]
SEGMENTS = [
    segment(0, BASE - 64 * MIB, 2 * MIB, 0, [block(BASE - 64 * MIB, 2 * MIB, 2 * MIB, "active_allocated")]),
    segment(1, BASE, 20 * MIB, 0, [
        block(WEIGHTS, 4_000_256, 4_000_000, "active_allocated"),
        block(WEIGHTS + 4_000_256, 20 * MIB - 4_000_256, 3_000_000, "inactive")]),
    segment(1, SECOND, 20 * MIB, SIDE, [
        block(SECOND, 512, 200, "active_allocated"), block(SECOND + 512, 20 * MIB - 512, 5_000_000, "inactive")]),
    segment(1, OLD, 2 * MIB, 0, [block(OLD, 2 * MIB, 1_000, "inactive")]),
    segment(1, THIRD, 2 * MIB, 0, [
        block(THIRD, 1_500_160, 1_500_000, "active_allocated"),
        block(THIRD + 1_500_160, 2 * MIB - 1_500_160, 0, "inactive")], True),
]
SNAPSHOT = {
    "segments": SEGMENTS,
    "device_traces": [[], EVENTS],
    "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "garbage_collection_threshold": 0.0,
                           "expandable_segments": True, "roundup_power2_divisions": {"1": 0}},
    "external_annotations": [],
}
# As the first versions wrote it: no times, no requested sizes but in a block's history, no addresses of blocks.
OLDEST = [
    {"device": 0, "address": BASE, "total_size": 2 * MIB, "allocated_size": 1536, "active_size": 1536, "stream": 0,
     "segment_type": "small", "blocks": [
         {"size": 1024, "state": "active_allocated", "history": [{"addr": BASE, "real_size": 1000}]},
         {"size": 512, "state": "active_allocated"},
         {"size": 2 * MIB - 1536, "state": "inactive"}]}]

RAW = [[-1, 1, 4_000_000, 3], [-1, 1, 4_000_000, 3], [T * 1000, 2, 1_000, 5], [T * 1000 + 5, 2, 1_000, 2],
       [T * 1000 + 9, 3, -1_000, 5], [T * 1000 + 9, 3, 1_000, 6], [T * 1000 + 20, 4, -1_000, 6],
       [T * 1000 + 30, 4, -4_000_000, 3], [T * 1000 + 31, 4, -512, 7]]
SUMS = [[T, T + 1, T + 2, T + 3, T + 4], [[0, 0, 1], [0, 2, 1], [0, 0, 1], [0, 2, 1], [0, 2, 1]]]


def memory(ts, kind, number, size, addr=None, allocated=None, reserved=None):
    args = {"Device Type": kind, "Device Id": number, "Bytes": size}
    if addr is not None:
        args.update({"Addr": addr, "Total Allocated": allocated, "Total Reserved": reserved, "Ev Idx": 1})
    return {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": ts, "args": args}


OP = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 5.0, "dur": 2.5,
      "args": {"Sequence number": 3, "Input Dims": [[2, 3], [3, 4]]}}
# Two threads, each in its own order. 8,000,000 bytes were there and stay; 512 more are freed.
KINETO = [OP, memory(1.0, 0, -1, 64, 1, 64, 0),
          memory(10.5, 1, 1, 1_024, BASE + 1, 8_001_536, 20 * MIB), memory(30.25, 1, 1, -1_024, BASE + 1, 8_002_048, 22 * MIB),
          memory(20.0, 1, 1, 2_048, BASE + 2, 8_003_584, 22 * MIB), memory(25.0, 1, 1, -512, BASE + 3, 8_003_072, 22 * MIB),
          memory(26.0, 1, 0, 4_096, BASE + 4, 4_096, 2 * MIB)]
BEFORE_ADDRESSES = [OP, memory(1, 0, -1, 64), memory(2, 1, 0, 1_024), memory(3, 1, 0, 1_024), memory(4, 1, 0, 512),
                    memory(5, 1, 0, -1_024), memory(6, 0, -1, -64), memory(7, 1, 0, -4_096)]


def write(name, data):
    with open(os.path.join(HERE, name), "wb") as out:
        out.write(data)


for protocol in range(6):
    write(f"snapshot-{protocol}.pickle", pickle.dumps(SNAPSHOT, protocol))
write("snapshot.pickle.gz", gzip.compress(pickle.dumps(SNAPSHOT, 4), mtime=0))
write("snapshot.json", json.dumps(SNAPSHOT).encode())
write("oldest.pickle", pickle.dumps(OLDEST, 2))
write("kineto.json", json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": KINETO, "traceName": "x"}, indent=1).encode())
write("kineto-without-addresses.json", json.dumps(BEFORE_ADDRESSES).encode())
write("timeline.raw.json.gz", gzip.compress(json.dumps(RAW).encode(), mtime=0))
write("timeline.json", json.dumps(SUMS).encode())
