#!/usr/bin/env python3
"""The importer on problems of ours: what it makes, what it refuses, what it flags. Needs PyTorch."""
import importlib.util
import json
import os
import re
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
        check(told[name("6_Recurrent")] == "imported", told)
        recurrent(os.path.join(level, "6_Recurrent"))
        table = open(os.path.join(folder, "table.md")).read()
        check("| 1 | 6 | 4 | 2 | 2 |" in table and "| random | 1 |" in table, table)
        kept(folder)
        full(folder)


def full(folder):
    """At its own sizes, and what is too large then."""
    words = [sys.executable, IMPORTER, os.path.join(HERE, "checkout"), "-o",
             os.path.join(folder, "full"), "--level", "1", "--full"]
    said = subprocess.run([*words, "--problem", "4"], check=True, stdout=subprocess.PIPE, text=True)
    check("1 of 1 imported" in said.stdout, said.stdout)
    first = open(os.path.join(folder, "full/level1/4_Total/4_Total.cu")).readline()
    check("at its own sizes" in first, first)
    said = subprocess.run([*words, "--problem", "1", "--most-elements", "1000"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    nr = 8192 * 1024 + 512 * 1024 + 512 + 8192 * 512
    check(f"refused, too large: {nr} elements, the limit is 1000" in said, said)


def kept(folder):
    """Rows of an earlier run stay in the table; a problem that was run again has its new row."""
    log, out = os.path.join(folder, "log.jsonl"), os.path.join(folder, "merged.md")
    with open(log, "w") as f:
        for name, told in (("2_Dropout", {"ok": True, "odd": []}),
                           ("4_Total", {"ok": False, "kind": "old", "text": "old: words"})):
            f.write(json.dumps([1, name + ".py", dict(told, commit="abc")]) + "\n")
    subprocess.run([sys.executable, IMPORTER, os.path.join(HERE, "checkout"), "-o", folder, "--level",
                    "1", "--problem", "2", "--log", log, "--table", out], check=True,
                   stdout=subprocess.PIPE)
    table, rows = open(out).read(), [json.loads(line) for line in open(log)]
    check("| 1 | 2 | 0 | 2 | 0 |" in table and "abc (1)" in table and "| old: words |" in table
          and "1 of the rows are of earlier runs" in table, table)
    check([row[1] for row in rows] == ["2_Dropout.py", "4_Total.py"]
          and rows[0][2]["kind"] == "random" and rows[1][2]["commit"] == "abc", rows)


def recurrent(folder):
    """What the contract says of recurrent layers' results is what PyTorch gave."""
    import numpy as np  # comes with PyTorch
    lines = pragmas(os.path.join(folder, "6_Recurrent.cu"))
    size = next(p for p in lines if "keet size" in p)
    sizes = {n: int(v) for n, v in re.findall(r"(\w+) = (\d+)", size)}
    outs = [re.search(r"keet out +(\w+) : f32(.*)", p).groups() for p in lines if "keet out" in p]
    check(len(outs) == 3 and "steps" in sizes and "hidden" in sizes, lines)
    for name, dims in outs:
        dims = tuple(eval(d, dict(sizes)) for d in re.findall(r"\[(.*?)\]", dims))
        got = np.load(os.path.join(folder, "seed0", f"{name}.npy")).shape
        check(got == dims, f"{name} is {got}, the contract says {dims}")


if __name__ == "__main__":
    main()
