#!/usr/bin/env python3
"""All fuzzers of a libFuzzer build in turn, equal shares of the processor each, for hours.

    hours.py [--build build/fuzz] [--corpus build/corpus] [--slice S] [--seconds S] [NAME...]
    hours.py --sum FILE...      processor-hours of each fuzzer in logs
    hours.py --merge FOLDER     what is new in the corpus by coverage, as few files as do

A slice is S seconds of wall of the fuzzer that found something the fewest times, and had the least processor time of these; its line in CORPUS/log is: name, processor seconds
(getrusage of the child), inputs run, inputs in the corpus, status. What breaks something lies in CORPUS/found. How a fuzzer is run
stands in the head of its file.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def targets():
    """Name, options and folders with seeds of each, from the heads."""
    found = {}
    for file in sorted(os.listdir(HERE)):
        if re.fullmatch(r"fuzz_\w+\.c", file):
            with open(os.path.join(HERE, file), encoding="utf-8") as opened:
                head = opened.read().split("*/")[0]
            words = re.search(r"build/fuzz/(fuzz_\w+)((?:\s+[^\s*]+)+)", head)
            options = [word for word in words[2].split() if word.startswith("-")]
            folders = [word for word in words[2].split() if not word.startswith("-")]
            found[words[1][5:]] = (options, [os.path.join(ROOT, one) for one in folders[1:]])
    return found


def summed(paths):
    """Seconds, inputs and slices that ended badly, by name."""
    all_of = {}
    for path in paths:
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    name, seconds, inputs, _, status = line.split()
                    one = all_of.setdefault(name, [0.0, 0, 0])
                    one[0], one[1], one[2] = one[0] + float(seconds), one[1] + int(inputs), one[2] + (status != "0")
    return all_of


def slice_of(options, name, how):
    """One slice: its line of the log."""
    corpus, found = os.path.join(options.corpus, name), os.path.join(options.corpus, "found")
    os.makedirs(corpus, exist_ok=True)
    os.makedirs(found, exist_ok=True)
    words = [os.path.join(options.build, "fuzz_" + name), *how[0], f"-max_total_time={options.slice}", "-print_final_stats=1",
             f"-artifact_prefix={found}/{name}-", corpus, *how[1]]
    words += [] if any(word.startswith("-timeout=") for word in words) else ["-timeout=120"]
    with open(os.path.join(options.corpus, name + ".out"), "wb") as out:
        child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=options.corpus)
        status, usage = os.wait4(child.pid, 0)[1:]
        child.returncode = status
    with open(out.name, encoding="utf-8", errors="replace") as said:
        runs = re.search(r"stat::number_of_executed_units:\s*(\d+)", said.read())
    if not runs:
        sys.exit(f"hours.py: fuzz_{name} ran no input: see {out.name}")
    if status:
        shutil.copy(out.name, os.path.join(found, f"{name}-{time.time():.0f}.out"))
    return f"{name} {usage.ru_utime + usage.ru_stime:.2f} {runs[1] if runs else 0} {len(os.listdir(corpus))} {status}\n"


def merge(options, all_targets):
    """The corpus of each, made small, in a folder."""
    for name, (how, folders) in all_targets.items():
        into, corpus = os.path.join(options.merge, name), os.path.join(options.corpus, name)
        if os.path.isdir(corpus):
            os.makedirs(into, exist_ok=True)
            subprocess.run([os.path.join(options.build, "fuzz_" + name), *how, "-merge=1", "-timeout=120", into, *folders, corpus],
                           check=True, stderr=subprocess.DEVNULL)


def main():
    """Slices until the time is over."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "fuzz"))
    parser.add_argument("--corpus", default=os.path.join(ROOT, "build", "corpus"))
    parser.add_argument("--slice", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--sum", nargs="+")
    parser.add_argument("--merge")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.sum:
        all_of = summed(options.sum)
        for name, (seconds, inputs, bad) in sorted(all_of.items()):
            print(f"| {name} | {seconds / 3600:.2f} | {inputs:,} | {bad} |")
        print(f"| all | {sum(one[0] for one in all_of.values()) / 3600:.2f} | {sum(one[1] for one in all_of.values()):,} | |")
        return 0
    options.build, options.corpus = os.path.abspath(options.build), os.path.abspath(options.corpus)
    all_targets = {name: how for name, how in targets().items() if not options.names or name in options.names}
    if options.merge:
        merge(options, all_targets)
        return 0
    os.makedirs(options.corpus, exist_ok=True)
    log, until = os.path.join(options.corpus, "log"), time.monotonic() + options.seconds
    while time.monotonic() < until:
        spent = summed([log])
        name = min(all_targets, key=lambda one: (lambda seconds, _, bad: (bad, seconds))(*spent.get(one, [0.0, 0, 0])))
        line = slice_of(options, name, all_targets[name])
        with open(log, "a", encoding="utf-8") as file:
            file.write(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
