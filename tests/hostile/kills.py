#!/usr/bin/env python3
"""A search that is killed with -9 at random moments, with all its processes, and resumed each time, comes to the tree of a search
that nobody disturbed.

    kills.py KEET-OPT [--kills N] [--seed N] [--seconds S]

A search that ends begins anew in another folder, until N kills have hit one (default 20); --seconds: no longer than that.
"""
import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

from faults import KERNEL, tree


def start(keet, folder, cache):
    """The search of 16 nodes, from where it is."""
    return subprocess.Popen([keet, "scale.cu", "--budget", "16", "--window", "1000", "--device", "emu", "--threads", "1", "-q",
                             "--cache", cache, "--no-memory", "--resume"], cwd=folder, start_new_session=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def fresh(home):
    """A folder with the kernel."""
    folder = tempfile.mkdtemp(dir=home)
    with open(os.path.join(folder, "scale.cu"), "w", encoding="utf-8") as file:
        file.write(KERNEL)
    return folder


def ended(process, folder, want):
    """A search that ended by itself must have the tree."""
    said = process.stderr.read().decode(errors="replace")
    if process.returncode != 0 or tree(folder) != want:
        raise SystemExit(f"status {process.returncode}, {len(tree(folder))} of {len(want)} nodes: {said[-400:]}")


def main():
    """Kills until there were enough."""
    parser = argparse.ArgumentParser()
    parser.add_argument("keet")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9)
    options = parser.parse_args()
    keet, draw, kills, whole = os.path.abspath(options.keet), random.Random(options.seed), 0, 0
    until = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory(prefix="keet-kills-") as home:
        cache, folder = os.path.join(home, "cache"), fresh(home)
        for _ in range(2):  # the first one fills the cache
            folder, begun = fresh(home), time.monotonic()
            process = start(keet, folder, cache)
            process.wait()
            takes = time.monotonic() - begun
        want = tree(folder)
        if len(want) < 17:
            raise SystemExit(f"the undisturbed search has {len(want)} nodes: {process.stderr.read()[-400:]}")
        folder = fresh(home)
        while kills < options.kills and time.monotonic() < until:
            process = start(keet, folder, cache)
            try:
                process.wait(timeout=draw.random() * takes)
                ended(process, folder, want)
                whole, folder = whole + 1, fresh(home)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                kills += 1
        process = start(keet, folder, cache)
        process.wait()
        ended(process, folder, want)
    print(f"seed {options.seed}: {kills} kills, {whole + 1} searches, each with the tree of an undisturbed one")
    return 0


if __name__ == "__main__":
    sys.exit(main())
