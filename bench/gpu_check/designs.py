#!/usr/bin/env python3
"""Kernels that people would keep, measured on a card: the best known version of each task (bench/ceilings), the tasks of
kernels/hopper, and what a language model wrote (results/model, results/kernelbench/lot).

  designs.py points RUNS.jsonl[.xz]... --sources FOLDER   makes bench/time/designs.txt and designs.tar.xz of recorded runs
  designs.py keep RUNS.jsonl... --out FILE.jsonl.xz       what of RUNS is kept: verdict, time and its spread
  designs.py report --modelled designs.json --originals card.json   writes results/gpu/<card>/designs.md
  designs.py arms RUNS.jsonl.xz --against ARM             a table of measured speedups by arm, as bench/model/arms.py has them

RUNS has a line for each file: kind, file, json (what `keet-opt run FILE --device gpu --json` printed). `report` reads modelled
times as bench/time/time.py writes them, and the causes of the worst points, sentences by hand, from causes.txt beside the report."""

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

sys.path.insert(0, str(ROOT / "bench" / "explain"))
import stats  # noqa: E402

CARD = ROOT / "results" / "gpu" / "H100-80GB-HBM3-20261126"
TABLE = points.HERE / "designs.txt"
HEAD = """\
# Times that this project measured on an H100 SXM (as card.txt, 2026-11-26; `keet-opt run FILE --device gpu`, commit 2e2c5ac) of
# kernels that people would keep: the best known version of each task (.ceiling, bench/ceilings), the tasks of kernels/hopper
# (.hopper), and what a language model wrote: five arms, ablations and other runs of results/model, and ten problems of KernelBench
# (.kb). The files are in designs.tar.xz; files that found.txt has already, and equal ones, stand here once or not at all. A
# task of card.txt is in the half where card.txt has it; the others were drawn by split.py. They were drawn twice, since two came
# later, and by the first draw 1_60, 2_39, flash_attention_causal, moe_weight_grad and w4a16_matmul were in `fit`: their errors had
# been seen when they came to `test`. Modelled times of the ten .kb stood in results/kernelbench/lot.md.
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


def keep(options):
    with lzma.open(options.out, "wt", preset=9) as out:
        for run in runs_of(options.runs):
            said = run.get("json") or {}
            timing = said.get("timing") or {}
            out.write(json.dumps({"kind": run["kind"], "file": run["file"], "status": run["rc"], "json": {
                "verdict": said.get("verdict"), "time_ns": said.get("time_ns"),
                "timing": {k: timing.get(k) for k in ("samples", "standard_error", "clock", "throttle_bits")}}}) + "\n")


def error(rows):
    return math.exp(statistics.mean(abs(math.log(row["modelled_us"] / row["measured_us"])) for row in rows))


def spearman(pairs):
    if len(pairs) < 3 or any(len(set(values)) == 1 for values in zip(*pairs)):
        return math.nan
    return statistics.correlation(*map(stats.ranks, zip(*pairs)))


def table_of(rows, key, originals):
    """A line for each value of key: points, error, rank correlation of the speedups against each version's original."""
    lines = []
    for value in sorted({key(row) for row in rows}):
        some = [row for row in rows if key(row) == value]
        pairs = [[originals[row["family"]][of] / row[of] for of in ("measured_us", "modelled_us")]
                 for row in some if row["family"] in originals]
        rho = spearman(pairs)
        lines.append(f"| {value} | {len(some)} | {error(some):.3f} | {'-' if math.isnan(rho) else f'{rho:.3f}'} | {len(pairs)} |")
    return lines


def report(options):
    modelled, kernels = (json.loads(file.read_text()) for file in (options.modelled, options.originals))
    rows = modelled["points"]
    originals = {row["name"]: row for row in kernels["points"] if "." not in row["name"]}
    causes = dict(line.split(": ", 1) for line in (CARD / "causes.txt").read_text().splitlines() if ": " in line)
    source = {row["name"]: row["source"] for row in points.read(TABLE)}
    columns = ["| points | error | Spearman of speedups | with an original |", "---|---:|---:|---:|---:|"]
    lines = ["# Kernels that people would keep: measured against modelled", "",
             f"`bench/gpu_check/designs.py report`: {len(rows)} kernels of [designs.txt](../../../bench/time/designs.txt), modelled "
             f"by emu:h100 at commit {modelled['commit']} (`bench/time/time.py --points bench/time/designs.txt --half all`), measured "
             "on an H100 SXM at commit 2e2c5ac; runs.jsonl.xz has what was measured. Error: geometric mean of modelled / measured or "
             f"its inverse. Not modelled: {', '.join(sorted(set(source) - {row['name'] for row in rows})) or 'none'}. Speedups: of each version beside its original in kernels/, measured and modelled.", ""]
    for title, key, of in (("half", lambda r: r["half"], rows), ("source", lambda r: f"{source[r['name']]}, {r['half']}", rows),
                           ("task", lambda r: f"{r['family']} ({r['half']})", rows),
                           ("originals of kernels/", lambda r: r["half"], list(originals.values()))):
        lines += [f"| {title} " + columns[0], "|" + columns[1], *table_of(of, key, originals), ""]
    worst = sorted(rows, key=lambda r: -abs(math.log(r["modelled_us"] / r["measured_us"])))[:10]
    lines += ["The worst ten:", "", "| kernel | half | measured us | modelled us | modelled / measured | cause |", "|---|---|---:|---:|---:|---|"]
    lines += [f"| {r['name']} | {r['half']} | {r['measured_us']:.5g} | {r['modelled_us']:.5g} | "
              f"{r['modelled_us'] / r['measured_us']:.2f} | {causes.get(r['name'], 'not known')} |" for r in worst]
    lines += ["", "| kernel | half | measured us | modelled us | modelled / measured |", "|---|---|---:|---:|---:|"]
    lines += [f"| {r['name']} | {r['half']} | {r['measured_us']:.5g} | {r['modelled_us']:.5g} | "
              f"{r['modelled_us'] / r['measured_us']:.2f} |" for r in rows]
    (CARD / "designs.md").write_text("\n".join(lines) + "\n")


def arms(options):
    runs = [run for run in runs_of(options.runs) if run["json"]["verdict"] == "ok"]
    original = {run["file"].removesuffix(".cu"): run["json"]["time_ns"] for run in runs if run["kind"] in ("kernels", "hopper")}
    found = {}
    for run in runs:
        task, arm = named(run["kind"], run["file"]) or (None, "")
        if run["kind"] == "winners" and task in original and arm.startswith(options.prefix):
            found.setdefault(arm.removeprefix(options.prefix), {})[task] = original[task] / run["json"]["time_ns"]
    found = {arm: found[arm] for arm in options.arms or sorted(found)}
    tasks = sorted({task for runs in found.values() for task in runs})
    print("| task: measured speedup | " + " | ".join(found) + " |\n|---|" + "---:|" * len(found))
    for task in tasks:
        print(f"| {task} | " + " | ".join(f"{of[task]:.2f}" if task in of else "-" for of in found.values()) + " |")
    rows = []
    for arm, of in found.items():
        both = [task for task in tasks if arm != options.against and task in of and task in found[options.against]]
        if both:
            logs = [math.log(of[task] / found[options.against][task]) for task in both]
            rows.append((arm, logs, stats.wilcoxon(logs)[2]))
    print(f"\n| against {options.against} | pairs | speedup, ratio | better, equal, worse | p | p, Holm |\n|---|---|---|---|---|---|")
    for (arm, logs, p), holm in zip(rows, stats.holm([row[2] for row in rows])):
        signs = [sum(sign * log > 0.01 for log in logs) for sign in (1, -1)]
        print(f"| {arm} | {len(logs)} | {math.exp(statistics.mean(logs)):.3f} | {signs[0]}, {len(logs) - sum(signs)}, {signs[1]} | "
              f"{p:.3g} | {holm:.3g} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = {name: verbs.add_parser(name) for name in ("points", "keep", "report", "arms")}
    for name in ("points", "keep", "arms"):
        verb[name].add_argument("runs", nargs="+", type=pathlib.Path)
    verb["points"].add_argument("--sources", required=True, type=pathlib.Path)
    verb["keep"].add_argument("--out", required=True, type=pathlib.Path)
    verb["report"].add_argument("--modelled", required=True, type=pathlib.Path)
    verb["report"].add_argument("--originals", required=True, type=pathlib.Path)
    verb["arms"].add_argument("--against", default="ours")
    verb["arms"].add_argument("--prefix", default="")
    verb["arms"].add_argument("--arms", nargs="*")
    options = parser.parse_args()
    {"points": make_points, "keep": keep, "report": report, "arms": arms}[options.verb](options)


if __name__ == "__main__":
    main()
