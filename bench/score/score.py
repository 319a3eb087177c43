#!/usr/bin/env python3
"""Scores of a set of tasks: what share is right, how fast, and how sure that is.

    score.py RESULT.json... [--json] [--by level|baseline|device] [--seed N]

A RESULT is what `keet-opt KERNEL.cu --json` or `keet-opt report RUN.db --as json` prints, or a list
of {"task", "speedup", "from", "level", "baseline", "device"}: a speedup of null is a task that has
no right result. Times of the emulator are modelled: they are scored apart from measured ones, and
named so. As a module:

    from score import score
    score([2.0, 1.0, None])["fast_1"]["value"]

Definitions, over n tasks with speedup s where right:

fast_p          share of all tasks that are right with s > p, strictly, as KernelBench counts
                (Ouyang et al., 2025); a tie with the baseline is not fast_1
correct         share of tasks that are right
geomean_correct geometric mean of s over the right ones
geomean_all     the same over all, a failure counting as 1: the user keeps the baseline
median_correct, median_all
harmonic_all    n / sum(1/s), a failure as 1: the speedup of a day on which every task takes equally
                long with the baseline
intervals       95%, percentile bootstrap over tasks (Efron, 1979), the same for the same seed

What has no task to stand on is null.
"""
import argparse
import json
import math
import random
import statistics
import sys

POINTS = (1, 1.5, 2, 5, 10)
RESAMPLES = 2000


def check_speedups(speedups):
    for s in speedups:
        if s is not None and not (math.isfinite(s) and s > 0):
            raise ValueError(f"a speedup is a number above 0, or None for a failure, not {s}")


def geomean(values):
    return math.exp(math.fsum(map(math.log, values)) / len(values)) if values else None


def harmonic(values):
    return len(values) / math.fsum(1 / v for v in values) if values else None


def point(speedups):
    """All figures without their intervals, flat: {"fast_1": ..., "correct": ...}."""
    right = [s for s in speedups if s is not None]
    every = [1.0 if s is None else s for s in speedups]
    n = len(speedups)
    figures = {f"fast_{p:g}": sum(s > p for s in right) / n if n else None for p in POINTS}
    figures["correct"] = len(right) / n if n else None
    figures["geomean_correct"] = geomean(right)
    figures["geomean_all"] = geomean(every)
    figures["median_correct"] = statistics.median(right) if right else None
    figures["median_all"] = statistics.median(every) if every else None
    figures["harmonic_all"] = harmonic(every)
    return figures


def quantile(ordered, q):
    """Between the two nearest of the values in order (type 7 of Hyndman and Fan)."""
    at = q * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def intervals(speedups, seed=1, resamples=RESAMPLES):
    """[low, high] for each figure of point(); None where there is none. A resample in which no task
    is right says nothing of the right ones, and is left out of their figures."""
    dice = random.Random(seed)
    seen = {name: [] for name in point([])}
    if speedups:
        for _ in range(resamples):
            for name, value in point(dice.choices(speedups, k=len(speedups))).items():
                if value is not None:
                    seen[name].append(value)
    ordered = {name: sorted(values) for name, values in seen.items()}
    return {name: [quantile(values, 0.025), quantile(values, 0.975)] if values else None
            for name, values in ordered.items()}


def score(speedups, seed=1):
    speedups = list(speedups)
    check_speedups(speedups)
    ranges = intervals(speedups, seed)
    return {"tasks": len(speedups), "right": sum(s is not None for s in speedups),
            **{name: {"value": value, "interval": ranges[name]}
               for name, value in point(speedups).items()}}


# ---- results ----

def row_of(document):
    """A row of a list, or a run's JSON document."""
    if "task" in document:
        row = dict(document)
    else:
        row = {"task": document["kernel"], "speedup": document["speedup"],
               "from": document["speedup_from"], "device": document.get("device")}
    row.setdefault("from", "measured")
    row.setdefault("baseline", "original")
    row.setdefault("level", None)
    row.setdefault("device", None)
    if row["speedup"] is not None and row["speedup"] <= 0:
        row["speedup"] = None
    return row


def read(paths):
    rows = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        rows += [row_of(one) for one in (document if isinstance(document, list) else [document])]
    return rows


def scores(rows, by=None, seed=1):
    """Rows by provenance, and by a field of theirs: {"modelled": {"all": score}}. A task that is
    there twice within one of these is an error, since it would count twice."""
    groups = {}
    for row in rows:
        key = (row["from"], str(row[by]) if by else "all")
        tasks = groups.setdefault(key, {})
        if row["task"] in tasks:
            raise ValueError(f"{row['task']} is there twice ({', '.join(key)})")
        tasks[row["task"]] = row["speedup"]
    out = {}
    for (origin, value), tasks in sorted(groups.items()):
        out.setdefault(origin, {})[value] = score(tasks.values(), seed)
    return out


def table(all_scores):
    lines = []
    for origin, groups in all_scores.items():
        for name, figures in groups.items():
            lines += [f"### {name}, {origin}: {figures['tasks']} tasks, {figures['right']} right", "",
                      "| figure | value | 95% interval |", "|---|---:|---|"]
            for figure, held in figures.items():
                if not isinstance(held, dict):
                    continue
                value = "-" if held["value"] is None else f"{held['value']:.3f}"
                span = "-" if held["interval"] is None else "{:.3f} to {:.3f}".format(
                    *held["interval"])
                lines.append(f"| {figure} | {value} | {span} |")
            lines.append("")
    return "\n".join(lines) if lines else "no tasks\n"


def main():
    parser = argparse.ArgumentParser(description="Scores of a set of tasks.")
    parser.add_argument("results", nargs="*")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--by", choices=("level", "baseline", "device"))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    try:
        result = scores(read(options.results), options.by, options.seed)
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"score.py: {error}")
    print(json.dumps(result, indent=1) if options.json else table(result))


if __name__ == "__main__":
    main()
