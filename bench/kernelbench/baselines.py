#!/usr/bin/env python3
"""Times of a KernelBench problem in PyTorch on a GPU: what a kernel has to beat.

    baselines.py CHECKOUT --level 1 --problem 1,23 [-o FILE.json]

Eager with TF32 off and on, torch.compile (default and max-autotune), and eager captured in a CUDA
graph; cuBLAS and cuDNN are what eager PyTorch calls. Milliseconds, the median with its quartiles, each
run after a flush of L2, between two events. Written without a card: not yet run on one."""
import argparse
import json
import os
import sys

import torch

import import_problems as imports

L2_FLUSH_BYTES = 256 << 20


def timed(function, runs, warm):
    """Sorted milliseconds of single runs."""
    flush = torch.empty(L2_FLUSH_BYTES, dtype=torch.uint8, device="cuda")
    for _ in range(warm):
        function()
    torch.cuda.synchronize()
    times = []
    for _ in range(runs):
        flush.zero_()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        function()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return sorted(times)


def summary(times):
    n = len(times)
    return {"median": times[n // 2], "low": times[n // 4], "high": times[3 * n // 4], "runs": n,
            "unit": "ms", "from": "measured"}


def graph_of(model, inputs):
    """A function that replays one capture of forward."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            model(*inputs)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model(*inputs)
    return graph.replay


def set_tf32(on):
    torch.backends.cuda.matmul.allow_tf32 = on
    torch.backends.cudnn.allow_tf32 = on


def measure(make, runs, warm):
    """make() gives a model and its inputs, new ones for each way of running them."""
    def eager():
        model, inputs = make()
        return lambda: model(*inputs)

    def compiled(mode):
        model, inputs = make()
        fast = torch.compile(model, mode=mode)
        return lambda: fast(*inputs)

    ways = [("eager, TF32 off", False, eager), ("eager, TF32 on", True, eager),
            ("torch.compile, TF32 off", False, lambda: compiled("default")),
            ("torch.compile, TF32 on", True, lambda: compiled("default")),
            ("torch.compile max-autotune, TF32 on", True, lambda: compiled("max-autotune")),
            ("CUDA graph, TF32 off", False, lambda: graph_of(*make())),
            ("CUDA graph, TF32 on", True, lambda: graph_of(*make()))]
    results = {}
    for name, tf32, way in ways:
        set_tf32(tf32)
        try:
            with torch.no_grad():
                results[name] = summary(timed(way(), runs, warm))
        except Exception as e:  # some problems cannot be captured or compiled
            results[name] = {"error": f"{type(e).__name__}: {e}".split("\n")[0][:200]}
        torch.cuda.empty_cache()
    return results


def problem_maker(path):
    with open(path) as f:
        text = f.read()

    def make():
        space = {"__name__": "problem"}
        exec(compile(text, path, "exec"), space)
        torch.manual_seed(42)
        inputs = [i.cuda() if isinstance(i, torch.Tensor) else i for i in space["get_inputs"]()]
        torch.manual_seed(42)
        return space["Model"](*space["get_init_inputs"]()).cuda(), inputs
    return make


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("checkout")
    p.add_argument("--level", type=imports.numbers, default={1})
    p.add_argument("--problem", type=imports.numbers, default=set())
    p.add_argument("--runs", type=int, default=100)
    p.add_argument("--warm", type=int, default=10)
    p.add_argument("-o", "--output")
    args = p.parse_args()
    if not torch.cuda.is_available():
        sys.exit("baselines.py: not run, since PyTorch sees no GPU here")
    told = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "problems": {}}
    for level, file in imports.problems(args.checkout, args.level, args.problem):
        path = os.path.join(args.checkout, "KernelBench", f"level{level}", file)
        told["problems"][f"level{level}/{file}"] = measure(problem_maker(path), args.runs, args.warm)
        print(f"level{level}/{file}", flush=True)
    text = json.dumps(told, indent=1)
    if args.output:
        with open(args.output, "w") as f:
            f.write(text + "\n")
    else:
        print(text)


if __name__ == "__main__":
    main()
