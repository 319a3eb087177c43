#!/usr/bin/env python3
"""Makes results/emulator/speed.md of what bench/emulator.sh measured."""
import argparse
import glob
import math
import os
import re
import statistics
import subprocess
import time

import stamp

SET_NAMES = {"base": "x86-64", "avx2": "AVX2", "avx512": "AVX-512"}
GOALS = {"base": 1.0, "avx2": 2.0, "avx512": 3.0}
# One instruction of theirs is thousands of multiplications: listed, not in the means.
TENSOR = {"wmma_gemm", "wgmma_gemm"}


class Run:
    def __init__(self, line):
        fields = line.rstrip("\n").split("\t")
        self.name = fields[0]
        self.insts, self.cpu, self.longest, self.wall, self.load = map(float, fields[1:6])
        self.hash = fields[7]

    def rate(self):
        return self.insts / self.cpu


def read(path):
    with open(path) as lines:
        return {run.name: run for run in map(Run, lines)}


class Scaling:
    """How many times as fast as one thread: medians of rounds."""

    def __init__(self, line):
        fields = line.rstrip("\n").split("\t")
        self.name = fields[0]
        self.longer, self.wall, self.machine, self.share = map(float, fields[1:5])
        self.rounds = int(fields[5])


def read_scaling(path):
    with open(path) as lines:
        return {scaling.name: scaling for scaling in map(Scaling, lines)}


def geomean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def host_insts(work, isa):
    """Host instructions per emulated one: callgrind leaves one file per launch, in order."""
    tsv = f"{work}/callgrind.{isa}.tsv"
    if not os.path.exists(tsv):
        return {}
    parts = glob.glob(f"{work}/callgrind.{isa}.[0-9]*")
    parts.sort(key=lambda path: int(path.rsplit(".", 1)[1]))
    totals = []
    for path in parts:
        with open(path) as file:
            found = re.search(r"^(?:totals|summary): (\d+)", file.read(), re.M)
        totals.append(int(found.group(1)))
    runs = list(read(tsv).values())
    if len(totals) < len(runs):
        return {}
    return {run.name: total / run.insts for run, total in zip(runs, totals)}


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def processor():
    fields = stamp.cpuinfo()
    return f"{stamp.processor()} (family {fields.get('cpu family')}, model {fields.get('model')}), {os.cpu_count()} cores"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--rounds", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seconds", required=True)
    parser.add_argument("isas", nargs="+")
    args = parser.parse_args()

    by_isa = {isa: read(f"{args.work}/{isa}.tsv") for isa in args.isas}
    best = args.isas[-1]
    one = by_isa[best]
    sanitize = read(f"{args.work}/sanitize.tsv")
    scaling = read_scaling(f"{args.work}/scaling.tsv")
    timed = read(f"{args.work}/time.tsv")
    host = {isa: host_insts(args.work, isa) for isa in args.isas}
    host = {isa: per for isa, per in host.items() if per}
    names = [name for name in one if name not in TENSOR]

    differ = [name for name in one if len({runs[name].hash for runs in [*by_isa.values(), sanitize]}) > 1]
    loads = [run.load / 1e6 for run in one.values()]

    rows = []
    for isa in args.isas:
        rate = geomean(by_isa[isa][name].rate() for name in names)
        rows.append((f"{SET_NAMES[isa]}, counters and bounds on, G thread instructions/s", f"{rate:.2f}", GOALS[isa]))
    rows.append((f"the same with all sanitizers on, {SET_NAMES[best]}",
                 f"{geomean(sanitize[name].rate() for name in names):.2f}", 0.7))
    rows.append((f"with the time model's traces and simulation instead, {SET_NAMES[best]}",
                 f"{geomean(timed[name].rate() for name in names):.2f}", ""))
    rows.append(("two threads over one, by CPU time of the longer thread",
                 f"{geomean(scaling[name].longer for name in names):.2f}", 1.9))
    rows.append(("two threads over one, by wall time", f"{geomean(scaling[name].wall for name in names):.2f}", 1.9))
    rows.append(("two emulators of one thread side by side over one, by wall time: what the machine gives",
                 f"{geomean(scaling[name].machine for name in names):.2f}", ""))
    rows.append(("two threads over two emulators side by side, by wall time",
                 f"{geomean(scaling[name].share for name in names):.2f}", 0.95))
    rows.append(("loading a module (parse, verify, decode), median ms", f"{statistics.median(loads):.2f}", "under 3"))
    for isa, per in host.items():
        rows.append((f"host instructions per thread instruction by callgrind, {SET_NAMES[isa]}",
                     f"{geomean(per[name] for name in names):.2f}", ""))

    text = ["# The emulator's speed", "",
            f"Command: `bench/emulator.sh --seconds {args.seconds} --rounds {args.rounds}`; commit {stamp.commit('src', 'bench')}; "
            f"{time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime())}", "",
            f"Processor: {processor()}; {output('gcc', '--version').splitlines()[0]}", "",
            "Thread instructions are counted (PTX, lanes past their guard). Rates are of CPU time, the best of as many "
            f"launches as fit in {args.seconds} s, over the whole of a launch: bounds and alignment checks and all counters "
            "are in it; sanitizers are races, uninitialised memory and registers, synchronisation and leaks, with the "
            "counters. One thread, two threads and two emulators side by side run in turn and are compared within a "
            f"round: medians of {min(scaling[name].rounds for name in names)} rounds or more in which the machine's host "
            "took no processor time (steal). What a launch costs with the time model (traces of four blocks "
            "and their simulation, once a launch) is given beside. Means are geometric, over "
            f"{len(names)} kernels; tensor-core kernels are listed but not in the means, since one instruction of "
            "theirs is thousands of multiplications.", "",
            "| what | result | goal |", "|---|--:|--:|"]
    text += [f"| {what} | {result} | {goal} |" for what, result, goal in rows]
    text += ["", "Outputs are the same bytes with every instruction set" +
             (f", except {', '.join(differ)}." if differ else " and with sanitizers.")]
    heads = [SET_NAMES[isa] for isa in args.isas] + ["sanitizers", "time model", "2 threads", "2 emulators", "share", "load ms"]
    heads += [f"host insts, {SET_NAMES[isa]}" for isa in host]
    text += ["", "| kernel | M insts | " + " | ".join(heads) + " |", "|---|" + "--:|" * (len(heads) + 1)]
    for name in one:
        cells = [f"{by_isa[isa][name].rate():.2f}" for isa in args.isas]
        cells += [f"{sanitize[name].rate():.2f}", f"{timed[name].rate():.2f}", f"{scaling[name].wall:.2f}",
                  f"{scaling[name].machine:.2f}", f"{scaling[name].share:.2f}",
                  f"{one[name].load / 1e6:.2f}"]
        cells += [f"{per[name]:.2f}" for per in host.values()]
        text.append(f"| {name} | {one[name].insts / 1e6:.0f} | " + " | ".join(cells) + " |")
    with open(args.out, "w") as out:
        out.write("\n".join(text) + "\n")
    print("\n".join(text[8:8 + 2 + len(rows)]))


main()
