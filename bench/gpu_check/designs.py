#!/usr/bin/env python3
"""Kernels that people would keep, measured on a card: the best known version of each task (bench/ceilings), the tasks of
kernels/hopper, and what a language model wrote (results/model, results/kernelbench/lot).

  designs.py points RUNS.jsonl[.xz]... --sources FOLDER   makes bench/time/designs.txt and designs.tar.xz of recorded runs
  designs.py report [--half fit|test|all]                 writes results/gpu/<card>/designs.md

RUNS has a line for each file: kind, file, json (what `keet-opt run FILE --device gpu --json` printed). `report` reads the modelled
times from results/time/designs.json and card.json, which bench/time/time.py writes, and the causes of the worst points,
sentences by hand, from causes.txt beside the report."""

import argparse
import io
import json
import lzma
import math
import pathlib
import statistics
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "time"))
import points  # noqa: E402
import split  # noqa: E402

CARD = ROOT / "results" / "gpu" / "H100-80GB-HBM3-20261126"
TABLE = points.HERE / "designs.txt"
HEAD = """\
# Times that this project measured on an H100 SXM (as card.txt, 2026-11-26; `keet-opt run FILE --device gpu`, commit 2e2c5ac) of
# kernels that people would keep: the best known version of each task (.ceiling, bench/ceilings), the tasks of kernels/hopper
# (.hopper), and what a language model wrote: five arms, ablations and other runs of results/model, and ten problems of KernelBench
# (.kb). The files are in designs.tar.xz; files that found.txt has already, and equal ones, stand here once or not at all. A
# task of card.txt is in the half where card.txt has it; the others were drawn by split.py before any of them was modelled here.
#
# name | file | settings | launches | measured us | task | source | half
"""


def runs_of(files):
    for file in files:
        text = lzma.open(file, "rt").read() if file.suffix == ".xz" else file.read_text()
        yield from map(json.loads, text.splitlines())


def named(kind, file):
    """(task, version) of a recorded file; None: card.txt has the task itself."""
    stem = file.removesuffix(".cu")
    if kind == "ceilings":
        return stem, "ceiling"
    if kind == "hopper":
        return None if (ROOT / "kernels" / file).exists() else (stem, "hopper")
    if kind != "winners":
        return None
    arm, *rest = stem.removesuffix("@best").split("@")
    if arm == "kb":
        return rest[0], "kb"
    if arm in ("unused", "development"):
        task, _, version = rest[0].partition(".")
        return task, f"{arm}_{version}".strip("_")
    return rest[-1].rpartition("-")[0], "_".join([arm, *rest[:-1]])


def source_of(kind, file, sources):
    folder = {"ceilings": ROOT / "bench" / "ceilings", "hopper": ROOT / "kernels" / "hopper"}.get(kind, sources)
    return (folder / file).read_text()


def make_points(options):
    seen = {text for name, text in points.archived(points.HERE / "found.tar.xz").items()}
    known = {row["family"] for row in points.read(points.HERE / "card.txt")}
    rows, texts = {True: [], False: []}, {}
    for run in runs_of(options.runs):
        name = named(run["kind"], run["file"])
        if name is None or (run.get("json") or {}).get("verdict") != "ok":
            continue
        text = source_of(run["kind"], run["file"], options.sources)
        if text in seen:
            continue
        seen.add(text)
        task, version = name
        texts[f"{task}.{version}.cu"] = text
        rows[task in known].append((f"{task}.{version}", f"designs/{task}.{version}.cu", "-", str(text.count("#pragma keet launch")),
                                    f"{run['json']['time_ns'] / 1e3:.3f}", task, run["kind"], "-"))
    with tarfile.open(points.HERE / "designs.tar.xz", "w:xz") as archive:
        for name, text in sorted(texts.items()):
            data = text.encode()
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    lines = ["like card.txt", *(" | ".join(row) for row in sorted(rows[True])), "kernels 22",
             *(" | ".join(row) for row in sorted(rows[False]))]
    TABLE.write_text(HEAD + "\n".join(lines) + "\n")
    points.set_halves(split.draw(points.read(TABLE)), TABLE)


def error(pairs):
    return math.exp(statistics.mean(abs(math.log(modelled / measured)) for modelled, measured in pairs))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    made = verbs.add_parser("points")
    made.add_argument("runs", nargs="+", type=pathlib.Path)
    made.add_argument("--sources", required=True, type=pathlib.Path)
    options = parser.parse_args()
    make_points(options)


if __name__ == "__main__":
    main()
