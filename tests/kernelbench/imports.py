#!/usr/bin/env python3
"""The importer on problems of ours: what it makes, what it refuses, what it flags. Needs PyTorch."""
import importlib.util
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
IMPORTER = os.path.join(HERE, "../../bench/kernelbench/import_problems.py")


def check(true, what):
    if not true:
        sys.exit(f"imports.py: {what}")


def pragmas(path):
    with open(path) as f:
        return [line for line in f.read().split("\n") if line.startswith("#pragma keet ")]


def main():
    keet = sys.argv[1]
    if importlib.util.find_spec("torch") is None:
        print("skipped: no PyTorch")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, IMPORTER, os.path.join(HERE, "checkout"), "-o", folder,
                               "--level", "1", "--kernels", os.path.join(HERE, "kernels"),
                               "--keet", keet, "--elements", "500",
                               "--table", os.path.join(folder, "table.md")],
                              check=True, stdout=subprocess.PIPE, text=True)
        told = dict(line.split(": ", 1) for line in done.stdout.strip().split("\n")[:-1])
        name = "level1/{}.py".format
        check(told[name("1_Linear_softmax")] == "imported; its kernel passes", told)
        check(told[name("2_Dropout")] == "refused, random: forward draws random numbers", told)
        check(told[name("3_Constant")].startswith("output 0 is constant; the output hardly depends "
                                                  "on x;"), told)
        check(told[name("4_Total")] == "the output hardly depends on ignored", told)
        check(told[name("5_Words")] == "refused, an input that is no tensor and no number: str", told)
        level = os.path.join(folder, "level1")
        check(pragmas(os.path.join(level, "1_Linear_softmax/1_Linear_softmax.cu"))
              == pragmas(os.path.join(HERE, "recorded/task.cu")), "it is not as recorded")
        total = pragmas(os.path.join(level, "4_Total/4_Total.cu"))
        check([p.split(" : ")[1] for p in total if "pragma keet out" in p]
              == ["f32[]", "i64[batch]"], "outputs")
        check(not any("running_mean :" in p for p in total), "a buffer that means nothing is an input")
        check(any("norm_weight : f32[48]" in p for p in total), "weights")
        table = open(os.path.join(folder, "table.md")).read()
        check("| 1 | 5 | 3 | 2 | 2 |" in table and "| random | 1 |" in table, table)


if __name__ == "__main__":
    main()
