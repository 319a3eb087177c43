"""Reads the JSON of finished runs and writes the suite's tables: each kernel, then scores by level
with intervals (bench/score/score.py). Fails when a run is missing or a kernel ended below 1x.

A policy is scored where all its runs are there, so that all scores stand on the same tasks; a
kernel's speedup is the geometric mean over the seeds."""

import argparse
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "score"))
import score  # noqa: E402
import stamp  # noqa: E402

FIGURES = ("geomean_all", "median_all", "harmonic_all", "fast_1", "fast_2", "fast_5", "fast_10",
           "correct")


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


def add_earlier(runs, missing, args, earlier):
    """Takes what is missing from an earlier table's document: same budget, same program."""
    if str(earlier["budget"]) != args.budget:
        sys.exit(f"the earlier table has budget {earlier['budget']}, not {args.budget}")
    for kernel in args.kernels:
        for policy in args.policies:
            found = earlier["speedups"].get(policy, {}).get(kernel.stem, [])
            for seed, speedup in zip(earlier["seeds"], found):
                name = f"{kernel.stem} ({policy}, seed {seed})"
                if name in missing:
                    runs[kernel.stem, policy, seed] = {"speedup": speedup, "earlier": True}
                    missing.remove(name)


def speedup_of(runs, kernel, policy, seeds):
    """Geometric mean over the seeds; None where a run is missing. A run without a right variant
    leaves the user the original: 1."""
    found = [runs.get((kernel, policy, seed)) for seed in seeds]
    if None in found:
        return None
    return score.geomean([run["speedup"] or 1.0 for run in found])


def row_of(name, level, args, runs):
    """One kernel: its speedup by each policy, then facts of the first policy and seed."""
    row = [level, name]
    for policy in args.policies:
        value = speedup_of(runs, name, policy, args.seeds)
        star = any("earlier" in runs.get((name, policy, seed), {}) for seed in args.seeds)
        row.append("missing" if value is None else f"{value:.2f}" + "*" * star)
    first = runs.get((name, args.policies[0], args.seeds[0]))
    if not first or "earlier" in first:
        row += [""] * 3
    else:
        row.append(str(first["evaluated"]))
        row.append(str(sum(n for v, n in first["verdicts"].items() if v != "ok")))
        row.append(" > ".join(step["move"] for step in first["path"][1:]) or "none")
    return "| " + " | ".join(row) + " |"


def cell(figure, digits=2):
    if figure["value"] is None:
        return "-"
    low, high = figure["interval"]
    return f"{figure['value']:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def scores_of(names, levels, args, runs):
    """{level: {policy: score}}, level "all" too, of the policies that have all runs (of all policies
    where none has, on the kernels that all have); and {level: {policy: score of the ratios of the
    first policy to it}}, on the kernels that both have."""
    def has(name, policy):
        return all((name, policy, seed) in runs for seed in args.seeds)

    def ratio(name, policy):
        return speedup_of(runs, name, args.policies[0], args.seeds) / \
            speedup_of(runs, name, policy, args.seeds)

    whole = [p for p in args.policies if all(has(n, p) for n in names)] or args.policies
    done = [n for n in names if all(has(n, p) for p in whole)]
    scored, ratios = {}, {}
    for level in sorted({levels.get(n, "-") for n in done}) + ["all"]:
        members = [n for n in names if level in ("all", levels.get(n, "-"))]
        scored[level] = {p: score.score([speedup_of(runs, n, p, args.seeds) for n in members
                                         if n in done]) for p in whole}
        ratios[level] = {p: score.score([ratio(n, p) for n in members if has(n, p) and
                                         has(n, args.policies[0])]) for p in args.policies[1:]}
    return scored, ratios


def score_tables(scored, ratios, args):
    first, whole = args.policies[0], list(scored["all"])
    lines = ["", "## By level", "", "Geometric mean over the kernels, with 95% bootstrap intervals over "
             "kernels" + ("." if whole == args.policies else "; of the policies with all runs."),
             "", "| level | kernels | " + " | ".join(whole) + " |",
             "|---|---:" + "|---:" * len(whole) + "|"]
    for level, by in scored.items():
        lines.append(f"| {level} | {by[whole[0]]['tasks']} | " +
                     " | ".join(cell(by[p]["geomean_all"]) for p in whole) + " |")
    if ratios["all"]:
        lines += ["", f"{first} over each other policy, kernel by kernel where both have all runs (above "
                  f"1: {first} is ahead), and how many kernels:",
                  "", "| level | " + " | ".join(ratios["all"]) + " |", "|---" + "|---:" *
                  len(ratios["all"]) + "|"]
        lines += [f"| {level} | " + " | ".join(
            f"{cell(r['geomean_all'], 3)}, {r['tasks']}" for r in by.values()) + " |"
            for level, by in ratios.items()]
    lines += ["", "All kernels:", "", "| figure | " + " | ".join(whole) + " |",
              "|---" + "|---:" * len(whole) + "|"]
    lines += [f"| {figure} | " + " | ".join(cell(scored["all"][p][figure]) for p in whole) + " |"
              for figure in FIGURES]
    return lines


def page(args, runs, levels):
    names = [k.stem for k in args.kernels if any(key[0] == k.stem for key in runs)]
    names.sort(key=lambda n: (levels.get(n, "-"), n))
    any_run = next(run for run in runs.values() if "earlier" not in run)
    word = "speedup" if any_run["speedup_from"] == "measured" else "modelled speedup"
    command = (f"bench/suite.sh --budget {args.budget} " + " ".join(f"--seed {s}" for s in args.seeds) +
               "".join(f" --policy {p}" for p in args.policies))
    lines = [
        f"# The suite: {word} over the original",
        "",
        f"`{command}` at commit {args.commit or stamp.commit()}, on {any_run['device']}; host: "
        f"{stamp.processor()}. {'Times are modelled by the emulator.' if word != 'speedup' else ''}",
        f"Each cell is the geometric mean over {len(args.seeds)} seed(s); the last three columns are "
        f"of {args.policies[0]}, seed {args.seeds[0]}. Fewer than {args.budget} evaluated: the run "
        "came within 5% of the roofline or had nothing left to try." +
        (f" A star: {args.earlier_note}." if args.earlier_note else ""),
        "",
        "| level | kernel | " + " | ".join(args.policies) + " | evaluated | failed | moves of the best |",
        "|---|---" + "|---:" * len(args.policies) + "|---:|---:|---|",
    ]
    lines += [row_of(name, levels.get(name, "-"), args, runs) for name in names]
    scored, ratios = scores_of(names, levels, args, runs)
    if next(iter(scored["all"].values()))["tasks"] > 0:
        lines += score_tables(scored, ratios, args)
    document = {
        "budget": args.budget, "seeds": args.seeds, "commit": args.commit or stamp.commit(),
        "from": any_run["speedup_from"], "scores": scored, "ratios": ratios,
        "speedups": {p: {n: [runs[n, p, s]["speedup"] for s in args.seeds if (n, p, s) in runs]
                         for n in names} for p in args.policies},
    }
    return "\n".join(lines) + "\n", document


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--budget")
    parser.add_argument("--seeds", type=lambda text: text.split(","))
    parser.add_argument("--policies", type=lambda text: text.split(","))
    parser.add_argument("--commit", help="what the runs were made with, if not what is checked out")
    parser.add_argument("--earlier", type=pathlib.Path,
                        help="suite.json of an earlier table, for runs that are missing")
    parser.add_argument("--earlier-note", help="what these are, for the table")
    parser.add_argument("--levels", default="kernels/levels.txt")
    parser.add_argument("kernels", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    runs, missing = load(args)
    if args.earlier:
        add_earlier(runs, missing, args, json.loads(args.earlier.read_text()))
    if not runs:
        sys.exit("no run ended; see the .err files in " + str(args.work))
    text, document = page(args, runs, score.read_levels(args.levels))
    (args.out / "suite.md").write_text(text)
    (args.out / "suite.json").write_text(json.dumps(document, indent=1) + "\n")
    print(text)
    below = [" ".join(key) for key, run in runs.items() if run["speedup"] < 1]
    for problem, what in ((missing, "did not run to the end"), (below, "ended below 1x")):
        if problem:
            print(f"{what}: {', '.join(problem)}", file=sys.stderr)
    return 1 if missing or below else 0


if __name__ == "__main__":
    sys.exit(main())
