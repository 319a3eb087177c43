#!/usr/bin/env python3
"""Two ways to search, side by side: geometric means of the best modelled speedup after so many evaluations.

    bench/search/curve.py BEFORE AFTER

Each is a folder of databases of the same names, one a run, as keet-opt --db makes them. Only runs that are in both
count. Prints a table in Markdown, a row for each of the runs whose ends differ, and the means.
"""

import math
import pathlib
import sqlite3
import sys

POINTS = (3, 5, 8, 10, 15, 20, 30)


def curve(path):
    """The best speedup after each of POINTS evaluations; a node that was recalled from an equal one is none."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        rows = connection.execute(
            "SELECT verdict, recalled_from, speedup FROM node WHERE number > 0 ORDER BY id"
        ).fetchall()
    best, after = 1.0, [1.0]
    for verdict, recalled_from, speedup in rows:
        if verdict == "ok" and speedup:
            best = max(best, speedup)
        if recalled_from is None:
            after.append(best)
        else:
            after[-1] = best
    return [after[min(point, len(after) - 1)] for point in POINTS]


def row(name, values):
    return f"| {name} | " + " | ".join(f"{value:.3f}" for value in values) + " |"


def main():
    folders = [pathlib.Path(name) for name in sys.argv[1:]]
    if len(folders) != 2:
        sys.exit(__doc__)
    names = sorted({path.name for path in folders[0].glob("*.db")} & {path.name for path in folders[1].glob("*.db")})
    curves = [[curve(folder / name) for name in names] for folder in folders]
    print("| after | " + " | ".join(map(str, POINTS)) + " |\n|---|" + "--:|" * len(POINTS))
    for name, before, after in zip(names, *curves):
        if abs(math.log(before[-1] / after[-1])) > 1e-3:
            print(row(f"{name}, before", before))
            print(row(f"{name}, after", after))
    for word, runs in zip(("before", "after"), curves):
        means = [math.exp(sum(math.log(run[i]) for run in runs) / len(runs)) for i in range(len(POINTS))]
        print(row(f"**{len(runs)} runs, {word}**", means))


main()
