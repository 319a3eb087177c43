#!/usr/bin/env python3
"""What the library costs: checks a second, many candidates with hostile ones among them, threads.

    PYTHONPATH=src/python KEET_LIBRARY=build/release/libkeet.so bench/library/bench.py PART [options]

PART is `suite`, `many` or `threads`; each prints a table in Markdown. bench/library.sh runs all.
Figures by processor time hardly depend on what else the machine does; those by the clock do."""
import argparse
import os
import sys
import time
from pathlib import Path

import keet

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "hostile"))
import replies  # noqa: E402

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
SLOW = {"nvrtc_macro_bomb"}     # the compiler's limit of 60 s ends it


def children_of(pid):
    try:
        return [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def helpers():
    """The helper processes of this program. (A child is listed by the thread that made it.)"""
    return [int(c) for task in Path("/proc/self/task").iterdir()
            for c in (task / "children").read_text().split()]


def cpu_s(pids):
    """Processor time of these processes, and of their children that ended."""
    total = 0
    for pid in pids:    # gone where a call ended it
        if not Path(f"/proc/{pid}").exists():
            raise SystemExit(f"helper {pid} is gone")
        total += sum(map(int, Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:15]))
    return total * TICK_S


def status(pid):
    """(resident MiB, open files, threads) of a process."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return (int(fields["VmRSS"].split()[0]) / 1024, len(os.listdir(f"/proc/{pid}/fd")),
            int(fields["Threads"]))


def zombies(pids):
    """Children of these processes, and of this one, that ended and were not waited for."""
    states = []
    for parent in [os.getpid(), *pids]:
        for pid in children_of(parent) if parent != os.getpid() else helpers():
            try:
                states.append(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0])
            except OSError:
                pass
    return states.count("Z")


# ---- checks a second over the suite ----

def variants_of(kept, original, nr):
    """Variants that a search would evaluate: they compile, by different code."""
    with keet.Search(original, policy="random", keet=kept) as search:
        found = []
        while len(found) < nr and (variant := search.ask()):
            found.append(variant.source)
        return found


def suite(options):
    kernels = sorted((ROOT / "kernels").glob("*.cu"))[::options.every]
    print("| kernel | variants | right | prepare, s | checks a second of one core | runs a second of one core |")
    print("|---|--:|--:|--:|--:|--:|")
    sums = [0, 0, 0, 0.0, 0.0]
    with keet.Keet(processes=1) as kept:
        for kernel in kernels:
            variants = variants_of(kept, kernel, options.variants)
            helper = helpers()
            began = cpu_s(helper)
            kept.check(kernel, variants[0])     # compiles, runs the original
            prepared = cpu_s(helper) - began
            for variant in variants:
                kept.check(kernel, variant)     # fills the compile cache
            began = cpu_s(helper)
            right = sum(kept.check(kernel, variant).ok for variant in variants)
            checked = cpu_s(helper) - began
            kept.run(kernel, variants[0])
            began = cpu_s(helper)
            for variant in variants:
                kept.run(kernel, variant)
            ran = cpu_s(helper) - began
            n = len(variants)
            print(f"| {kernel.stem} | {n} | {right} | {prepared:.2f} | {n / max(checked, TICK_S):.2f} | "
                  f"{n / max(ran, TICK_S):.2f} |", flush=True)
            sums = [a + b for a, b in zip(sums, (1, n, right, checked, ran))]
    print(f"| all {sums[0]} | {sums[1]} | {sums[2]} | | {sums[1] / sums[3]:.2f} | {sums[1] / sums[4]:.2f} |")


# ---- many candidates ----

ORIGINAL = replies.CONTRACT + "\n" + replies.KERNEL


TEXTS = 1000    # of ordinary replies


def ordinary(number):
    """A reply like those of a model in training: mostly right, often wrong, sometimes no code. Each text comes
    again after TEXTS others, as models in training repeat themselves."""
    number %= TEXTS
    body = replies.BODY
    if number % 10 < 6:     # right, each by other code
        text = replies.source(before=f"__device__ float f{number}(float v) {{ return v * {2 ** (number % 7)}.0f; }}",
                              body=body.replace("2 * x[i]", f"f{number}(x[i]) * (2.0f / {2 ** (number % 7)}.0f)"))
    elif number % 10 < 8:
        text = replies.source(body=body.replace("2 *", f"{number}.5f *"))
    elif number % 10 == 8:
        text = replies.source(body=body.replace("2 *", f"unknown_{number} *"))
    else:
        text = f"I would make it faster by {number}%, with wider loads."
    return text


def many(options):
    hostile = [(name, text() if callable(text) else text)
               for name, text in replies.REPLIES if name not in SLOW]
    kept = keet.Keet(processes=options.processes, limit_s=120)
    verdicts, began = {}, time.monotonic()
    print("| candidates | hostile | seconds | helpers, MiB | host, MiB | open files, host and helpers | zombies "
          "| helpers replaced |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|")
    nr_hostile, seen = 0, set()
    for start in range(0, options.candidates, options.each):
        batch = []
        for number in range(start, min(start + options.each, options.candidates)):
            if number % 20 == 19:
                batch.append(hostile[nr_hostile % len(hostile)][1])
                nr_hostile += 1
            else:
                batch.append(ordinary(number))
        for reward in kept.reward_many(ORIGINAL, batch):
            verdicts[reward.verdict] = verdicts.get(reward.verdict, 0) + 1
        pids = helpers()
        seen |= set(pids)
        states = [status(pid) for pid in pids]
        own = status(os.getpid())
        print(f"| {start + len(batch)} | {nr_hostile} | {time.monotonic() - began:.0f} | "
              f"{' + '.join(f'{s[0]:.0f}' for s in states)} | {own[0]:.0f} | "
              f"{own[1]} + {' + '.join(str(s[1]) for s in states)} | {zombies(pids)} | "
              f"{len(seen) - options.processes} |", flush=True)
    print("\nVerdicts: " + ", ".join(f"{n} {v}" for v, n in sorted(verdicts.items(), key=lambda p: -p[1])) + ".")


# ---- threads ----

def threads(options):
    kernel = ROOT / "kernels" / "argmax.cu"
    print("| threads and processes | checks | seconds | checks a second | processor seconds a check |")
    print("|--:|--:|--:|--:|--:|")
    for nr in (1, 2, 4, 8):
        with keet.Keet(processes=nr) as kept:
            variants = variants_of(kept, kernel, 4) * options.repeats
            kept.check_many(kernel, variants[:4 * nr])
            pids = helpers()
            began, cpu = time.monotonic(), cpu_s(pids)
            checks = kept.check_many(kernel, variants)
            took, used = time.monotonic() - began, cpu_s(pids) - cpu
            assert all(a == b for a, b in zip(checks, checks[4:])), "processes give different results"
            print(f"| {nr} | {len(checks)} | {took:.1f} | {len(checks) / took:.1f} | {used / len(checks):.3f} |",
                  flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=["suite", "many", "threads"])
    parser.add_argument("--every", type=int, default=1, help="suite: every so many kernels")
    parser.add_argument("--variants", type=int, default=4)
    parser.add_argument("--candidates", type=int, default=10000)
    parser.add_argument("--each", type=int, default=1000, help="many: rows after so many")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args()
    {"suite": suite, "many": many, "threads": threads}[options.part](options)


if __name__ == "__main__":
    main()
