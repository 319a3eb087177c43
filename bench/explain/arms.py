#!/usr/bin/env python3
"""Does the explanation help? The same tasks and seeds, searched under five kinds of feedback.

  bench/explain/arms.py [--seeds 20] [--budget 30] [--jobs N] [--work DIR] [--out DIR] [--model SPEC]
                        [--earlier ARMS.json] [--table-only] [KERNEL.cu...]

Arms: none, counters, generic, findings (ours), other (ours, of another kernel's profile; which one follows
from the seed). They differ in keet-opt's --feedback alone. Runs that WORK/runs.jsonl already holds are not
run again; evaluations are shared by --reuse, which changes no result (tests/explain/arms.py). Writes
OUT/arms.md and OUT/arms.json (default results/explain). With --model the same arms fill the model's prompt
as well. Without: rewriter and tuner propose, and the feedback sets the priors of the search."""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import random
import sqlite3
import subprocess
import sys
import threading

import stats

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import stamp  # noqa: E402

ARMS = ["none", "counters", "generic", "findings", "other"]
OURS = "findings"
BUDGETS = [5, 10, 20, 30]
TITLES = {"none": "no feedback", "counters": "raw counters", "generic": "generic advice",
          "findings": "our explanation", "other": "another kernel's explanation"}
# The weights of src/explain/ were tuned on these, every second of the 28 tasks that the suite had then. All others
# are held out, those that came later too: which half a task is in must not change when another is added.
TUNED = {"argmax", "batched_matmul", "box_blur", "cross_entropy", "dot", "gemv", "histogram", "matmul", "matvec_t",
         "nbody", "rmsnorm", "softmax", "stencil3d", "swiglu"}


def donors(kernels, seed):
    """Another kernel for each: one cycle through all of them (Sattolo 1986), by the seed."""
    rng = random.Random(seed)
    order = sorted(kernels)
    for i in range(len(order) - 1, 0, -1):
        j = rng.randrange(i)
        order[i], order[j] = order[j], order[i]
    return {k: order[(i + 1) % len(order)] for i, k in enumerate(order)}


def curve_of(database, budget):
    """log2 of the best speedup after 1, 2, ... budget evaluations. What an earlier node of the run is
    known to do is recalled, not evaluated. A run that ended before keeps its last value."""
    db = sqlite3.connect(database)
    rows = db.execute("SELECT speedup, verdict, recalled_from FROM node WHERE number > 0 AND run ="
                      " (SELECT max(id) FROM run) ORDER BY id").fetchall()
    db.close()
    best, curve = 0.0, []
    for speedup, verdict, recalled in rows:
        if verdict == "ok" and speedup and speedup > 0:
            best = max(best, math.log2(speedup))
        if recalled is None:
            curve.append(best)
        elif curve:
            curve[-1] = best
    curve = curve[:budget]
    return curve + [best] * (budget - len(curve))


class Runner:
    def __init__(self, args):
        self.args = args
        self.lock = threading.Lock()
        self.busy = {}
        # A kernel of the suite has the same donors in every part of the experiment.
        suite = sorted((ROOT / "kernels").glob("*.cu"))
        given = [p.resolve() for p in args.kernels]
        self.paths = {p.stem: p for p in (suite if set(given) <= set(suite) else args.kernels)}
        args.work.mkdir(parents=True, exist_ok=True)
        self.log = args.work / "runs.jsonl"
        self.runs = {}
        if self.log.exists():
            for line in self.log.read_text().splitlines():
                record = json.loads(line)
                if record["budget"] == args.budget and record.get("model") == args.model:
                    self.runs[record["kernel"], record["seed"], record["arm"]] = record
        if args.earlier:
            self.take_over(json.loads(args.earlier.read_text()))

    def take_over(self, earlier):
        """Seeds that a published arms.json holds, made by the same program."""
        same = {"commit": self.args.commit, "budget": self.args.budget, "model": self.args.model}
        for key, value in same.items():
            if earlier[key] != value:
                sys.exit(f"{self.args.earlier}: its {key} is {earlier[key]}, not {value}: run that commit's program")
        for arm, kernels in earlier["curves"].items():
            for kernel, curves in kernels.items():
                for seed, curve in zip(earlier["seeds"], curves):
                    self.runs.setdefault((kernel, seed, arm), {
                        "kernel": kernel, "seed": seed, "arm": arm, "curve": curve,
                        "device": earlier["device"], "from": earlier["from"]})

    def database(self, kernel, seed, arm):
        return self.args.work / f"{kernel}-{seed}-{arm}.db"

    def one(self, path, seed, arm, donor=None):
        """Run it unless it was. Whoever wants the same run at the same time waits for it."""
        with self.lock:
            busy = self.busy.setdefault((path.stem, seed, arm), threading.Lock())
        with busy:
            if (path.stem, seed, arm) not in self.runs:
                self.run(path, seed, arm, donor)

    def run(self, path, seed, arm, donor):
        kernel = path.stem
        if donor:
            self.one(self.paths[donor], seed, OURS)
        db = self.database(kernel, seed, arm)
        for old in (db, db.with_name(db.name + "-wal"), db.with_name(db.name + "-shm")):
            old.unlink(missing_ok=True)
        feedback = arm if arm != "other" else f"other:{self.database(donor, seed, OURS)}"
        command = [str(self.args.binary), str(path), "--budget", str(self.args.budget), "--seed", str(seed),
                   "--feedback", feedback, "--reuse", str((self.args.pools or self.args.work) / f"{kernel}.pool.db"),
                   "--device", "emu", "--threads", "1", "--json", "-q", "--db", str(db),
                   "-o", str(self.args.work / f"{kernel}-{arm}.cu")]
        if self.args.model:
            command += ["--model", self.args.model]
        out = subprocess.run(command, capture_output=True, text=True)
        if out.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {out.stderr.strip()}")
        said = json.loads(out.stdout)
        if said["stopped_by"] == "interrupted":
            raise RuntimeError(f"{kernel}, seed {seed}, {arm}: interrupted; run again to go on")
        record = {"kernel": kernel, "seed": seed, "arm": arm, "budget": self.args.budget,
                  "model": self.args.model, "donor": donor, "stopped_by": said["stopped_by"],
                  "evaluated": said["evaluated"], "reused": said["reused"], "tree": said["tree"],
                  "from": said["speedup_from"], "device": said["device"],
                  "curve": curve_of(db, self.args.budget)}
        if arm != OURS:  # ours are other kernels' donors
            db.unlink()
        with self.lock, open(self.log, "a") as log:
            log.write(json.dumps(record) + "\n")
            self.runs[kernel, seed, arm] = record

    def kernel(self, path, seed, arms):
        """A kernel's runs share a file of evaluations: one after the other, so that each is made once."""
        for arm in arms:
            self.one(path, seed, arm, donors(self.paths, seed)[path.stem] if arm == "other" else None)

    def all(self):
        """Seed by seed, so that what was cut off is a whole experiment with fewer seeds."""
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            for seed in self.args.seeds:
                for arms in ([a for a in self.args.arms if a != "other"], [a for a in self.args.arms if a == "other"]):
                    for done in concurrent.futures.as_completed(
                            [pool.submit(self.kernel, path, seed, arms) for path in self.args.kernels]):
                        done.result()


# --- the table ---

def score(curve, metric):
    """metric: a budget, or "area": the mean of the curve, log2 of the speedup had at any time."""
    return stats.mean(curve) if metric == "area" else curve[min(metric, len(curve)) - 1]


def by_task(runs, kernels, seeds, arm, metric):
    return {k: stats.mean([score(runs[k, s, arm]["curve"], metric) for s in seeds]) for k in kernels}


def compare(runs, kernels, seeds, arm, metric):
    """Ours against an arm: over tasks (means over seeds), and over all pairs of task and seed."""
    ours = by_task(runs, kernels, seeds, OURS, metric)
    theirs = by_task(runs, kernels, seeds, arm, metric)
    diffs = [ours[k] - theirs[k] for k in kernels]
    low, high = stats.bootstrap(diffs) if len(diffs) > 1 else (diffs[0], diffs[0])
    _, _, p, effect = stats.wilcoxon(diffs)
    pairs = [score(runs[k, s, OURS]["curve"], metric) - score(runs[k, s, arm]["curve"], metric)
             for k in kernels for s in seeds]
    _, _, p_pairs, effect_pairs = stats.wilcoxon(pairs)
    return {"ratio": 2 ** stats.mean(diffs), "low": 2 ** low, "high": 2 ** high, "p": p, "effect": effect,
            "wins": sum(d > 0 for d in diffs), "losses": sum(d < 0 for d in diffs),
            "p_pairs": p_pairs, "effect_pairs": effect_pairs}


def summary(runs, kernels, seeds, budget):
    metrics = [b for b in BUDGETS if b <= budget] + ["area"]
    means = {a: {str(m): 2 ** stats.mean(list(by_task(runs, kernels, seeds, a, m).values())) for m in metrics}
             for a in ARMS}
    against = {}
    for m in metrics:
        rows = {a: compare(runs, kernels, seeds, a, m) for a in ARMS if a != OURS}
        for row, p in zip(rows.values(), stats.holm([r["p"] for r in rows.values()])):
            row["p_holm"] = p
            row["beats"] = row["low"] > 1 and p < 0.05
        against[str(m)] = rows
    return {"kernels": list(kernels), "means": means, "against": against}


def p_text(p):
    return f"{p:.3f}" if p >= 0.001 else f"{p:.0e}"


def part_text(title, part, budget):
    metrics = [b for b in BUDGETS if b <= budget] + ["area"]
    beaten = {m: [TITLES[a] for a, r in part["against"][str(m)].items() if r["beats"]] for m in metrics}
    lines = [f"## {title}: {len(part['kernels'])} tasks", "",
             "Our explanation beats " + "; ".join(f"{'over the ' if m == 'area' else 'at '}{m}: "
                                                  f"{', '.join(beaten[m]) or 'none of them'}" for m in metrics) + ".", "",
             "Modelled speedup, geometric mean over tasks and seeds, after so many evaluations; area: the same over "
             "all moments of the run.", "",
             "| feedback | " + " | ".join(f"at {m}" if m != "area" else "area" for m in metrics) + " |",
             "|---" + "|---:" * len(metrics) + "|"]
    for arm in ARMS:
        lines.append(f"| {TITLES[arm]} | " + " | ".join(f"{part['means'][arm][str(m)]:.2f}" for m in metrics) + " |")
    lines += ["", "Our explanation against each other arm: ratio with its 95% interval; tasks won and lost; Wilcoxon "
              "over tasks, Holm-adjusted within the row group; rank-biserial effect, over tasks and over all pairs of "
              "task and seed.", "",
              "| at | against | ratio | 95% interval | won : lost | p | effect | p, all pairs | effect | ours beats it |",
              "|---|---|---:|---|---|---:|---:|---:|---:|---|"]
    for m in metrics:
        for arm, r in part["against"][str(m)].items():
            lines.append(f"| {m} | {TITLES[arm]} | {r['ratio']:.3f} | {r['low']:.3f} to {r['high']:.3f} | "
                         f"{r['wins']} : {r['losses']} | {p_text(r['p_holm'])} | {r['effect']:+.2f} | "
                         f"{p_text(r['p_pairs'])} | {r['effect_pairs']:+.2f} | {'yes' if r['beats'] else 'no'} |")
    return lines + [""]


def task_text(runs, kernels, seeds, budget):
    lines = ["## Each task", "", f"Modelled speedup at {budget} and over the area, geometric mean over seeds.", "",
             "| task | half | " + " | ".join(f"{a} at {budget}" for a in ARMS) + " | " +
             " | ".join(f"{a}, area" for a in ARMS) + " |", "|---|---" + "|---:" * (2 * len(ARMS)) + "|"]
    for k in kernels:
        cells = [f"{2 ** by_task(runs, [k], seeds, a, m)[k]:.2f}" for m in (budget, "area") for a in ARMS]
        lines.append(f"| {k} | {'tuned on' if k in TUNED else 'held out'} | " + " | ".join(cells) + " |")
    return lines + [""]


def write_table(args, runs):
    kernels, seeds = sorted(p.stem for p in args.kernels), args.seeds
    parts = {"All": summary(runs, kernels, seeds, args.budget)}
    halves = {"Tuned on": [k for k in kernels if k in TUNED], "Held out": [k for k in kernels if k not in TUNED]}
    if all(len(half) >= 2 for half in halves.values()):
        parts |= {title: summary(runs, half, seeds, args.budget) for title, half in halves.items()}
    any_run = next(iter(runs.values()))
    who = f"{args.model} proposes beside rewriter and tuner; " if args.model else "rewriter and tuner propose; "
    lines = ["# Does the explanation help?", "",
             f"`bench/explain/arms.py --seeds {len(seeds)} --budget {args.budget}` at commit {args.commit}, "
             f"{any_run['device']}, times {any_run['from']}; {who}policy mcts; host: {stamp.processor()}; "
             f"{len(kernels)} tasks x {len(seeds)} seeds x {len(ARMS)} arms = "
             f"{len(kernels) * len(seeds) * len(ARMS)} runs.", "",
             "What the arms are: [bench/explain/README.md](../../bench/explain/README.md).", ""]
    for title, part in parts.items():
        lines += part_text(title, part, args.budget)
    lines += task_text(runs, kernels, seeds, args.budget)
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "arms.md").write_text("\n".join(lines).rstrip() + "\n")
    (args.out / "arms.json").write_text(json.dumps(
        {"commit": args.commit, "budget": args.budget, "seeds": seeds, "model": args.model,
         "device": any_run["device"], "from": any_run["from"], "parts": parts,
         "curves": {a: {k: [[round(v, 6) for v in runs[k, s, a]["curve"]] for s in seeds] for k in kernels}
                    for a in ARMS}}) + "\n")
    print("\n".join(lines[:4 + 40]))


def seeds_of(text):
    return [int(n) for n in text.split(",") if n] if "," in text else list(range(1, int(text) + 1))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--seeds", type=seeds_of, default=seeds_of("20"), help="N: 1 to N; A,B: these")
    parser.add_argument("--budget", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "keet-out/explain-arms")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "results/explain")
    parser.add_argument("--pools", type=pathlib.Path, help="folder of the files of evaluations, if not WORK")
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build/release/keet-opt")
    parser.add_argument("--model")
    parser.add_argument("--arms", type=lambda text: text.split(","), default=ARMS, help="run these only")
    parser.add_argument("--commit", default=stamp.commit())
    parser.add_argument("--earlier", type=pathlib.Path, help="an arms.json of the same commit: its seeds are taken over")
    parser.add_argument("--table-only", action="store_true")
    parser.add_argument("kernels", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    if len(args.kernels) == 1:
        sys.exit("two kernels at least: one is the other's `other`")
    args.kernels = args.kernels or sorted((ROOT / "kernels").glob("*.cu"))
    runner = Runner(args)
    if not args.table_only:
        runner.all()
    missing = [key for p in args.kernels for s in args.seeds for a in ARMS
               if (key := (p.stem, s, a)) not in runner.runs]
    if missing and args.arms != ARMS:
        return
    if missing:
        sys.exit(f"{len(missing)} runs are missing, the first is {missing[0]}; run without --table-only")
    write_table(args, runner.runs)


if __name__ == "__main__":
    main()
