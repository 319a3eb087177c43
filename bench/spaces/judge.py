#!/usr/bin/env python3
"""Sets our tuner and Kernel Tuner's optimisers side by side on many spaces:

  judge.py FOLDER

FOLDER has NAME.json.gz for each space, and in FOLDER/curves what spaces_bench printed as NAME.surrogate and NAME.random, and
what optimisers.py printed as NAME.STRATEGY. Two Markdown tables: the fraction of the optimum, by space, and by optimiser as
the mean over the spaces. An interval is the 95% interval of the median by resampling; ahead means that two do not meet."""

import math
import pathlib
import random
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import curves  # noqa: E402
import table  # noqa: E402

OURS = ("surrogate", "random")


def figures(all_curves, least, n, rng):
    """The median after n evaluations, and its interval."""
    values = [0.0 if math.isinf(c[min(n, len(c)) - 1]) else least / c[min(n, len(c)) - 1] for c in all_curves]
    return (statistics.median(values), *curves.interval(values, rng))


def space(cache, rng):
    """By optimiser and number of evaluations: a median with its interval."""
    name = cache.name.removesuffix(".json.gz")
    least = min(time for _, time in table.points_of(table.read(cache)) if time is not None)
    found = {}
    for path in sorted(cache.parent.glob(f"curves/{name}.*")):
        who = path.name.removeprefix(name + ".")
        for all_curves in curves.curves([f"{who}={path}" if who in OURS else str(path)]).values():
            found[who] = {n: figures(all_curves, least, n, rng) for n in curves.AT}
    return name, found


def main():
    rng = random.Random(1)
    spaces = dict(space(cache, rng) for cache in sorted(pathlib.Path(sys.argv[1]).glob("*.json.gz")))
    print("| space | surrogate, 50 | 95% | best optimiser, 50 | surrogate, 100 | 95% | best optimiser, 100 | random, 50 | 100 |")
    print("|---|--:|---|---|--:|---|---|--:|--:|")
    for name, found in spaces.items():
        cells = []
        for n in curves.AT:
            median, low, high = found["surrogate"][n]
            best = max((w for w in found if w not in OURS), key=lambda w: found[w][n][0], default=None)
            other = f"{best} {found[best][n][0]:.3f} ({found[best][n][1]:.3f} to {found[best][n][2]:.3f})" if best else "not run"
            cells += [f"{median:.3f}", f"{low:.3f} to {high:.3f}", other]
        print(f"| {name} | " + " | ".join(cells) + " | " + " | ".join(f"{found['random'][n][0]:.3f}" for n in curves.AT) + " |")
    print("\n| by | spaces | 50 | 100 | surrogate there, 50 | 100 | it is ahead of surrogate, 50 | 100 | behind, 50 | 100 |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    rows = []
    for who in sorted({who for found in spaces.values() for who in found}):
        there = [found for found in spaces.values() if who in found]
        means = [statistics.mean(found[w][n][0] for found in there) for w in (who, "surrogate") for n in curves.AT]
        ahead = [sum(found[who][n][1] > found["surrogate"][n][2] for found in there) for n in curves.AT]
        behind = [sum(found[who][n][2] < found["surrogate"][n][1] for found in there) for n in curves.AT]
        rows.append((means[0], f"| {who} | {len(there)} | " + " | ".join(f"{m:.3f}" for m in means) + " | "
                     + " | ".join(map(str, ahead + behind)) + " |"))
    print("\n".join(row for _, row in sorted(rows, reverse=True)))


if __name__ == "__main__":
    main()
