#!/usr/bin/env python3
"""Ten problems of KernelBench by lot, at their real sizes, for a language model: lot/LEVEL_NUMBER_Name.cu are contracts of ours with plain
kernels, whose arrays and sizes have KernelBench's names.

  lot.py draw  CHECKOUT                       the lot: which problems, in the order drawn
  lot.py torch CHECKOUT FILE.cu...            each kernel file against PyTorch, at the file's first check sizes
  lot.py table CHECKOUT FOLDER                FOLDER/LEVEL_NUMBER_Name/ (run.db, best.cu) as a table, beside KernelBench's times

CHECKOUT is a checkout of KernelBench. `torch` needs PyTorch (no GPU); a file may be the plain kernel or a winner, in a folder or a file
that has the problem's name. BUILD names the build folder (build/release)."""
import argparse
import ast
import json
import os
import pathlib
import random
import re
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "score"))

SEED, DRAWN = 19, {1: 4, 2: 3, 3: 3}
LOT = pathlib.Path(__file__).resolve().parent / "lot"
# What follows from our sizes where KernelBench's file has a number of its own.
ALSO = {"2_75": {"num_groups": "out_features // 16"}, "3_1": {"layer_sizes": "[hidden_size, hidden_size]"}}


def draw(checkout):
    """[(level, file)]: a shuffle of each level's problems, in the order of their numbers; the first ones."""
    chance, drawn = random.Random(SEED), []
    for level, nr in DRAWN.items():
        files = [f.name for f in (checkout / "KernelBench" / f"level{level}").glob("*.py")]
        files.sort(key=lambda name: int(name.split("_")[0]))
        chance.shuffle(files)
        drawn += [(level, name) for name in files[:nr]]
    return drawn


def problem_of(path):
    """(level, number, name) of a file like 2_39_Gemm.cu, or in a folder of that name."""
    for part in (path.stem, path.resolve().parent.name):
        found = re.match(r"([123])_(\d+)_", part)
        if found:
            return int(found[1]), int(found[2]), part
    sys.exit(f"lot.py: {path}: neither the file nor its folder has a problem's name")


def module(checkout, level, number, sizes):
    """KernelBench's file with our sizes in the place of its own."""
    path = next((checkout / "KernelBench" / f"level{level}").glob(f"{number}_*.py"))
    tree = ast.parse(path.read_text())
    values = {name: str(value) for name, value in sizes.items()} | ALSO.get(f"{level}_{number}", {})
    for node in tree.body:
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            pairs = zip(target.elts, value.elts) if isinstance(target, ast.Tuple) else [(target, value)]
            new = [ast.parse(values[t.id], mode="eval").body if t.id in values else v for t, v in pairs]
            node.value = ast.Tuple(new, ast.Load()) if isinstance(target, ast.Tuple) else new[0]
    space = dict(sizes)
    exec(compile(ast.fix_missing_locations(tree), str(path), "exec"), space)
    return space


def against_torch(options):
    import inspect
    import numpy as np
    import torch
    failed = False
    for file in options.files:
        level, number, name = problem_of(file)
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([options.build / "keet-opt", "run", file, "--device", "emu", "--dump", folder], check=True,
                           stdout=subprocess.DEVNULL)
            arrays = {p.stem: torch.from_numpy(np.load(p)) for p in pathlib.Path(folder).glob("*.npy")}
            sizes = json.loads((pathlib.Path(folder) / "shape.json").read_text())
        space = module(options.checkout, level, number, sizes)
        model = space["Model"](*space["get_init_inputs"]())
        state = {key: arrays[key.replace(".", "_")] for key in model.state_dict() if key.replace(".", "_") in arrays}
        model.load_state_dict(state, strict=False)
        inputs = [arrays[p] for p in inspect.signature(model.forward).parameters]
        unused = set(arrays) - {"output"} - {k.replace(".", "_") for k in state} - set(inspect.signature(model.forward).parameters)
        with torch.no_grad():
            wanted = model(*inputs)
        got = arrays["output"]
        same = got.shape == wanted.shape and torch.allclose(got, wanted, rtol=1e-4, atol=1e-4) and not unused
        error = (got - wanted).abs().max().item() if got.shape == wanted.shape else float("nan")
        print(f"{name}: {'same' if same else 'DIFFERENT'}, largest difference {error:.2g} at {sizes}"
              + (f", not in PyTorch: {', '.join(sorted(unused))}" if unused else ""), flush=True)
        failed |= not same
    sys.exit(failed)


def best_of(database):
    """(ns of the original, [best ns after each answered version], calls, tokens)"""
    db = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    plain, best, after = None, None, []
    for number, verdict, proposer, ns, recalled in db.execute(
            "SELECT number, verdict, proposer, time_ns, recalled_from FROM node LEFT JOIN measurement ON node = node.id"
            " WHERE run = (SELECT max(id) FROM run) ORDER BY node.id"):
        if number == 0:
            plain = best = ns
            continue
        if verdict == "ok" and ns and ns < best:
            best = ns
        if proposer == "model" and verdict not in ("declined", "no_answer") and recalled is None:
            after.append(best)
    calls, tokens = db.execute("SELECT count(*), total(tokens_in + tokens_out) FROM model_call"
                               " WHERE run = (SELECT max(id) FROM run)").fetchone()
    db.close()
    return plain, after or [plain], calls, tokens


def table(options):
    from score import geomean
    eager, compiled = (json.loads((options.checkout / "results" / "timing" / "H100_Modal" / f"baseline_time_torch{kind}.json").read_text())
                       for kind in ("", "_compile_inductor_default"))
    print("| problem | plain kernel, modelled, us | after each answer, modelled, us | calls, tokens | PyTorch eager, measured, us |"
          " torch.compile, measured, us | eager, measured, over ours, modelled | compile over ours |\n|---|--:|---|---|--:|--:|--:|--:|")
    ratios = []
    for folder in sorted(p.parent for p in options.files[0].glob("*/best.cu")):
        level, number, name = problem_of(folder / "x.cu")
        plain, after, calls, tokens = best_of(folder / "run.db")
        us = [next(v["mean"] * 1000 for k, v in times[f"level{level}"].items() if k.startswith(f"{number}_")) for times in (eager, compiled)]
        ours = after[-1] / 1000
        ratios.append((us[0] / ours, us[1] / ours))
        print(f"| {name} | {plain / 1000:.0f} | {'  '.join(f'{t / 1000:.0f}' for t in after)} | {calls}, {tokens / 1000:.0f}k |"
              f" {us[0]:.0f} | {us[1]:.0f} | {us[0] / ours:.2f} | {us[1] / ours:.2f} |")
    if ratios:
        print(f"| **geometric mean of {len(ratios)}** | | | | | | {geomean([r[0] for r in ratios]):.2f} | {geomean([r[1] for r in ratios]):.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("draw", "torch", "table"))
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("files", type=pathlib.Path, nargs="*")
    options = parser.parse_args()
    options.build = pathlib.Path(os.environ.get("BUILD", ROOT / "build" / "release"))
    if options.verb == "draw":
        for level, name in draw(options.checkout):
            print(f"level{level} {name}", "" if (LOT / f"{level}_{name[:-3]}.cu").exists() else "(no kernel of ours)")
    elif options.verb == "torch":
        against_torch(options)
    else:
        table(options)


if __name__ == "__main__":
    main()
