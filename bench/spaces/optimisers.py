#!/usr/bin/env python3
"""Kernel Tuner's optimisers on a cache, in Kernel Tuner's own simulation mode (the package kernel_tuner of PyPI):

  optimisers.py CACHE.json[.gz] STRATEGY... [--seeds N] [--evaluations N]

Prints for each strategy and seed a line: the strategy, the seed, then the best time after each evaluation of a new
point. The cache and the space of points are read once for all runs; strategies have their default options."""

import argparse
import gzip
import json
import math
import pathlib
import random
import sys
import tempfile
import warnings

import kernel_tuner.interface as interface
import numpy


def memoised(function):
    known = {}

    def call(*args, **kwargs):
        if "result" not in known:
            known["result"] = function(*args, **kwargs)
        return known["result"]

    return call


def curve(results, keys, evaluations):
    """The best time after each point that had not been evaluated before."""
    seen, best = set(), []
    for result in results:
        point = tuple(str(result[key]) for key in keys)
        if point in seen or len(best) == evaluations:
            continue
        seen.add(point)
        time = result.get("time")
        time = time if isinstance(time, (int, float)) else math.inf
        best.append(min(best[-1], time) if best else time)
    return best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cache", type=pathlib.Path)
    parser.add_argument("strategies", nargs="+")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--evaluations", type=int, default=100)
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    data = args.cache.read_bytes()
    data = gzip.decompress(data) if args.cache.suffix == ".gz" else data
    keys = json.loads(data)["tune_params_keys"]
    interface.Searchspace = memoised(interface.Searchspace)
    interface.util.process_cache = memoised(interface.util.process_cache)
    interface.util.read_cache = memoised(interface.util.read_cache)
    interface.util.close_cache = lambda path: None
    with tempfile.TemporaryDirectory() as folder:
        cache = pathlib.Path(folder) / "cache.json"
        cache.write_bytes(data)
        for strategy in args.strategies:
            for seed in range(1, args.seeds + 1):
                random.seed(seed)
                numpy.random.seed(seed)
                try:
                    results, _ = interface.tune_cache(str(cache), strategy=strategy, quiet=True, verbose=False, seed=seed,
                                                      strategy_options={"max_fevals": args.evaluations})
                except Exception as error:  # an optimiser that fails on a space is reported, and the others go on
                    print(f"{strategy} {seed}: {type(error).__name__}: {error}", file=sys.stderr)
                    break
                print(strategy, seed, *(f"{t:.9g}" for t in curve(results, keys, args.evaluations)), flush=True)


if __name__ == "__main__":
    main()
