#!/usr/bin/env python3
"""Does the time that the model gives without a cause come, when the cause is cured by hand?

  bench/explain/cures.py [--keet-opt PROGRAM] [--out DIR] [--check]

Every kernel of tests/explain/cures/ is named after a row of src/core/cures.def, and is two kernels: as it is, and cured,
where CURED is 1. The gain that the model predicts from the first alone, its time over keet__time_without_<name>.sum, is
set against the time of the first over the time of the second. --out writes DIR/cures.md. --check fails where the two are
more than a factor of 1.25 apart; of LIMITS, whose cures by hand leave something, the prediction may be up to twice the
gain."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import stamp  # noqa: E402

APART = 1.25
LIMITS = {"repeats_and_addresses"}  # a tile of any size stages its operands and reads them back
TIME = "gpu__time_duration.sum"


def metrics(keet_opt, text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "kernel.cu"
        path.write_text(text, encoding="utf-8")
        done = subprocess.run([keet_opt, "run", "--json", str(path)], capture_output=True, text=True, check=True)
    run = json.loads(done.stdout)
    if run["verdict"] != "ok":
        sys.exit(f"cures.py: {run['verdict']}: {run['verdict_text']}\n{text}")
    return {name: metric["value"] for name, metric in run["metrics"].items()}


def measure(keet_opt, path):
    """(name, time in ns, predicted gain, gain)"""
    text = path.read_text(encoding="utf-8")
    before = metrics(keet_opt, text)
    after = metrics(keet_opt, text.replace("CURED = 0 in", "CURED = 1 in"))
    return path.stem, before[TIME], before[TIME] / before[f"keet__time_without_{path.stem}.sum"], before[TIME] / after[TIME]


def holds(name, predicted, gain):
    return 1 / APART <= predicted / gain <= (2 if name in LIMITS else APART)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--keet-opt", default=str(ROOT / "build" / "release" / "keet-opt"))
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    rows = [measure(options.keet_opt, path) for path in sorted((ROOT / "tests" / "explain" / "cures").glob("*.cu"))]
    lines = ["| cause | time, us | predicted gain | gain of the cure | predicted / gain |", "|---|---:|---:|---:|---:|"]
    lines += [f"| {name} | {ns / 1e3:.1f} | {predicted:.2f} | {gain:.2f} | {predicted / gain:.2f} |" for name, ns, predicted, gain in rows]
    print("\n".join(lines))
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "cures.md").write_text("\n".join([
            "# Predicted gains of cures against cures by hand", "",
            f"`bench/explain/cures.py --out results/explain` at commit {stamp.commit()}, emulated H100: all times are modelled. "
            "The kernels, and what is cured in each, are in [tests/explain/cures](../../tests/explain/cures).", "",
            *lines, ""]), encoding="utf-8")
    bad = [row[0] for row in rows if not holds(row[0], *row[2:])]
    if options.check and bad:
        sys.exit(f"cures.py: prediction and gain differ: {', '.join(bad)}")


if __name__ == "__main__":
    main()
