#!/usr/bin/env python3
"""Is what the emulator's search finds faster on a card, too? Searches each kernel on the emulator
alone, then times original and best variant on the card, both checked there.

  transfer.py --out DIR [--program PROGRAM] [--budget N] [--seed N] [--jobs N] [--seconds N]
              [--sources FOLDER] [KERNEL.cu...]

Writes DIR/transfer.md, DIR/transfer.tsv and DIR/best/KERNEL.cu. --sources takes the best variants
from an earlier DIR/best in place of a search, for another card or a changed model of time. On the
software driver (KEET_CUDA_DRIVER) it is a rehearsal, and the report says so: no number is of a GPU.
Exit code 1: a best variant is wrong on the card."""

import argparse
import concurrent.futures
import math
import os
import statistics
import sys
import time
from pathlib import Path

import compare
import program

ROOT = Path(__file__).resolve().parent.parent.parent


def keet(options, *words, seconds=600, cpu_only=False):
    """The JSON that keet-opt prints, or None and why not."""
    return program.document(*program.run(options.program, [*words, "--json"], seconds, cpu_only=cpu_only))


def search(options, kernel):
    """(best file, modelled time of the original, of the best), or (None, why not, None)."""
    best = options.out / "best" / kernel.name
    if options.sources:
        best = options.sources / kernel.name
        both = [keet(options, "run", file, "--device", "emu", "--threads", "1", cpu_only=True)
                for file in (kernel, best)]
        why = next((why for found, why in both if not found), None)
        return (None, why, None) if why else (best, both[0][0]["time_ns"], both[1][0]["time_ns"])
    run, why = keet(options, kernel, "--device", "emu", "--threads", "1", "--budget", options.budget,
                    "--seed", options.seed, "--no-memory", "-q", "--db",
                    options.out / "work" / f"{kernel.stem}.db", "-o", best, cpu_only=True)
    if not run:
        return None, why, None
    return best, run["original"]["time_ns"], run["best"]["time_ns"]


def timed(options, file):
    """(measured ns, verdict or why not)."""
    node, why = keet(options, "run", file, "--device", "gpu", seconds=120)
    if not node:
        return None, why
    return (node["time_ns"] if node["verdict"] == "ok" else None), node["verdict"]


def transfer(options, kernel, found):
    """A row of the table."""
    best, original, modelled = found
    if not best:
        return {"kernel": kernel.stem, "words": f"no search: {original}"}
    row = {"kernel": kernel.stem, "emu_original": original, "emu_best": modelled, "words": ""}
    row["gpu_original"], word = timed(options, kernel)
    row["gpu_best"], row["words"] = timed(options, best)
    if row["gpu_original"] is None:
        row["words"] = f"original: {word}"
    return row


def geomean(values):
    return statistics.geometric_mean(values) if values else math.nan


def report(options, rows, began):
    """Writes the table; True when no best variant is wrong."""
    good = [row for row in rows if row.get("gpu_best") and row.get("gpu_original")]
    for row in good:
        row["modelled"] = row["emu_original"] / row["emu_best"]
        row["measured"] = row["gpu_original"] / row["gpu_best"]
    dry = bool(os.environ.get("KEET_CUDA_DRIVER"))
    changed = [row for row in good if row["modelled"] > 1]
    lines = ["# What the emulator finds, on a card" + (": REHEARSAL on the software driver" if dry else ""), "",
             f"`bench/gpu_check/transfer.py --budget {options.budget} --seed {options.seed}`, "
             f"{time.monotonic() - began:.0f} s, {len(rows)} kernels.", "",
             f"- {len(good)} of {len(rows)} pairs ran and were right on the card",
             f"- geometric mean of the speedups: {geomean([r['modelled'] for r in good]):.2f}x modelled, "
             f"{geomean([r['measured'] for r in good]):.2f}x measured",
             f"- of {len(changed)} kernels with a modelled speedup, {sum(r['measured'] > 1 for r in changed)} "
             "are faster on the card",
             f"- Spearman of modelled and measured speedup: "
             f"{compare.spearman([r['modelled'] for r in good], [r['measured'] for r in good]):.3f}", "",
             "| kernel | original, us modelled | measured | best, us modelled | measured | speedup modelled | "
             "measured | |", "|---|---|---|---|---|---|---|---|"]
    columns = ("emu_original", "gpu_original", "emu_best", "gpu_best")
    with open(options.out / "transfer.tsv", "w", encoding="utf-8") as file:
        file.write("\t".join(("kernel", *columns, "words")) + "\n")
        for row in rows:
            file.write("\t".join(str(row.get(name) or "") for name in ("kernel", *columns, "words")) + "\n")
            cells = [f"{row[name] / 1e3:.1f}" if row.get(name) else "" for name in columns]
            cells += [f"{row[name]:.2f}" if name in row else "" for name in ("modelled", "measured")]
            lines.append(f"| {row['kernel']} | " + " | ".join(cells) + f" | {row['words']} |")
    (options.out / "transfer.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines[:9]), flush=True)
    return all(row["words"] in ("ok", "") for row in rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=str(ROOT / "build/release/keet-opt"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--budget", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=500)
    parser.add_argument("--sources", type=Path)
    parser.add_argument("kernels", nargs="*", type=Path)
    options = parser.parse_args()
    options.kernels = options.kernels or sorted((ROOT / "kernels").glob("*.cu"))
    began = time.monotonic()
    for name in ("best", "work"):
        (options.out / name).mkdir(parents=True, exist_ok=True)
    rows = []
    with concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool:
        pending = {pool.submit(search, options, kernel): kernel for kernel in options.kernels}
        try:
            for done in concurrent.futures.as_completed(pending, timeout=options.seconds):
                rows.append(transfer(options, pending[done], done.result()))
                row = rows[-1]
                print(f"[{time.monotonic() - began:4.0f} s] {row['kernel']}: {row.get('emu_original', 0):.0f} -> "
                      f"{row.get('emu_best', 0):.0f} ns modelled, {row.get('gpu_original') or 0:.0f} -> "
                      f"{row.get('gpu_best') or 0:.0f} ns measured, {row['words']}", flush=True)
        except concurrent.futures.TimeoutError:
            left = {kernel.stem for done, kernel in pending.items() if not done.done()}
            print(f"out of time; not searched: {', '.join(sorted(left))}", flush=True)
        report_ok = report(options, sorted(rows, key=lambda row: row["kernel"]), began)
        if len(rows) < len(options.kernels):
            os._exit(1)  # the searches that are still on their way have nobody to wait for them
    sys.exit(0 if report_ok else 1)


if __name__ == "__main__":
    main()
