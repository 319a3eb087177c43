"""What bench/users.sh does: contracts, searches, the table."""

import argparse
import json
import pathlib
import re
import sqlite3
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench")]
import stamp  # noqa: E402


def keet(args, *words):
    done = subprocess.run([args.keet_opt, *map(str, words)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def contract(file, args):
    """The kernel file with its contract: init's, or the one by hand. None: init gives up."""
    task = args.work / file.name
    code, _, said = keet(args, "init", file, "-o", task, "--force", "--threads", 1)
    by_hand = file.with_suffix(".contract")
    if by_hand.exists():
        lines = [line for line in file.read_text().splitlines() if not line.startswith("//")]
        text = "\n".join(lines)
        head = text[:text.index("int main()")]
        task.write_text(by_hand.read_text() + re.sub(r"#include <(cuda_runtime\.h|cstdio|cstdlib)>\n", "", head))
        return task, "by hand"
    if code:
        print(f"{file.name}: init: {said.strip()}", file=sys.stderr)
        return None, "none"
    return task, "init"


def search(task, args):
    """The run's database, and what went wrong where there is none."""
    base = args.work / f"{task.stem}-{args.seed}"
    database = base.with_suffix(".db")
    done = base.with_suffix(".json")
    if args.go_on and done.exists():
        return database, ""
    for old in (database, base.with_suffix(".best.cu")):
        old.unlink(missing_ok=True)
    code, out, said = keet(args, task, "--budget", args.budget, "--seed", args.seed, "--threads", 1, "--json", "-q", "--db",
                           database, "-o", base.with_suffix(".best.cu"))
    if code:
        return None, (said.strip() or out[-300:]).splitlines()[-1]
    done.write_text(out)
    return database, ""


def row(file, args):
    task, by = contract(file, args)
    if not task:
        return [file.stem, by, "", "", "", "init gives up"]
    database, why = search(task, args)
    if not database:
        return [file.stem, by, "", "", "", why]
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as db:
        nodes = {n: (parent, verdict, time_ns, what) for n, parent, verdict, time_ns, what in db.execute(
            """SELECT number, parent, verdict, time_ns, what FROM node
               LEFT JOIN measurement ON measurement.node = node.id""")}
    right = {n: v for n, v in nodes.items() if v[1] == "ok" and v[2]}
    best = min(right, key=lambda n: right[n][2])
    way, at = [], best
    while at:
        way.insert(0, nodes[at][3])
        at = nodes[at][0]
    refused = sum(v[1] != "ok" for v in nodes.values())
    return [file.stem, by, f"{nodes[0][2] / 1000:.1f}", f"{nodes[best][2] / 1000:.1f}",
            f"{nodes[0][2] / nodes[best][2]:.2f}", ("; ".join(way) or "nothing") + f" ({refused} of {len(nodes) - 1} refused)"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--budget", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keet-opt", default=ROOT / "build/release/keet-opt")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "keet-out/users")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "results/users")
    parser.add_argument("--continue", dest="go_on", action="store_true")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    args.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for file in args.files or sorted((ROOT / "bench/users").glob("*.cu")):
        rows.append(row(file, args))
        print(*rows[-1], sep=" | ", flush=True)
    text = (f"`bench/users.sh --budget {args.budget} --seed {args.seed}` at commit {stamp.commit()}; emulated H100 SXM5, times are modelled.\n\n"
            "| kernel | contract | original, us | best, us | speedup | how |\n|---|---|--:|--:|--:|---|\n")
    text += "".join("| " + " | ".join(r) + " |\n" for r in rows)
    (args.out / "table.md").write_text(text)


main()
