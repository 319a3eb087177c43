"""What bench/ceilings.sh does: checks and times the best known versions, searches, writes the table."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench/score")]
import score  # noqa: E402
import stamp  # noqa: E402

EARLY = 30


def keet(args, *words):
    done = subprocess.run([args.keet_opt, *words, "--threads", "1", "--json", "-q"], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise RuntimeError(f"keet-opt {' '.join(map(str, words))}: {done.stderr.strip() or done.stdout[-400:]}")
    return json.loads(done.stdout)


def known(task, ceiling, args):
    """The time of the best known version; it must be right."""
    if not ceiling.exists():
        return None
    keet(args, "check", task, ceiling)
    return keet(args, "run", ceiling)["time_ns"] / 1000


def search(task, args):
    """The database of the task's search; made unless it is to be kept."""
    base = args.work / f"{task.stem}-{args.seed}"
    database = base.with_suffix(".db")
    if args.go_on and base.with_suffix(".json").exists():
        return database
    for path in args.work.glob(base.name + ".*"):
        path.unlink()
    summary = keet(args, task, "--budget", str(args.budget), "--seed", str(args.seed), "--db", database,
                   "-o", base.with_suffix(".cu"))
    base.with_suffix(".json").write_text(json.dumps(summary))
    return database


def progress(database):
    """The best time, us, after each evaluation, the original's first. What a node took over from an equal
    one was not evaluated again, and does not count against the budget."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as db:
        rows = db.execute("""SELECT verdict, time_ns, recalled_from FROM node
                             LEFT JOIN measurement ON measurement.node = node.id ORDER BY number""").fetchall()
    best = []
    for verdict, time_ns, recalled_from in rows:
        if recalled_from is not None:
            continue
        time = time_ns / 1000 if verdict == "ok" and time_ns else float("inf")
        best.append(min(best[-1], time) if best else time)
    return best


def row_of(task, args):
    ceiling = args.ceilings / task.name
    best = progress(search(task, args))
    late = best[min(args.budget, len(best) - 1)]
    file_us = known(task, ceiling, args)
    if args.keep and (file_us is None or late < file_us):
        shutil.copy(args.work / f"{task.stem}-{args.seed}.cu", ceiling)
        file_us = known(task, ceiling, args)
    best_known = min(late, file_us or late)
    return {"task": task.stem, "original_us": best[0], "known_us": best_known, "file_us": file_us,
            "found_us": {str(n): best[min(n, len(best) - 1)] for n in sorted({EARLY, args.budget})},
            "evaluated": len(best) - 1}


def share(row, n):
    return row["known_us"] / row["found_us"][n]


def page(rows, args):
    """The table, the furthest from its ceiling first."""
    budgets = list(rows[0]["found_us"])
    last = budgets[-1]
    lines = ["# Ceilings: the best known version of each task, and what the search finds", "",
             f"`bench/ceilings.sh --budget {args.budget} --seed {args.seed}` at commit {args.commit or stamp.commit()}; emulated H100 "
             f"SXM5, times are modelled; host: {stamp.processor()}.", "",
             "Best known: the file of [bench/ceilings](../../bench/ceilings/README.md), checked, or what this search found "
             "where that is faster. Share: best known time over found time, 1 is the ceiling; the search is mcts "
             "without a model. Furthest from the ceiling first.", "",
             "| task | original, us | best known, us | " + " | ".join(f"found at {n}, us | share" for n in budgets) + " |",
             "|---|--:|--:|" + "--:|--:|" * len(budgets)]
    for row in sorted(rows, key=lambda r: share(r, last)):
        cells = " | ".join(f"{row['found_us'][n]:.1f} | {share(row, n):.2f}" for n in budgets)
        lines.append(f"| {row['task']} | {row['original_us']:.1f} | {row['known_us']:.1f} | {cells} |")
    lines += ["", "| evaluations | geometric mean of the shares | least | under 0.4 | speedup over the original |",
              "|--:|--:|--:|--:|--:|"]
    for n in budgets:
        shares = [share(row, n) for row in rows]
        lines.append(f"| {n} | {score.geomean(shares):.3f} | {min(shares):.2f} | {sum(s < 0.4 for s in shares)} of "
                     f"{len(shares)} | {score.geomean([r['original_us'] / r['found_us'][n] for r in rows]):.2f} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--budget", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "results/ceilings")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "keet-out/ceilings")
    parser.add_argument("--ceilings", type=pathlib.Path, default=ROOT / "bench/ceilings")
    parser.add_argument("--keet-opt", type=pathlib.Path, default=ROOT / "build/release/keet-opt")
    parser.add_argument("--commit", help="what the searches were made with, if not what is checked out")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--continue", action="store_true", dest="go_on")
    parser.add_argument("kernels", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    args.out.mkdir(parents=True, exist_ok=True)
    rows, failed = [], []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        kernels = args.kernels or sorted((ROOT / "kernels").glob("*.cu"))
        for task, future in [(k, pool.submit(row_of, k, args)) for k in kernels]:
            try:
                rows.append(future.result())
                print(f"ok    {task.stem}", flush=True)
            except (RuntimeError, ValueError, sqlite3.Error) as error:
                failed.append(task.stem)
                print(f"ERROR {task.stem}: {error}", flush=True)
    if rows:
        text = page(rows, args)
        (args.out / "ceilings.md").write_text(text)
        (args.out / "ceilings.json").write_text(json.dumps({"budget": args.budget, "seed": args.seed, "commit":
                                                            args.commit or stamp.commit(), "tasks": rows}, indent=1) + "\n")
        print(text)
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
