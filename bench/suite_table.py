"""Reads the JSON of finished runs and writes the suite's table. Fails when a run is missing or a
kernel ended below 1x."""

import argparse
import json
import math
import pathlib
import platform
import subprocess
import sys


def git_commit():
    out = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    dirty = subprocess.run(["git", "status", "--porcelain", "--", "src", "search", "kernels"],
                           capture_output=True, text=True)
    return out.stdout.strip() + ("+changes" if dirty.stdout.strip() else "")


def processor():
    try:
        for line in open("/proc/cpuinfo"):
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def geomean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else float("nan")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--budget")
    parser.add_argument("--seed")
    parser.add_argument("--policies")
    parser.add_argument("kernels", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    policies = args.policies.split(",")
    runs, missing = {}, []
    for kernel in args.kernels:
        for policy in policies:
            path = args.work / f"{kernel.stem}-{policy}-{args.seed}.json"
            try:
                runs[kernel.stem, policy] = json.loads(path.read_text())
            except (OSError, ValueError):
                missing.append(f"{kernel.stem} ({policy})")
    if not runs:
        sys.exit("no run ended; see the .err files in " + str(args.work))
    names = [k.stem for k in args.kernels]
    any_run = next(iter(runs.values()))
    word = "speedup" if any_run["speedup_from"] == "measured" else "modelled speedup"
    lines = [
        f"# The suite: {word} over the original",
        "",
        f"`bench/suite.sh --budget {args.budget} --seed {args.seed}` at commit {git_commit()}, "
        f"on {any_run['device']}; host: {processor()}. "
        f"{'Times are modelled by the emulator.' if word != 'speedup' else ''}",
        "",
        "| kernel | " + " | ".join(policies) + " | evaluated | failed | moves of the best (" +
        policies[0] + ") |",
        "|---" + "|---:" * len(policies) + "|---:|---:|---|",
    ]
    for name in names:
        row = [name]
        for policy in policies:
            run = runs.get((name, policy))
            row.append(f"{run['speedup']:.2f}" if run else "missing")
        first = runs.get((name, policies[0]))
        if first:
            row.append(str(first["evaluated"]))
            row.append(str(sum(n for v, n in first["verdicts"].items() if v != "ok")))
            row.append(" > ".join(step["move"] for step in first["path"][1:]) or "none")
        lines.append("| " + " | ".join(row) + " |")
    means = {p: geomean([runs[n, p]["speedup"] for n in names if (n, p) in runs]) for p in policies}
    lines.append("| **geomean** | " + " | ".join(f"**{means[p]:.2f}**" for p in policies) +
                 " | | | |")
    text = "\n".join(lines) + "\n"
    (args.out / "suite.md").write_text(text)
    (args.out / "suite.json").write_text(json.dumps({
        "budget": args.budget, "seed": args.seed, "commit": git_commit(), "geomean": means,
        "speedups": {p: {n: runs[n, p]["speedup"] for n in names if (n, p) in runs}
                     for p in policies},
    }, indent=1) + "\n")
    print(text)
    below = [f"{n} ({p})" for (n, p), run in runs.items() if run["speedup"] < 1]
    for problem, what in ((missing, "did not run to the end"), (below, "ended below 1x")):
        if problem:
            print(f"{what}: {', '.join(problem)}", file=sys.stderr)
    return 1 if missing or below else 0


if __name__ == "__main__":
    sys.exit(main())
