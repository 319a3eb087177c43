#!/usr/bin/env python3
"""One file has one modelled time, to the last digit that is printed: by `run`, by `explain`, as both
sides of `explain A A`, and as nodes of a search; with one thread and with two.

    equal.py KEET_OPT [KERNEL.cu ...]     default: two kernels that depended on addresses"""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

keet = os.path.abspath(sys.argv[1])
suite = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "kernels")
kernels = [os.path.abspath(name) for name in sys.argv[2:]] or [
    os.path.join(suite, name + ".cu")
    for name in ("cross_entropy", "histogram")]
os.chdir(tempfile.mkdtemp())


def call(*arguments):
    done = subprocess.run([keet, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


def nodes(kernel, threads):
    """Times of the original and of the best node, and the best node's file."""
    for name in ("run.db", "best.cu"):
        if os.path.exists(name):
            os.remove(name)
    call(kernel, "--budget", "2", "--threads", threads, "--db", "run.db", "-o", "best.cu")
    with sqlite3.connect("run.db") as store:
        times = dict(store.execute("SELECT n.number, m.time_ns FROM node n JOIN measurement m "
                                   "ON m.node = n.id WHERE n.verdict = 'ok'"))
    return times[0], min(times.values())


def one_time(times, what):
    digits = {f"{time:.12g}" for time in times}
    assert len(digits) == 1, (what, times)


for kernel in kernels:
    times = []
    for threads in ("1", "2"):
        more = ("--json", "--threads", threads)
        change = json.loads(call("explain", kernel, kernel, *more))["change"]
        original, best = nodes(kernel, threads)
        times += [json.loads(call("run", kernel, *more))["time_ns"],
                  json.loads(call("explain", kernel, *more))["time_ns"],
                  change["before_ns"], change["after_ns"], original]
        assert change["equal"] is True and change["changes"] == [], change
        if os.path.exists("best.cu") and best < original:
            one_time([best, json.loads(call("run", "best.cu", *more))["time_ns"]], kernel + ": best")
            change = json.loads(call("explain", kernel, "best.cu", *more))["change"]
            one_time([original, change["before_ns"]], kernel + ": old")
            one_time([best, change["after_ns"]], kernel + ": new")
    one_time(times, kernel)
    print("ok", os.path.basename(kernel))

first = call("explain", kernels[-1], kernels[-1], "--threads", "2").splitlines()[0]
assert "equal within the model's resolution" in first, first
