#!/usr/bin/env python3
"""Scores of a set of tasks: what share is right, how fast, and how sure that is.

    score.py RESULT... [--json] [--by level|baseline|device] [--levels FILE] [--seed N]
    score.py RUN.db... --over candidates|tokens|dollars|minutes [--json] [--seed N]

A RESULT is a run's database, or what `keet-opt KERNEL.cu --json` or `keet-opt report RUN.db --as
json` prints, or a list of {"task", "speedup", "from", "level", "baseline", "device"}: a speedup of
null is a task that has no right result. Times of the emulator are modelled: they are scored apart
from measured ones, and named so. --levels says a kernel's level by its name, in lines "LEVEL NAME"
(kernels/levels.txt). As a module:

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

--over: geomean_all of the best so far, once each task has spent so much: evaluated candidates,
tokens in and out (lost ones too), dollars (calls without a price count as 0 and are said), or minutes
since the run began, which are device minutes where the run has one device to itself and was not
interrupted.
"""
import argparse
import datetime
import json
import math
import os
import random
import sqlite3
import statistics
import sys

POINTS = (1, 1.5, 2, 5, 10)
RESAMPLES = 2000
COSTS = ("candidates", "tokens", "dollars", "minutes")


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


def read(paths, levels=None):
    rows = []
    for path in paths:
        if path.endswith(".db"):
            rows.append(row_of(of_database(path)))
            continue
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        if isinstance(document, dict) and "tasks" in document:
            document = document["tasks"]
        rows += [row_of(one) for one in (document if isinstance(document, list) else [document])]
    for row in rows if levels else ():
        row["level"] = levels.get(stem(row["task"]), row["level"])
    return rows


def stem(task):
    return os.path.splitext(os.path.basename(task))[0]


def read_levels(path):
    """{"saxpy": "1"} of lines "1 saxpy"; # begins a comment."""
    levels = {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            words = line.split("#")[0].split()
            if words and (len(words) != 2 or words[1] in levels):
                raise ValueError(f"{path}:{number}: a level and the name of one kernel are expected")
            if words:
                levels[words[1]] = words[0]
    return levels


# ---- runs' databases ----

def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def of_database(path):
    """The newest run in it: a document, with "steps": for each node in order what had been spent by
    then, and the best speedup so far."""
    if not os.path.exists(path):
        raise ValueError(f"{path}: no such file")
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        run = db.execute("SELECT id, kernel_path, device, started FROM run ORDER BY id DESC").fetchone()
        if not run:
            raise ValueError(f"{path}: it holds no run")
        nodes = db.execute(
            "SELECT node.number, verdict, speedup, stored, time_from FROM node LEFT JOIN measurement"
            " ON measurement.node = node.id WHERE run = ? ORDER BY number", run[:1]).fetchall()
        calls = db.execute(
            "SELECT number, sum(ifnull(tokens_in, 0) + ifnull(tokens_out, 0) + lost_in + lost_out),"
            " sum(ifnull(cost, 0)), sum(cost IS NULL) FROM model_call WHERE run = ? GROUP BY number",
            run[:1]).fetchall()
    except sqlite3.Error as error:
        raise ValueError(f"{path}: {error}") from error
    finally:
        db.close()
    steps, best, origin = [], None, "measured"
    spent = dict.fromkeys(COSTS, 0)
    by_node = {number: held for number, *held in calls}
    for number, verdict, speedup, stored, time_from in nodes:
        tokens, dollars, _ = by_node.get(number, (0, 0, 0))
        spent["candidates"] += number > 0
        spent["tokens"] += tokens
        spent["dollars"] += dollars
        spent["minutes"] = max(0, seconds(stored) - seconds(run[3])) / 60
        if verdict == "ok" and speedup and (best is None or speedup > best):
            best, origin = speedup, time_from
        steps.append((dict(spent), best))
    return {"kernel": run[1], "device": run[2], "speedup": best, "speedup_from": origin,
            "steps": steps, "unpriced": sum(held[2] for held in by_node.values())}


def best_by(steps, cost, limit):
    """1 before anything is known, as for a failure: the user has the original."""
    best = 1.0
    for spent, speedup in steps:
        if spent[cost] <= limit and speedup is not None:
            best = speedup
    return best


def marks(last, whole):
    """0, then 1, 2, 5, 10... up to the last for counts; else tenths of it."""
    if not whole:
        return [last * i / 10 for i in range(11)] if last > 0 else [0]
    ladder = [lead * 10 ** power for power in range(12) for lead in (1, 2, 5)]
    return [0] + [mark for mark in ladder if mark < last] + ([last] if last > 0 else [])


def over(runs, cost, seed=1):
    """{"modelled": [{"spent", "geomean_all", "interval"}]} of documents with steps."""
    out = {}
    for origin in sorted({run["speedup_from"] for run in runs}):
        held = [run["steps"] for run in runs if run["speedup_from"] == origin]
        last = max(step[0][cost] for steps in held for step in steps)
        out[origin] = []
        for mark in marks(last, cost in ("candidates", "tokens")):
            figure = score([best_by(steps, cost, mark) for steps in held], seed)["geomean_all"]
            out[origin].append({"spent": mark, "tasks": len(held), "geomean_all": figure["value"],
                                "interval": figure["interval"]})
    return out


def curve_table(curves, cost, unpriced):
    lines = []
    for origin, points in curves.items():
        lines += [f"### best so far over {cost}, {origin}: {points[0]['tasks']} tasks", "",
                  f"| {cost} | geomean_all | 95% interval |", "|---:|---:|---|"]
        for held in points:
            lines.append("| {:.6g} | {:.3f} | {:.3f} to {:.3f} |".format(
                held["spent"], held["geomean_all"], *held["interval"]))
        lines.append("")
    if cost == "dollars" and unpriced:
        lines.append(f"{unpriced} calls have no price and count as 0.\n")
    return "\n".join(lines) if lines else "no tasks\n"


# ---- tables ----

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
    parser.add_argument("--levels")
    parser.add_argument("--over", choices=COSTS)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    try:
        if options.over:
            runs = [of_database(path) for path in options.results]
            result = over(runs, options.over, options.seed)
            text = curve_table(result, options.over, sum(run["unpriced"] for run in runs))
        else:
            levels = read_levels(options.levels) if options.levels else None
            result = scores(read(options.results, levels), options.by, options.seed)
            text = table(result)
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"score.py: {error}")
    print(json.dumps(result, indent=1) if options.json else text)


if __name__ == "__main__":
    main()
