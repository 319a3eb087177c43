#!/usr/bin/env python3
"""How many faults the checker catches, and how many right kernels it refuses.

    bench/checker/bench.py [--set tuning|heldout|all] [--seeds 1,2,3] [--threads 1,2] [--mutants 20] [--out DIR]
                           [--operator NAME]... [--kinds right,order,...] [--keet PROGRAM]

Faults of four kinds: generic (small edits by rule), semantic (by hand), hack (what looks fast), order (memory order between
blocks). A generic fault that passes goes through the wider contract of its operator, with more sizes and three seeds: what
passes there as well is equivalent and does not count. Writes DIR/checker.md and DIR/checker.json (default
results/checker). Exit status 0: nothing was missed, nothing right was refused, and all verdicts agree.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import mutate  # noqa: E402
from operator_set import KINDS  # noqa: E402


def operators(which):
    import heldout
    import tuning
    import tuning_more
    sets = {"tuning": tuning.OPERATORS + tuning_more.OPERATORS, "heldout": heldout.OPERATORS}
    return [(name, o) for name in sets if which in (name, "all") for o in sets[name]]


def timed_blocks(original, text):
    """Blocks of the largest launch of a variant at the timed sizes."""
    sizes = {}
    for assign in re.search(r"#pragma keet size +(.*)", original).group(1).split(","):
        name, value = assign.split("=")
        sizes[name.strip()] = int(value)
    most = 0
    for grid in re.findall(r"#pragma keet launch \w+<<<(.*)>>>", text):
        values = eval(f"({grid.replace('/', '//')},)", {"ceil_div": lambda a, b: -(-a // b), "min": min, "max": max,
                                    "dim3": lambda *d: d[0] * (d[1] if len(d) > 1 else 1)}, sizes)
        most = max(most, values[0])
    return most


def cases_of(operator, nr_mutants):
    """[(kind, name, text)]; kind "right" for those that compute the same."""
    cases = [("right", name, text) for name, text in operator.variants.items()]
    for variant, text in operator.variants.items():
        cases += [("right", f"{variant}, {what}", t) for what, t in mutate.rights(text) if t != text]
    cases += operator.faults
    first = operator.variants[next(iter(operator.first.values()))]
    cases += [("hack", what, text) for what, text in mutate.hacks(first, operator.out)
              if "grid" not in what and "blocks past" not in what or timed_blocks(operator.original, first) > 400]
    rng = random.Random(operator.name)
    for variant in operator.first.values():
        found = mutate.edits(operator.variants[variant])
        rng.shuffle(found)
        share = -(-nr_mutants // len(operator.first))
        cases += [("generic", f"{variant}: {what} {i}", t) for i, (what, t) in enumerate(found[:share])]
    return cases


def check(keet, original, texts, seed, threads):
    """The JSON list of verdicts of one run of `keet-opt check`."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        path = os.path.join(folder, "original.cu")
        open(path, "w").write(original)
        for i, text in enumerate(texts):
            paths.append(os.path.join(folder, f"{i:04}.cu"))
            open(paths[-1], "w").write(text)
        listed = os.path.join(folder, "list")
        open(listed, "w").write("\n".join(paths) + "\n")
        command = [keet, "check", path, "--list", listed, "--json", "--device", "emu", "--seed", str(seed)]
        done = subprocess.run(command + (["--threads", str(threads)] if threads else []), capture_output=True, text=True)
        if done.returncode not in (0, 3):
            raise SystemExit(f"{command}: {done.stderr[-2000:]}")
        return json.loads(done.stdout)["candidates"]


def run_operator(keet, operator, nr_mutants, seeds, threads, kinds):
    cases = [case for case in cases_of(operator, nr_mutants) if case[0] in kinds]
    texts = [text for _, _, text in cases]
    runs = {(s, t): check(keet, operator.original, texts, s, t) for s in seeds for t in threads}
    rows = []
    for i, (kind, name, text) in enumerate(cases):
        verdicts = {key: run[i]["verdict"] for key, run in runs.items()}
        first = next(iter(runs.values()))[i]
        rows.append({"operator": operator.name, "kind": kind, "name": name, "verdict": first["verdict"],
                     "reason": first["reason"], "seconds": first["seconds"], "timed_seconds": first["timed_seconds"],
                     "passes": sum(v == "ok" for v in verdicts.values()), "runs": len(verdicts),
                     "agree": all(len({verdicts[s, t] for t in threads}) == 1 for s in seeds),
                     "text": text})
    doubtful = [r for r in rows if r["kind"] == "generic" and r["passes"]]
    if doubtful:
        wide = [check(keet, operator.wider(), [r["text"] for r in doubtful], 100 + s, None) for s in range(3)]
        for i, r in enumerate(doubtful):
            r["equivalent"] = all(run[i]["verdict"] == "ok" for run in wide) and r["passes"] == r["runs"]
    for r in rows:  # what does not compile is no fault of a kernel
        r["left_out"] = r.get("equivalent", False) or (r["kind"] == "generic" and r["verdict"] == "no_compile")
    return rows


def table(rows, sets, seeds, threads, nr_mutants):
    lines = ["# What the checker catches", "",
             f"`bench/checker/bench.py --set {sets} --seeds {','.join(map(str, seeds))} --threads "
             f"{','.join(map(str, threads))} --mutants {nr_mutants}`. The emulator of an H100.", "",
             "| operators | kind | caught in each run / truly faulty | equivalent or not compiled |", "|---|---|---|---|"]
    for name in sorted({r["set"] for r in rows}, reverse=True):
        for kind in KINDS:
            of = [r for r in rows if r["set"] == name and r["kind"] == kind]
            faulty = [r for r in of if not r["left_out"]]
            caught = sum(r["passes"] == 0 for r in faulty)
            share = f" = {100 * caught / len(faulty):.1f}%" if faulty else ""
            lines.append(f"| {name} | {kind} | {caught} / {len(faulty)}{share} | {len(of) - len(faulty)} |")
        right = [r for r in rows if r["set"] == name and r["kind"] == "right"]
        refused = sum(r["passes"] < r["runs"] for r in right)
        lines.append(f"| {name} | right | {refused} of {len(right)} refused | |")
    disagree = [r for r in rows if not r["agree"]]
    ran = [r for r in rows if r["verdict"] not in ("no_compile", "contract")]
    times, small = (sorted(t) for t in ([r["seconds"] for r in ran], [r["seconds"] - r["timed_seconds"] for r in ran]))
    lines += ["", f"Verdicts that differ between numbers of threads: {len(disagree)} of {len(rows)}. A check takes "
              f"{1e3 * small[len(small) // 2]:.3g} ms in the median, {1e3 * small[9 * len(small) // 10]:.3g} ms at the 90th "
              f"percentile; with the comparison at the timed size {1e3 * times[len(times) // 2]:.3g} ms in the median, {1e3 * times[9 * len(times) // 10]:.3g} ms.", "", "## Missed and refused", ""]
    for r in rows:
        if (r["kind"] == "right" and r["passes"] < r["runs"]) or \
                (r["kind"] != "right" and r["passes"] and not r["left_out"]):
            said = f": {r['verdict']}: {r['reason']}" if r["kind"] == "right" else ""
            lines.append(f"- {r['operator']}, {r['kind']}, {r['name']} ({r['passes']} of {r['runs']} runs pass it){said}")
    if lines[-1] == "":
        lines.append("Nothing.")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--set", default="all")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--mutants", type=int, default=20)
    parser.add_argument("--out", default=os.path.join(ROOT, "results", "checker"))
    parser.add_argument("--operator", action="append")
    parser.add_argument("--kinds", default=",".join(KINDS + ("right",)))
    parser.add_argument("--keet", default=os.path.join(ROOT, "build", "release", "keet-opt"))
    args = parser.parse_args()
    seeds = [int(s) for s in args.seeds.split(",")]
    threads = [int(t) for t in args.threads.split(",")]
    rows = []
    for name, operator in operators(args.set):
        if args.operator and operator.name not in args.operator:
            continue
        mine = run_operator(args.keet, operator, args.mutants, seeds, threads, args.kinds.split(","))
        for r in mine:
            r["set"] = name
        rows += mine
        print(operator.name, len(mine), file=sys.stderr, flush=True)
    text = table(rows, args.set, seeds, threads, args.mutants)
    os.makedirs(args.out, exist_ok=True)
    open(os.path.join(args.out, "checker.md"), "w").write(text)
    for r in rows:
        del r["text"]
    with open(os.path.join(args.out, "checker.json"), "w") as file:
        json.dump(rows, file, indent=0)
    print(text)
    bad = [r for r in rows if not r["agree"] or (r["kind"] == "right" and r["passes"] < r["runs"]) or
           (r["kind"] != "right" and r["passes"] and not r["left_out"])]
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
