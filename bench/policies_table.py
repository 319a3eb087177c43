#!/usr/bin/env python3
"""Sets the policies side by side, run by run:

  policies_table.py FOLDER [EVALUATIONS]

FOLDER has TASK-POLICY-SEED.json for each run (bench/suite.sh leaves them in keet-out/suite). With EVALUATIONS, a run counts up
to so many: TASK-POLICY-SEED.nodes has the run's nodes, `select number, parent, verdict, coalesce(speedup, ''),
coalesce(recalled_from, '') from node order by number` of its database; the original and what was recalled are no evaluations.
No policy looks at the budget, so a longer run begins with the shorter one. Markdown tables: the geometric
mean of the speedup over the seeds, by task, and mcts against each other policy. A run without a right variant counts as 1. A
pair is a task and a seed that both have.
The first p is of the signs of all pairs; the second of the tasks' mean log ratios, whose signs are turned in all ways (at
most 2^20 ways, else at random), since seeds of one task are not independent evidence on tasks."""

import itertools
import json
import math
import pathlib
import random
import statistics
import sys

POLICIES = ("mcts", "greedy", "beam", "evolution", "random")


def best_of_first(path, evaluations):
    best, left = 1.0, evaluations
    for line in path.read_text().splitlines():
        number, _, verdict, speedup, recalled_from = line.split("|")
        if number == "0" or recalled_from:
            continue
        if left == 0:
            break
        left -= 1
        if verdict == "ok" and speedup:
            best = max(best, float(speedup))
    return best


def speedups(folder, evaluations):
    found = {}
    for path in sorted(folder.glob("*.json")):
        task, policy, seed = path.stem.rsplit("-", 2)
        found[task, policy, int(seed)] = (best_of_first(path.with_suffix(".nodes"), evaluations) if evaluations
                                          else json.loads(path.read_text())["speedup"] or 1.0)
    return found


def mean(values):
    return math.exp(statistics.mean(map(math.log, values)))


def of_signs(better, worse):
    n = better + worse
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(min(better, worse) + 1)) / 2**n) if n else 1.0


def of_turned_signs(means):
    seen = abs(sum(means)) - 1e-12
    if len(means) <= 20:
        ways = list(itertools.product((1, -1), repeat=len(means)))
    else:
        rng = random.Random(1)
        ways = [[rng.choice((1, -1)) for _ in means] for _ in range(100000)]
    return sum(abs(sum(s * m for s, m in zip(way, means))) >= seen for way in ways) / len(ways)


def main():
    found = speedups(pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    tasks = sorted({task for task, _, _ in found})
    print("| task | seeds | " + " | ".join(POLICIES) + " |\n|---|--:|" + "--:|" * len(POLICIES))
    for task in tasks:
        of = {p: [s for (t, q, _), s in sorted(found.items()) if (t, q) == (task, p)] for p in POLICIES}
        print(f"| {task} | {min(map(len, of.values()))} | "
              + " | ".join(f"{mean(v):.3f} ({min(v):.3f} to {max(v):.3f})" if v else "" for v in of.values()) + " |")
    print("\n| mcts against | tasks | pairs | ratio, geometric mean | better | worse | within 0.1% | p, signs | p, tasks |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for other in POLICIES[1:]:
        logs = {}
        for (task, policy, seed), speedup in found.items():
            if policy == "mcts" and (task, other, seed) in found:
                logs.setdefault(task, []).append(math.log(speedup / found[task, other, seed]))
        pairs = [x for of in logs.values() for x in of]
        if not pairs:
            continue
        means = [statistics.mean(of) for of in logs.values()]
        better, worse = sum(x > 0.001 for x in pairs), sum(x < -0.001 for x in pairs)
        print(f"| {other} | {len(means)} | {len(pairs)} | {math.exp(statistics.mean(means)):.3f} | {better} | {worse} "
              f"| {len(pairs) - better - worse} | {of_signs(better, worse):.2g} | {of_turned_signs(means):.2g} |")


if __name__ == "__main__":
    main()
