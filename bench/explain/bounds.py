#!/usr/bin/env python3
"""Are the bounds of findings bounds, and do findings pay? Searches tell: a node has findings, each names moves,
and the node's children are made by moves.

  bench/explain/bounds.py [--runs DIR] [--ceilings DIR --keet-opt PROGRAM] [--out DIR] [--made-by TEXT]

Reads every *.db in DIR (default keet-out/suite, where bench/suite.sh leaves its searches). Wherever a move that a
finding asks for was made in its launch, and the result is right, the gain (time before over time after) is compared with the
finding's bound. A bound is broken by a gain more than 0.5% above it. A finding is tried when one of its moves was
made; its tightness is the best gain of these moves over the bound; it hit when that gain is 1.1 or more. A folder
of ceilings holds other versions of the suite's kernels under their names: each is set against the largest bound
that the suite's kernel gets. Writes OUT/bounds.md (default results/explain)."""

import argparse
import collections
import json
import pathlib
import re
import sqlite3
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import stamp  # noqa: E402

SLACK = 1.005
HIT = 1.1

Trial = collections.namedtuple("Trial", "kernel parent finding tool bound action gain")


def trials_of(path):
    """Each pair of a finding and a child that a move made which the finding asks for, and the gains of all children
    whose move no finding of the parent asks for."""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    kernel = pathlib.Path(db.execute("SELECT kernel_path FROM run").fetchone()[0]).stem
    pairs = db.execute("""
        SELECT parent.number, finding.seq, finding.tool, finding.max_gain, child.action,
               child.speedup / parent.speedup, child.what, finding.text, source.text
        FROM node AS child JOIN node AS parent ON parent.run = child.run AND parent.number = child.parent
        JOIN finding ON finding.node = parent.id
        JOIN weight ON weight.node = parent.id AND weight.finding = finding.seq AND weight.action = child.action
        JOIN source ON source.hash = parent.source
        WHERE child.verdict = 'ok' AND child.speedup > 0 AND parent.speedup > 0""").fetchall()
    unasked = db.execute("""
        SELECT child.speedup / parent.speedup
        FROM node AS child JOIN node AS parent ON parent.run = child.run AND parent.number = child.parent
        WHERE child.verdict = 'ok' AND child.speedup > 0 AND parent.speedup > 0 AND NOT EXISTS (
            SELECT 1 FROM weight WHERE weight.node = parent.id AND weight.action = child.action)""").fetchall()
    db.close()
    return ([Trial(kernel, *pair[:6]) for pair in pairs if in_place(*pair[6:])], [gain for gain, in unasked])


def in_place(what, text, source):
    """Is the move made in the launch of which the finding speaks? What names no kernel concerns all."""
    kernels = set(re.findall(r"__global__\s+(?:__launch_bounds__\([^)]*\)\s*)?void\s+(?:__launch_bounds__\([^)]*\)"
                             r"\s*)?(\w+)", source))
    head = re.match(r"(?:Line \d+: )?(?:each of \d+ )?(\w+): ", text)
    moved = {word for word in re.findall(r"\w+", what or "") if word in kernels}
    return not head or head[1] not in kernels or not moved or head[1] in moved


def best_of_findings(trials):
    """The trials, the best of each finding."""
    best = {}
    for trial in trials:
        key = trial[:3]
        if key not in best or trial.gain > best[key].gain:
            best[key] = trial
    return list(best.values())


def percent(part, whole):
    return f"{100 * part / whole:.1f}%" if whole else "-"


def middle(values):
    return f"{statistics.median(values):.2f}" if values else "-"


def row_of(name, trials):
    bounded = [t for t in trials if t.bound]
    broken = [t for t in bounded if t.gain > SLACK * t.bound]
    tried = best_of_findings(trials)
    hits = [t for t in tried if t.gain >= HIT]
    tight = [t.gain / t.bound for t in tried if t.bound]
    tight_hits = [t.gain / t.bound for t in hits if t.bound]
    return (f"| {name} | {len(trials)} | {len(bounded)} | {len(broken)} | {len(tried)} | "
            f"{percent(len(hits), len(tried))} | {middle([t.gain for t in tried])} | {middle(tight)} | "
            f"{middle(tight_hits)} |")


def table(trials):
    tools = collections.defaultdict(list)
    for trial in trials:
        tools[trial.tool].append(trial)
    lines = ["| tool | moves made | with a bound | broken | findings tried | hit | median best gain | "
             "best gain / bound, median | ... of the hits |", "|---|---|---|---|---|---|---|---|---|"]
    lines.append(row_of("all", trials))
    for tool in sorted(tools, key=lambda t: -len(tools[t])):
        lines.append(row_of(tool, tools[tool]))
    return lines


def broken_lines(trials):
    broken = sorted((t for t in trials if t.bound and t.gain > SLACK * t.bound), key=lambda t: t.bound / t.gain)
    if not broken:
        return ["No bound is broken."]
    return ["| kernel | node | tool | move | gain | bound |", "|---|---|---|---|---|---|"] + [
        f"| {t.kernel} | {t.parent} | {t.tool} | {t.action} | {t.gain:.2f} | {t.bound:.2f} |" for t in broken]


def explained(keet_opt, path):
    done = subprocess.run([keet_opt, "explain", "--json", str(path)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def ceiling_lines(folder, keet_opt):
    lines = ["| kernel | time | the ceiling's | gain | largest bound | first finding, its bound |",
             "|---|---|---|---|---|---|"]
    for ceiling in sorted(pathlib.Path(folder).glob("*.cu")):
        before = explained(keet_opt, ROOT / "kernels" / ceiling.name)
        after = explained(keet_opt, ceiling)
        bounds = [(f["max_gain"] or 0, f["tool"]) for f in before["findings"]]
        first = bounds[0] if bounds else (0, "none")
        most = max(bounds, default=(0, ""))
        lines.append(f"| {ceiling.stem} | {before['time_ns'] / 1e3:.4g} us | {after['time_ns'] / 1e3:.4g} us | "
                     f"{before['time_ns'] / after['time_ns']:.1f} | {most[0]:.1f}, {most[1]} | "
                     f"{first[1]}, {first[0]:.1f} |")
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=pathlib.Path, default=ROOT / "keet-out" / "suite")
    parser.add_argument("--ceilings")
    parser.add_argument("--keet-opt", default=str(ROOT / "build" / "release" / "keet-opt"))
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "results" / "explain")
    parser.add_argument("--made-by", default="bench/suite.sh --budget 30 --seed 1 --policy mcts")
    options = parser.parse_args()
    paths = sorted(options.runs.glob("*.db"))
    if not paths:
        sys.exit(f"bounds.py: no databases in {options.runs}")
    trials, unasked = [], []
    for path in paths:
        asked, others = trials_of(path)
        trials += asked
        unasked += others
    bounded = [t for t in trials if t.bound]
    broken = [t for t in bounded if t.gain > SLACK * t.bound]
    lines = [
        "# Bounds of findings, and whether findings pay", "",
        f"`{options.made_by}`, then `bench/explain/bounds.py`; {len(paths)} searches at commit {stamp.commit()}, on the "
        f"emulated H100: all times are modelled. The head of the script says what is counted.", "",
        f"- Bounds broken: {len(broken)} of {len(bounded)}, {percent(len(broken), len(bounded))}.",
        f"- Moves that a finding asked for gained {HIT}x or more in "
        f"{percent(sum(g >= HIT for g in child_gains(trials)), len(child_gains(trials)))} of "
        f"{len(child_gains(trials))} children; moves that no finding asked for in "
        f"{percent(sum(g >= HIT for g in unasked), len(unasked))} of {len(unasked)}.", "",
        *table(trials), "", "## Bounds that are broken", "", *broken_lines(trials), ""]
    if options.ceilings:
        lines += ["## Ceilings", "",
                  "Versions of the suite's kernels that were written by hand (`--ceilings`), against what is explained "
                  "of the suite's. A ceiling makes many moves at once, and may gain more than any one finding bounds.", "", *ceiling_lines(options.ceilings, options.keet_opt), ""]
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "bounds.md").write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines))


def child_gains(trials):
    """A child counts once, however many findings asked for its move. Children of one node by one move that gained the
    same to the last bit count once, too."""
    return list({(t.kernel, t.parent, t.action, t.gain): t.gain for t in trials}.values())


if __name__ == "__main__":
    main()
