#!/usr/bin/env python3
"""Sets curves of our tuner and of Kernel Tuner's optimisers on one space side by side:

  curves.py CACHE NAME=CURVES... OPTIMISERS...

CURVES is what spaces_bench printed, OPTIMISERS what optimisers.py printed. Rows of a Markdown table: the median over the
seeds of the fraction of the optimum after 50 and 100 evaluations, with the 95% interval of the median by resampling."""

import math
import pathlib
import random
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import table  # noqa: E402

AT = (50, 100)
RESAMPLES = 2000


def curves(words):
    """By name: a list of curves, each the best time after each evaluation."""
    found = {}
    for word in words:
        name, _, path = word.rpartition("=")
        for line in pathlib.Path(path).read_text().splitlines():
            fields = line.split()
            who, times = (name, fields) if name else (fields[0], fields[2:])
            if times:
                found.setdefault(who, []).append([float(t) for t in times])
    return found


def interval(values, rng):
    medians = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return medians[int(0.025 * RESAMPLES)], medians[int(0.975 * RESAMPLES) - 1]


def main():
    points = table.points_of(table.read(pathlib.Path(sys.argv[1])))
    least = min(time for _, time in points if time is not None)
    rng = random.Random(1)
    rows = []
    for name, all_curves in curves(sys.argv[2:]).items():
        cells, first = [], 0
        for n in AT:
            values = [0.0 if math.isinf(c[min(n, len(c)) - 1]) else least / c[min(n, len(c)) - 1] for c in all_curves]
            low, high = interval(values, rng)
            cells.append(f"{statistics.median(values):.3f} | {low:.3f} to {high:.3f}")
            first = first or statistics.median(values)
        rows.append((first, f"| {name} | {len(all_curves)} | " + " | ".join(cells) + " |"))
    print("| by | seeds | 50 | 95% | 100 | 95% |\n|---|--:|--:|---|--:|---|")
    for _, row in sorted(rows, reverse=True):
        print(row)


if __name__ == "__main__":
    main()
