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


def load(args):
    """All finished runs by (kernel, policy, seed), and the names of those that are not there."""
    runs, missing = {}, []
    for kernel in args.kernels:
        for policy in args.policies:
            for seed in args.seeds:
                path = args.work / f"{kernel.stem}-{policy}-{seed}.json"
                try:
                    runs[kernel.stem, policy, seed] = json.loads(path.read_text())
                except (OSError, ValueError):
                    missing.append(f"{kernel.stem} ({policy}, seed {seed})")
    return runs, missing


def row_of(name, args, runs):
    """One kernel: geomean over the seeds for each policy, then facts of the first policy and seed."""
    row = [name]
    for policy in args.policies:
        values = [runs[name, policy, s]["speedup"] for s in args.seeds if (name, policy, s) in runs]
        row.append(f"{geomean(values):.2f}" if len(values) == len(args.seeds) else "missing")
    first = runs.get((name, args.policies[0], args.seeds[0]))
    if first:
        row.append(str(first["evaluated"]))
        row.append(str(sum(n for v, n in first["verdicts"].items() if v != "ok")))
        row.append(" > ".join(step["move"] for step in first["path"][1:]) or "none")
    return "| " + " | ".join(row) + " |"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--budget")
    parser.add_argument("--seeds", type=lambda text: text.split(","))
    parser.add_argument("--policies", type=lambda text: text.split(","))
    parser.add_argument("kernels", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    runs, missing = load(args)
    if not runs:
        sys.exit("no run ended; see the .err files in " + str(args.work))
    names = [k.stem for k in args.kernels]
    any_run = next(iter(runs.values()))
    word = "speedup" if any_run["speedup_from"] == "measured" else "modelled speedup"
    command = (f"bench/suite.sh --budget {args.budget} " + " ".join(f"--seed {s}" for s in args.seeds) +
               "".join(f" --policy {p}" for p in args.policies))
    means = {p: {s: geomean([runs[n, p, s]["speedup"] for n in names if (n, p, s) in runs])
                 for s in args.seeds} for p in args.policies}
    empty = " | | | |"
    lines = [
        f"# The suite: {word} over the original",
        "",
        f"`{command}` at commit {git_commit()}, on {any_run['device']}; host: {processor()}. "
        f"{'Times are modelled by the emulator.' if word != 'speedup' else ''}",
        f"Each cell is the geometric mean over {len(args.seeds)} seed(s); the last three columns are "
        f"of {args.policies[0]}, seed {args.seeds[0]}. Fewer than {args.budget} evaluated: the run "
        "came within 5% of the roofline or had nothing left to try.",
        "",
        "| kernel | " + " | ".join(args.policies) + " | evaluated | failed | moves of the best |",
        "|---" + "|---:" * len(args.policies) + "|---:|---:|---|",
    ]
    lines += [row_of(name, args, runs) for name in names]
    for seed in args.seeds:
        lines.append(f"| geomean, seed {seed} | " +
                     " | ".join(f"{means[p][seed]:.2f}" for p in args.policies) + empty)
    lines.append("| **geomean** | " + " | ".join(
        f"**{geomean(list(means[p].values())):.2f}**" for p in args.policies) + empty)
    text = "\n".join(lines) + "\n"
    (args.out / "suite.md").write_text(text)
    (args.out / "suite.json").write_text(json.dumps({
        "budget": args.budget, "seeds": args.seeds, "commit": git_commit(), "geomean": means,
        "speedups": {p: {n: [runs[n, p, s]["speedup"] for s in args.seeds if (n, p, s) in runs]
                         for n in names} for p in args.policies},
    }, indent=1) + "\n")
    print(text)
    below = [" ".join(key) for key, run in runs.items() if run["speedup"] < 1]
    for problem, what in ((missing, "did not run to the end"), (below, "ended below 1x")):
        if problem:
            print(f"{what}: {', '.join(problem)}", file=sys.stderr)
    return 1 if missing or below else 0


if __name__ == "__main__":
    sys.exit(main())
