# SPDX-License-Identifier: Apache-2.0
"""Records what PyTorch's allocator does in training steps of a small transformer, in every form that PyTorch writes, and what a pair of its calls costs.

    python3 memory.py --out FOLDER [--steps 3] [--layers 12] [--width 2048] [--tokens 4096]

Writes snapshot.pickle (torch.cuda.memory._dump_snapshot), trace.json.gz (torch.profiler with memory), timeline.raw.json.gz (export_memory_timeline) and
memory.json: bytes by PyTorch's own count, and ns of an allocation and a free through its caching allocator as called from Python.
"""

import argparse
import gzip
import json
import pathlib
import shutil
import time

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        y = self.first(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.down(nn.functional.gelu(self.up(self.second(x))))


def pair_nanos(size, rounds=20000):
    """An allocation and a free of one size, again and again, through torch's own entry points."""
    take, give = torch.cuda.caching_allocator_alloc, torch.cuda.caching_allocator_delete
    for _ in range(1000):
        give(take(size))
    begun = time.perf_counter_ns()
    for _ in range(rounds):
        give(take(size))
    return (time.perf_counter_ns() - begun) / rounds


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=pathlib.Path, required=True)
    options.add_argument("--steps", type=int, default=3)
    options.add_argument("--layers", type=int, default=12)
    options.add_argument("--width", type=int, default=2048)
    options.add_argument("--tokens", type=int, default=4096)
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    model = nn.Sequential(*[Block(given.width, 16) for _ in range(given.layers)]).cuda().bfloat16()
    optimizer = torch.optim.AdamW(model.parameters())
    lengths = [given.tokens - 512 * (step % 3) for step in range(given.steps + 1)]

    def step(tokens):
        loss = model(torch.randn(1, tokens, given.width, device="cuda", dtype=torch.bfloat16)).float().square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    step(lengths[0])
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    torch.cuda.memory._record_memory_history(max_entries=200000, context=None, stacks="python")
    for tokens in lengths[1:]:
        step(tokens)
    torch.cuda.synchronize()
    torch.cuda.memory._dump_snapshot(str(given.out / "snapshot.pickle"))
    torch.cuda.memory._record_memory_history(enabled=None)
    peak = {"peakAllocatedBytes": torch.cuda.max_memory_allocated(), "peakReservedBytes": torch.cuda.max_memory_reserved()}
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities, profile_memory=True, record_shapes=True, with_stack=True) as profile:
        step(lengths[0])
        torch.cuda.synchronize()
    profile.export_chrome_trace(str(given.out / "trace.json"))
    with open(given.out / "trace.json", "rb") as plain, gzip.open(given.out / "trace.json.gz", "wb") as packed:
        shutil.copyfileobj(plain, packed)
    (given.out / "trace.json").unlink()
    for name in ("timeline.raw.json.gz", "timeline.json"):
        try:
            profile.export_memory_timeline(str(given.out / name), device="cuda:0")
        except Exception as refused:  # a form that this version does not write is left out, and said
            print(name, "is not written:", refused)
    report = {
        "figures": "measured",
        "torch": torch.__version__,
        "device": torch.cuda.get_device_name(),
        **peak,
        "pairNs": {str(size): round(pair_nanos(size), 1) for size in (512, 65536, 1 << 21, 1 << 26)},
    }
    (given.out / "memory.json").write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report))


main()
