#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What PyTorch does for the same problems: NCCL + cuBLAS in series, and asynchronous tensor parallelism.

One process for each GPU. Every round times every variant once, in turn, so that clocks and power limits hit all alike;
a time is the slowest rank's. Results are compared with an fp32 product of the same data.

Writes JSON that 'weft bench overlap --peer FILE' reads: {"results": [{"pattern", "m", "n", "k", "us": {...}}, ...]}.

    overlap.py --shapes FILE --json OUT [--repetitions 20] [--warm-up 5] [--ranks 2] [--pattern P]

A shape is a line M,N,K: M over all ranks, N and K of one device; a pattern before the numbers keeps the shape to it.
With --serve, another program alternates its repetitions with these ('weft bench overlap --peer-program'): it writes lines
to standard input, and each is answered by one line of JSON.

    begin PATTERN M,N,K   prepares a problem and checks it: {"relativeError": {...}, "failures": {...}}
    run                   runs each variant once:           {"us": {"gemm": ..., "serial": ..., "async-tp": ...}}
    end                   forgets the problem:              {}
"""

import argparse
import json
import os
import statistics
import sys

# NVLink multicast is not used: a program that dies in it can put GPUs that others share out of service.
os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
os.environ.setdefault("TORCH_SYMM_MEM_DISABLE_MULTICAST", "1")

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

PATTERNS = ("all-gather-gemm", "gemm-reduce-scatter")


def read_shapes(lines, patterns):
    shapes = []
    for line in lines:
        text = line.split("#")[0].strip()
        if not text:
            continue
        words = text.split()
        wanted = [words[0]] if len(words) > 1 else list(patterns)
        m, n, k = (int(number) for number in words[-1].replace(" ", "").split(","))
        shapes += [(pattern, m, n, k) for pattern in wanted if pattern in patterns]
    return shapes


class Problem:
    """The buffers and variants of one problem on one rank."""

    def __init__(self, pattern, m, n, k, rank, ranks):
        self.group = dist.group.WORLD.group_name
        generator = torch.Generator(device="cuda").manual_seed(17 + rank)

        def random(rows, columns):
            return torch.randn(rows, columns, device="cuda", generator=generator).bfloat16()

        # As PyTorch's linear layers keep them: [N, K], seen transposed.
        self.weights = (random(n, k) / k**0.5).t()
        self.pattern = pattern
        self.rank = rank
        self.ranks = ranks
        self.m = m
        self.k = k
        if pattern == "all-gather-gemm":
            self.rows = random(m // ranks, k)
            self.gathered = torch.empty(m, k, device="cuda", dtype=torch.bfloat16)
            self.result = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
        else:
            self.rows = random(m, k)
            self.partial = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
            self.result = torch.empty(m // ranks, n, device="cuda", dtype=torch.bfloat16)

    def communicate(self):
        if self.pattern == "all-gather-gemm":
            dist.all_gather_into_tensor(self.gathered, self.rows)
        else:
            dist.reduce_scatter_tensor(self.result, self.partial)
        return None

    def multiply(self):
        if self.pattern == "all-gather-gemm":
            torch.mm(self.gathered, self.weights, out=self.result)
        else:
            torch.mm(self.rows, self.weights, out=self.partial)
        return None

    def serial(self):
        if self.pattern == "all-gather-gemm":
            dist.all_gather_into_tensor(self.gathered, self.rows)
            torch.mm(self.gathered, self.weights, out=self.result)
        else:
            torch.mm(self.rows, self.weights, out=self.partial)
            dist.reduce_scatter_tensor(self.result, self.partial)
        return self.result

    def overlapped(self):
        if self.pattern == "all-gather-gemm":
            return torch.ops.symm_mem.fused_all_gather_matmul(self.rows, [self.weights], 0, self.group)[1][0]
        return torch.ops.symm_mem.fused_matmul_reduce_scatter(self.rows, self.weights, "sum", 0, self.group)

    def error(self, result):
        """Relative distance to an fp32 product of the same data."""
        torch.backends.cuda.matmul.allow_tf32 = False
        if self.pattern == "all-gather-gemm":
            whole = torch.empty(self.m, self.k, device="cuda", dtype=torch.bfloat16)
            dist.all_gather_into_tensor(whole, self.rows)
            step = 4096
            squared = distance = 0.0
            for row in range(0, self.m, step):
                wanted = whole[row : row + step].float() @ self.weights.float()
                distance += (result[row : row + step].float() - wanted).pow(2).sum().item()
                squared += wanted.pow(2).sum().item()
            return (distance / squared) ** 0.5
        share = self.m // self.ranks
        wanted = torch.empty(share, self.weights.shape[1], device="cuda")
        for owner in range(self.ranks):
            part = self.rows[owner * share : (owner + 1) * share].float() @ self.weights.float()
            dist.reduce(part, owner)
            if owner == self.rank:
                wanted = part
        return ((result.float() - wanted).norm() / wanted.norm()).item()


def prepare(problem):
    """The variants that this version can do, each run once, with their errors and why others are left out."""
    variants = {
        "gemm": problem.multiply,
        "communication": problem.communicate,
        "serial": problem.serial,
        "async-tp": problem.overlapped,
    }
    failures = {}
    errors = {}
    for name in list(variants):
        good = torch.ones(1, device="cuda")
        try:
            result = variants[name]()
            torch.cuda.synchronize()
            if result is not None:
                errors[name] = problem.error(result)
        except Exception as failure:  # a variant that this version cannot do is left out
            failures[name] = repr(failure)[:300]
            good.zero_()
        dist.all_reduce(good, op=dist.ReduceOp.MIN)
        if good.item() == 0:
            del variants[name]
    return variants, errors, failures


def one_round(variants):
    """Each variant once; us of the slowest rank."""
    times = {}
    # The devices change from one process to the other with the next work: not at the cost of the first variant.
    next(iter(variants.values()))()
    for name, run in variants.items():
        dist.barrier()
        torch.cuda.synchronize()
        begun = torch.cuda.Event(enable_timing=True)
        ended = torch.cuda.Event(enable_timing=True)
        begun.record()
        run()
        ended.record()
        torch.cuda.synchronize()
        slowest = torch.tensor([begun.elapsed_time(ended) * 1e3], device="cuda")
        dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
        times[name] = slowest.item()
    torch.cuda.synchronize()
    return times


def measure(problem, repetitions, warm_up):
    variants, errors, failures = prepare(problem)
    times = {name: [] for name in variants}
    for repetition in range(warm_up + repetitions):
        for name, us in one_round(variants).items():
            if repetition >= warm_up:
                times[name].append(us)
    return times, errors, failures


def answer(shape, rank, ranks, repetitions, warm_up):
    pattern, m, n, k = shape
    problem = Problem(pattern, m, n, k, rank, ranks)
    times, errors, failures = measure(problem, repetitions, warm_up)
    del problem
    torch.cuda.empty_cache()

    def quantile(values, share):
        ordered = sorted(values)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    return {
        "pattern": pattern,
        "m": m,
        "n": n,
        "k": k,
        "us": {name: statistics.median(values) for name, values in times.items()},
        "p10": {name: quantile(values, 0.1) for name, values in times.items()},
        "p90": {name: quantile(values, 0.9) for name, values in times.items()},
        "relativeError": errors,
        "failures": failures,
    }


def serve(rank, ranks, patterns, others):
    """Answers a caller's lines. Ranks hear of them by pipes: one that waited in a collective would keep its GPU busy."""
    problem = variants = None
    while True:
        if rank == 0:
            line = sys.stdin.readline()
            for other in others:
                other.send(line)
        else:
            line = others[0].recv()
        words = line.split(maxsplit=1)
        if not words:
            break
        result = {}
        if words[0] == "begin":
            pattern, m, n, k = read_shapes([words[1]], patterns)[0]
            problem = Problem(pattern, m, n, k, rank, ranks)
            variants, errors, failures = prepare(problem)
            result = {"relativeError": errors, "failures": failures}
            if failures and rank == 0:
                print(f"{words[1].strip()}: {failures}", file=sys.stderr, flush=True)
        elif words[0] == "run":
            result = {"us": one_round(variants)}
        elif words[0] == "end":
            problem = variants = None
            torch.cuda.empty_cache()
        torch.cuda.synchronize()
        if rank == 0:
            print(json.dumps(result), flush=True)


def run(rank, arguments, lines, pipes=None):
    ranks = arguments.ranks
    os.environ.update(
        MASTER_ADDR="127.0.0.1", MASTER_PORT=str(arguments.port), RANK=str(rank), WORLD_SIZE=str(ranks)
    )
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=ranks, device_id=torch.device("cuda", rank))
    import torch.distributed._symmetric_memory as symmetric_memory

    if hasattr(symmetric_memory, "enable_symm_mem_for_group"):
        symmetric_memory.enable_symm_mem_for_group(dist.group.WORLD.group_name)
    patterns = arguments.pattern.split(",")
    document = {
        "program": "PyTorch",
        "versions": {
            "torch": torch.__version__,
            "CUDA": torch.version.cuda,
            "NCCL": ".".join(str(part) for part in torch.cuda.nccl.version()),
        },
        "device": torch.cuda.get_device_name(rank),
        "ranks": ranks,
        "repetitions": arguments.repetitions,
        "results": [],
    }

    def handle(shape):
        result = answer(shape, rank, ranks, arguments.repetitions, arguments.warm_up)
        if rank != 0:
            return
        document["results"].append(result)
        if arguments.json:
            with open(arguments.json, "w", encoding="utf-8") as out:
                json.dump(document, out, indent=1)
        shown = ", ".join(f"{name} {us:.0f}" for name, us in result["us"].items())
        print(f"{shape[0]} {shape[1]},{shape[2]},{shape[3]}: {shown} us", flush=True)

    if arguments.serve:
        serve(rank, ranks, patterns, pipes)
    else:
        for shape in read_shapes(lines, patterns):
            handle(shape)
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", help="file of shapes")
    parser.add_argument("--json", help="where results go")
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--warm-up", type=int, default=5)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--port", type=int, default=29531)
    parser.add_argument("--pattern", default=",".join(PATTERNS))
    parser.add_argument("--serve", action="store_true")
    arguments = parser.parse_args()
    if not arguments.serve and not arguments.shapes:
        parser.error("--shapes or --serve is needed")
    lines = []
    if arguments.shapes:
        with open(arguments.shapes, encoding="utf-8") as shapes:
            lines = shapes.readlines()
    if arguments.serve:
        # Standard input belongs to the first rank, which spawn would not give it.
        context = mp.get_context("spawn")
        ours = []
        others = []
        for rank in range(1, arguments.ranks):
            near, far = context.Pipe()
            ours.append(near)
            others.append(context.Process(target=run, args=(rank, arguments, lines, [far]), daemon=True))
        for other in others:
            other.start()
        run(0, arguments, lines, ours)
        for other in others:
            other.join(30)
    else:
        mp.spawn(run, args=(arguments, lines), nprocs=arguments.ranks)


if __name__ == "__main__":
    main()
