#!/usr/bin/env python3
"""KernelBench's problems at their real sizes, without a card: a search from a plain kernel of ours, beside the times that KernelBench
publishes for PyTorch on an H100. The kernels are those of bench/time/points.txt and, for all other problems, chains.txt.

    real_sizes.py tasks FOLDER [NAME...]         writes FOLDER/NAME.cu and FOLDER/list.txt, for keet-opt campaign
    real_sizes.py plain FOLDER [--jobs N]        times the plain kernels; what was timed is kept in FOLDER/plain.json; prints the table
    real_sizes.py score FOLDER RESULTS.json      prints the table in Markdown; what was judged is kept in FOLDER/judged.json

A winner is judged anew: checked and timed with another seed than the search's, and timed once more at sizes that the search never saw,
the first of the sizes at three eighths. Needs the package keet (src/python) and NumPy."""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench" / folder) for folder in (".", "time", "score", "explain")]
import chains  # noqa: E402
import points  # noqa: E402
import stamp  # noqa: E402
import stats  # noqa: E402
from score import geomean, score  # noqa: E402

SOURCE = re.compile(r"KernelBench level(\d) (\S+)")
OTHER_SEED = 2


def problems():
    """What KernelBench timed: {name: row}, with its level, its name there, and whether PyTorch runs it as one plain kernel."""
    found = {}
    for row in points.read():
        named = SOURCE.match(row["source"])
        if named:
            found[row["name"]] = dict(row, level=int(named[1]), problem=named[2], plain=row["launches"] == 1)
    have = {(row["level"], row["problem"]) for row in found.values()}
    for name, row in chains.read().items():
        if (row["level"], row["problem"]) not in have:
            found[name] = dict(row, plain=False)    # cuBLAS, cuDNN, or several kernels
    return found


def text_of(row):
    return chains.text_of(row) if "chain" in row else points.text_of(row)


def write_tasks(options):
    options.folder.mkdir(parents=True, exist_ok=True)
    rows, lines = problems(), []
    unknown = set(options.names) - set(rows)
    if unknown:
        sys.exit(f"no such problem: {', '.join(sorted(unknown))}")
    for name, row in rows.items():
        if options.names and name not in options.names:
            continue
        file = options.folder / f"{name}.cu"
        text = text_of(row)
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
        lines.append(f"{file.resolve()} --name {name} --level {row['level']}\n")
    (options.folder / "list.txt").write_text("".join(lines))


# ---- the plain kernels ----

def time_one(options, file):
    """{verdict, reason, time_ns, roofline_ns} of a kernel as it is: profiled, not checked."""
    run = subprocess.run([options.program, "explain", file, "--json", "--device", "emu:h100", "--threads", "1"],
                         stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if not run.stdout:    # it does not run at all
        return {"verdict": "error", "reason": run.stderr.strip().split("\n")[0]}
    said = json.loads(run.stdout)
    return {"verdict": said["verdict"], "reason": said["verdict_text"], "time_ns": said["time_ns"],
            "roofline_ns": (said.get("limits") or {}).get("roofline_ns") or None}


def time_plain(options):
    kept = options.folder / "plain.json"
    known, rows = json.loads(kept.read_text()) if kept.exists() else {}, problems()
    texts = {name: text_of(row) for name, row in rows.items()}
    marks = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    waiting = [name for name in rows if known.get(name, {}).get("mark") != marks[name] or known[name]["verdict"] == "timeout"]

    def one(name):
        file = options.folder / f"{name}.cu"
        file.write_text(texts[name])
        return name, time_one(options, file)
    if not options.table:
        options.folder.mkdir(parents=True, exist_ok=True)
        commit = stamp.commit("src", "bench/kernelbench", "bench/time")
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for done in concurrent.futures.as_completed([pool.submit(one, name) for name in waiting]):
                name, found = done.result()
                known[name] = dict(found, mark=marks[name], commit=commit)
                kept.write_text(json.dumps(known, indent=1))
                print(f"{name}: {found['verdict']} {found.get('time_ns')}", file=sys.stderr, flush=True)
    print("\n".join(plain_table(rows, {name: known[name] for name in rows if name in known})))


def plain_table(rows, known):
    timed = [dict(rows[name], **found, over_torch=rows[name]["measured_us"] * 1e3 / found["time_ns"],
                  right=found["verdict"] == "ok") for name, found in known.items() if found["verdict"] == "ok"]
    for level in sorted({row["level"] for row in rows.values()}):
        of, all_of = [r for r in timed if r["level"] == level], [r for r in rows.values() if r["level"] == level]
        if len(of) > 1:
            pairs = [r["measured_us"] for r in of], [r["time_ns"] for r in of]
            peaks = [r["roofline_ns"] / r["time_ns"] for r in of if r["roofline_ns"]]
            yield (f"- Level {level}: {len(of)} of {len(all_of)} problems timed. PyTorch's measured time over the plain kernels' modelled time: "
                   f"{sums(of, 'over_torch')}. Spearman of modelled against measured over all of them: {spearman(*pairs):.3f}. Of the roofline: "
                   f"{100 * geomean(peaks):.0f}% (geometric mean of {len(peaks)}).")
    single = [r for r in timed if r["plain"]]
    if len(single) > 1:
        errors = [max(r["over_torch"], 1 / r["over_torch"]) for r in single]
        yield (f"- The {len(single)} operators that PyTorch runs as one plain kernel: Spearman of modelled against measured "
               f"{spearman([r['measured_us'] for r in single], [r['time_ns'] for r in single]):.3f}; the model's error {geomean(errors):.3f} "
               f"(geometric mean), at most {max(errors):.2f}.")
    commits = collections.Counter(found.get("commit", "unknown") for found in known.values()).most_common()
    for commit, count in commits:
        which = [rows[name]["problem"] for name, found in known.items() if found.get("commit", "unknown") == commit] if commit != commits[0][0] else []
        yield f"- Timed at commit {commit}: {count} rows{': ' + ', '.join(which) if which else ''}."
    yield ""
    yield "| level | problem | PyTorch, measured, us | plain kernels, modelled, us | modelled over measured | of the roofline |"
    yield "|--:|---|--:|--:|--:|--:|"
    for name, found in sorted(known.items(), key=lambda p: (rows[p[0]]["level"], int(rows[p[0]]["problem"].split("_")[0]))):
        row = rows[name]
        if found["verdict"] != "ok":
            yield f"| {row['level']} | {row['problem']} | {row['measured_us']:.4g} | {found['verdict']}: {found['reason']} | | |"
            continue
        peak = f"{100 * found['roofline_ns'] / found['time_ns']:.0f}%" if found["roofline_ns"] else "-"
        yield (f"| {row['level']} | {row['problem']} | {row['measured_us']:.4g} | {found['time_ns'] / 1e3:.4g} | "
               f"{found['time_ns'] / 1e3 / row['measured_us']:.2f} | {peak} |")


# ---- judging ----

def other_sizes(text):
    """The file with its first size at three eighths: no power of two, and other dimensions keep their relation."""
    line = re.search(r"^#pragma keet size .*$", text, re.M)[0]
    first = re.search(r"(\w+) = (\d+)", line)
    smaller = line.replace(first[0], f"{first[1]} = {max(1, int(first[2]) * 3 // 8)}", 1)
    return text.replace(line, smaller), f"{first[1]} = {max(1, int(first[2]) * 3 // 8)}"


def judge(keet, original, winner):
    """Both kernels anew: {verdict, plain_ns, best_ns, roofline_ns, other, other_speedup}."""
    run = keet.explain(original, winner)
    found = {"verdict": run.verdict, "reason": run.reason}
    if not run.ok:
        return found
    found |= {"plain_ns": run.time_ns * run.speedup, "best_ns": run.time_ns,
              "roofline_ns": (run.limits or {}).get("roofline_ns") or None}
    smaller, found["other"] = other_sizes(original)
    try:
        again = keet.run(smaller, other_sizes(winner)[0])
        found["other_verdict"], found["other_speedup"] = again.verdict, again.speedup
    except RuntimeError as error:   # the plain kernel has no such sizes
        found["other_verdict"], found["other_speedup"] = str(error), None
    return found


def judged(folder, tasks):
    """{name: what judge says}; what an earlier call judged is read back where the winner is the same."""
    import keet as package
    kept = folder / "judged.json"
    known = json.loads(kept.read_text()) if kept.exists() else {}
    with package.Keet(processes=1, device="emu:h100", seed=OTHER_SEED) as keet:
        for task in tasks:
            name = task["task"]
            original = (folder / f"{name}.cu").read_text()
            winner = Path(task["output"]).read_text() if task["output"] and Path(task["output"]).exists() else original
            if known.get(name, {}).get("winner") != winner:
                known[name] = dict(judge(keet, original, winner), winner=winner)
                kept.write_text(json.dumps(known, indent=1))
                print(f"{name}: {known[name]['verdict']}", file=sys.stderr, flush=True)
    return known


# ---- the table ----

def interval(figure):
    if figure["value"] is None:
        return "-"
    low, high = figure["interval"] or (figure["value"],) * 2
    return f"{figure['value']:.2f} [{low:.2f}, {high:.2f}]"


def spearman(a, b):
    return statistics.correlation(stats.ranks(a), stats.ranks(b))


def sums(rows, column):
    """By bench/score/score.py, which defines the figures; intervals are 95%."""
    of = score([r[column] if r["right"] else None for r in rows])
    names = ("fast_1", "fast_1.5", "fast_2", "geomean_all")
    return ", ".join(f"{name} {interval(of[name])}" for name in names) + f", {len(rows)} problems"


def as_searched(task):
    """What the search itself says of its winner, in the form of judge."""
    return {"verdict": "ok", "plain_ns": task["time_ns"] * task["speedup"], "best_ns": task["time_ns"], "roofline_ns": None,
            "other": None, "other_verdict": "-", "other_speedup": None}


def table(folder, results, judges):
    known, rows = problems(), []
    tasks = [t for t in results["tasks"] if t["task"] in known]
    verdicts = judged(folder, tasks) if judges else {t["task"]: as_searched(t) for t in tasks}
    for task in tasks:
        row, found = known[task["task"]], verdicts[task["task"]]
        one = dict(found, name=row["problem"], level=row["level"], torch_us=row["measured_us"],
                   plain=row["plain"], right=found["verdict"] == "ok", evaluated=task["evaluated"])
        if one["right"]:
            plain_us, best_us = found["plain_ns"] / 1e3, found["best_ns"] / 1e3
            one |= {"plain_us": plain_us, "best_us": best_us, "error": plain_us / row["measured_us"],
                    "over_torch": row["measured_us"] / best_us, "over_plain": plain_us / best_us,
                    "peak": found["roofline_ns"] / found["best_ns"] if found["roofline_ns"] else None}
        rows.append(one)
    return rows


def lines_of(rows):
    yield ("| level | problem | PyTorch, measured, us | plain kernel, modelled, us | modelled over measured | best, modelled, us | "
           "measured over modelled | over the plain kernel | of the roofline | at other sizes, over the plain kernel |")
    yield "|--:|---|--:|--:|--:|--:|--:|--:|--:|---|"
    for r in rows:
        if not r["right"]:
            yield f"| {r['level']} | {r['name']} | {r['torch_us']:.4g} | {r['verdict']}: {r['reason']} | | | | | | |"
            continue
        peak = f"{100 * r['peak']:.0f}%" if r["peak"] else "-"
        other = (f"{r['other_speedup']:.2f} ({r['other']})" if r["other_speedup"]
                 else f"{r['other_verdict']} ({r['other']})" if r["other"] else "-")
        yield (f"| {r['level']} | {r['name']} | {r['torch_us']:.4g} | {r['plain_us']:.4g} | {r['error']:.2f} | {r['best_us']:.4g} | "
               f"{r['over_torch']:.2f} | {r['over_plain']:.2f} | {peak} | {other} |")


def summary_of(rows):
    for level in sorted({r["level"] for r in rows}):
        of_level = [r for r in rows if r["level"] == level]
        yield f"- Level {level}, PyTorch's measured time over the best kernel's modelled time: {sums(of_level, 'over_torch')}."
        yield f"- Level {level}, the plain kernel's modelled time over the best kernel's: {sums(of_level, 'over_plain')}."
    counts = [r["evaluated"] for r in rows]
    yield f"- Variants evaluated: {sum(counts)}, {min(counts)} to {max(counts)} a problem."
    right = [r for r in rows if r["right"]]
    errors = [max(r["error"], 1 / r["error"]) for r in right] or [1.0]
    yield (f"- The model's error where both times are known, plain kernel against PyTorch: {geomean(errors):.3f} (geometric mean), at most "
           f"{max(errors):.2f}. A figure of measured over modelled holds no better than this.")
    single = [r for r in right if r["plain"]]
    if len(single) > 1:
        yield (f"- Spearman of modelled against measured over the {len(single)} operators that PyTorch runs as one plain kernel: "
               f"{spearman([r['torch_us'] for r in single], [r['plain_us'] for r in single]):.3f}.")
    peaks = [r["peak"] for r in right if r["peak"]]
    if peaks:
        yield f"- Of the roofline of the task's own work and bytes: {100 * geomean(peaks):.0f}% (geometric mean of {len(peaks)})."
    others = [r["other_speedup"] for r in right if r["other_speedup"]]
    same = [r["over_plain"] for r in right if r["other_speedup"]]
    if others:
        yield (f"- At sizes that the search never saw: {geomean(others):.2f} over the plain kernel, where at the problem's own sizes it is "
               f"{geomean(same):.2f} ({len(others)} problems).")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    tasks = parts.add_parser("tasks")
    tasks.add_argument("folder", type=Path)
    tasks.add_argument("names", nargs="*")
    plain = parts.add_parser("plain")
    plain.add_argument("folder", type=Path)
    plain.add_argument("--jobs", type=int, default=1)
    plain.add_argument("--program", type=Path, default=ROOT / "build/release/keet-opt")
    plain.add_argument("--table", action="store_true", help="the table of what was timed; time nothing")
    score = parts.add_parser("score")
    score.add_argument("folder", type=Path)
    score.add_argument("results", type=Path)
    score.add_argument("--as-searched", action="store_true", help="take the search's word: winners are not judged anew")
    options = parser.parse_args()
    if options.part == "tasks":
        write_tasks(options)
        return
    if options.part == "plain":
        time_plain(options)
        return
    rows = table(options.folder, json.loads(options.results.read_text()), not options.as_searched)
    print("\n".join(summary_of(rows)), end="\n\n")
    print("\n".join(lines_of(rows)))


if __name__ == "__main__":
    main()
