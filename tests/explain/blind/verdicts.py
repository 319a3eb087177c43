#!/usr/bin/env python3
"""The blind kernels run: every kernel of planted.txt is there, is right, and has its guilty lines.

    verdicts.py KEET_OPT

Only the verdict is read, so that the explanation stays unseen."""
import json
import os
import subprocess
import sys

keet = sys.argv[1]
here = os.path.dirname(os.path.abspath(__file__))
planted = [line.split() for line in open(os.path.join(here, "planted.txt")) if line[0] != "#"]
wrong = []

kernels = {name[:-3] for name in os.listdir(os.path.join(here, "kernels"))}
for name in sorted(kernels ^ {name for name, _, _ in planted}):
    wrong.append(f"{name}: not both in planted.txt and in kernels/")
for name, tool, lines in planted:
    path = os.path.join(here, "kernels", name + ".cu")
    nr_lines = open(path).read().count("\n")
    if (lines == "-") != (tool == "none") or lines != "-" and any(int(n) > nr_lines for n in lines.split(",")):
        wrong.append(f"{name}: guilty lines {lines}")
    done = subprocess.run([keet, "run", path, "--json"], stdout=subprocess.PIPE)
    verdict = json.loads(done.stdout)["verdict"] if done.stdout else "none"
    if verdict != "ok":
        wrong.append(f"{name}: verdict {verdict}")
print("\n".join(wrong) or f"{len(planted)} kernels are right")
sys.exit(bool(wrong))
