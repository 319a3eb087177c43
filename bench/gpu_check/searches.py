#!/usr/bin/env python3
"""Searches on a card, one after another: what the whole loop finds there, by measured times.

  searches.py --out DIR [--program PROGRAM] [--budget N] [--seed N] [--each SECONDS] [--seconds SECONDS]
              [--rows FILE] KERNEL.cu...

A search that takes longer than --each is asked to end (SIGTERM); after --seconds no further one begins. DIR/searches.jsonl
gets a line for each as it ends, DIR/best/KERNEL.cu the best version, and DIR/searches.md the table. --rows makes the table
from the lines of an earlier run in place of searching. Exit code 1: a search ended with an error."""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import program

ROOT = Path(__file__).resolve().parent.parent.parent


def search(options, kernel, seconds):
    """{kernel, rc, s, json}: "json" is what keet-opt printed."""
    out = options.out / "best" / kernel.name
    begin = time.monotonic()
    with subprocess.Popen([options.program, kernel, "--device", "gpu", "--budget", str(options.budget), "--seed",
                           str(options.seed), "--db", options.out / "work" / f"{kernel.stem}.keet.db", "-o", out, "--json"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        try:
            text, errors = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGTERM)
            text, errors = child.communicate()
        code = child.returncode
    found, why = program.document(code, text, errors)
    return {"kernel": kernel.stem, "rc": code, "s": time.monotonic() - begin, "json": found, "why": why}


def report(options, rows):
    """Writes the table."""
    lines = ["| kernel | original, us | best, us | speedup | versions | seconds | ended by |", "|---|---|---|---|---|---|---|"]
    speedups = []
    for row in sorted(rows, key=lambda row: row["kernel"]):
        found = row["json"]
        if not found or not found.get("best"):
            lines.append(f"| {row['kernel']} | | | | | {row['s']:.0f} | {row.get('why', '')} |")
            continue
        speedups.append(found["speedup"])
        lines.append(f"| {row['kernel']} | {found['original']['time_ns'] / 1e3:.1f} | {found['best']['time_ns'] / 1e3:.1f} | "
                     f"{found['speedup']:.2f} | {found['evaluated']} | {row['s']:.0f} | {found['stopped_by']} |")
    mean = statistics.geometric_mean(speedups) if speedups else float("nan")
    dry = ", REHEARSAL on the software driver" if os.environ.get("KEET_CUDA_DRIVER") else ""
    head = [f"# Searches on a card, {len(rows)} kernels{dry}", "",
            f"`bench/gpu_check/searches.py --budget {options.budget} --seed {options.seed} --each {options.each:.0f}`", "",
            f"Geometric mean of the speedups: {mean:.2f}x.", ""]
    (options.out / "searches.md").write_text("\n".join(head + lines) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=str(ROOT / "build/release/keet-opt"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--budget", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=float, default=60)
    parser.add_argument("--seconds", type=float, default=500)
    parser.add_argument("--rows", type=Path)
    parser.add_argument("kernels", nargs="*", type=Path)
    options = parser.parse_args()
    began = time.monotonic()
    options.out.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in options.rows.read_text().splitlines()] if options.rows else []
    if not options.rows:
        for name in ("best", "work"):
            (options.out / name).mkdir(exist_ok=True)
        with open(options.out / "searches.jsonl", "w", encoding="utf-8") as file:
            for kernel in options.kernels:
                left = options.seconds - (time.monotonic() - began)
                if left < 10:
                    print(f"out of time before {kernel.stem}", flush=True)
                    break
                rows.append(search(options, kernel, min(options.each, left)))
                file.write(json.dumps(rows[-1]) + "\n")
                file.flush()
                found = rows[-1]["json"] or {}
                print(f"[{time.monotonic() - began:4.0f} s] {kernel.stem}: {found.get('speedup')}", flush=True)
    report(options, rows)
    sys.exit(0 if all(row["json"] for row in rows) else 1)


if __name__ == "__main__":
    main()
