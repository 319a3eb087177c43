"""Replays recorded spaces (table.py) by the tuner's surrogate and at random, and writes the table."""

import argparse
import concurrent.futures
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench/spaces")]
import stamp  # noqa: E402
import table  # noqa: E402

AT = (10, 20, 50, 100)
HOW = ("surrogate", "random")


def fractions(cache, how, args):
    """The median over the seeds of the optimum's time over the best time after so many evaluations."""
    points = list(table.points_of(table.read(cache)))
    least = min(time for _, time in points if time is not None)
    done = subprocess.run([args.bench, how, str(args.seeds), str(max(AT))], input=table.table(points), text=True,
                          capture_output=True, check=True)
    rows = [[least / float(time) for time in line.split()] for line in done.stdout.splitlines()]
    return [statistics.median(row[min(n, len(row)) - 1] for row in rows) for n in AT]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bench", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "results/spaces")
    parser.add_argument("--note", default="")
    parser.add_argument("caches", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    names = {cache: f"{cache.parent.name}/{cache.name.split('.')[0]}" for cache in args.caches}
    lines = ["# Recorded tuning spaces", "",
             f"`bench/spaces.sh --seeds {args.seeds}` at commit {stamp.commit('src', 'bench/spaces')}: the fraction of the "
             f"optimum, median of {args.seeds} seeds, after so many evaluations. {args.note}".strip(), "",
             "| space | by | " + " | ".join(map(str, AT)) + " |", "|---|---|" + "--:|" * len(AT)]
    total = {how: [] for how in HOW}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [(cache, how, pool.submit(fractions, cache, how, args)) for cache in args.caches for how in HOW]
        for cache, how, job in jobs:
            total[how].append(job.result())
            lines.append(f"| {names[cache]} | {how} | " + " | ".join(f"{x:.3f}" for x in job.result()) + " |")
    for how in HOW:
        lines.append(f"| mean | {how} | " + " | ".join(f"{statistics.mean(x):.3f}" for x in zip(*total[how])) + " |")
    text = "\n".join(lines) + "\n"
    (args.out / "spaces.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
