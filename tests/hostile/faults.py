"""Fault injection: the n-th malloc, open, write, fsync, fork, mmap, pipe or rename of a run of ten
nodes fails. The run must end with a status, its database must be whole, and --resume must come to
the same tree.

    faults.py KEET-OPT FAULT-LIBRARY [--kind KIND] [--part N] [--seed N] [--each N] [--cold]

--part 16: a random sixteenth of all n, drawn from --seed (default: the day). For malloc, of which a
run makes very many, --each N takes n in steps that grow by 1/N: each n below N, then every ratio.
--cold: nothing is kept of earlier runs, so that processes for compiler and parser are made, too.
"""
import argparse
import concurrent.futures
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

KINDS = ("malloc", "open", "write", "fsync", "fork", "mmap", "pipe", "rename")
KERNEL = """\
#pragma keet size   N = 4096
#pragma keet check  N = 100
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tune   BLOCK = 64 in {32, 64, 128, 256}
#pragma keet launch scale<<<ceil_div(N, BLOCK), BLOCK>>>(X, Y, N)

__global__ void scale(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i];
}
"""
SECONDS = 120


class Bench:
    """A warm cache, and a folder for each run."""

    def __init__(self, options, home):
        self.keet, self.library = os.path.abspath(options.keet), os.path.abspath(options.library)
        self.cold, self.home = options.cold, home
        self.tree = None

    def run(self, folder, fault=None, resume=False):
        """One run; fault: (kind, n, whether all after n fail)."""
        environment = dict(os.environ)
        words = [self.keet, "scale.cu", "--budget", "10", "--window", "1000", "--device", "emu",
                 "--threads", "1", "-q", "--json"]
        if not self.cold:
            words += ["--cache", "cache", "--reuse", "reuse.db"]
        if resume:
            words.append("--resume")
        if fault:
            environment.update(LD_PRELOAD=self.library, KEET_FAULT_KIND=fault[0],
                               KEET_FAULT_AT=str(fault[1]),
                               KEET_FAULT_COUNT=os.path.join(folder, "count"))
            if fault[2]:
                environment["KEET_FAULT_MORE"] = "1"
        return subprocess.run(words, cwd=folder, env=environment, capture_output=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=SECONDS)

    def folder(self):
        """A folder with the kernel and what is kept."""
        folder = tempfile.mkdtemp(dir=self.home)
        with open(os.path.join(folder, "scale.cu"), "w", encoding="utf-8") as file:
            file.write(KERNEL)
        for name in ("cache", "reuse.db"):
            kept = os.path.join(self.home, "kept", name)
            if os.path.isdir(kept):
                shutil.copytree(kept, os.path.join(folder, name))
            elif os.path.exists(kept):
                shutil.copy(kept, os.path.join(folder, name))
        return folder

    def warm(self):
        """The tree of a run in which nothing fails; what it keeps is kept."""
        folder = self.folder()
        self.run(folder)
        if not self.cold:
            shutil.move(folder, os.path.join(self.home, "kept"))
            os.unlink(os.path.join(self.home, "kept", "scale.keet.db"))
            folder = self.folder()
            self.run(folder)
        self.tree = tree(folder)
        if len(self.tree) < 11:
            raise SystemExit(f"the run without faults has {len(self.tree)} nodes")

    def count(self, kind):
        """How many calls of a kind a run makes."""
        folder = self.folder()
        self.run(folder, (kind, 0, False))
        with open(os.path.join(folder, "count"), encoding="utf-8") as file:
            return int(file.read())

    def holds(self, kind, number, more):
        """None, or what went wrong."""
        folder = self.folder()
        try:
            done = self.run(folder, (kind, number, more))
            said = done.stderr.decode(errors="replace")
            if done.returncode < 0 or done.returncode > 3:
                return f"ended by {done.returncode}: {said[-300:]}"
            if done.returncode != 0 and "keet-opt" not in said:
                return f"status {done.returncode} without a word: {said[-300:]}"
            if "Sanitizer" in said:
                return said[:2000]
            database = os.path.join(folder, "scale.keet.db")
            if os.path.exists(database) and os.path.getsize(database) > 0:
                with sqlite3.connect(database) as opened:
                    if opened.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                        return "the database is damaged"
                if not tree(folder).items() <= self.tree.items():
                    return "a node is not that of the run without faults"
            again = self.run(folder, resume=True)
            if again.returncode != 0 or tree(folder) != self.tree:
                return f"--resume: {again.returncode} {again.stderr.decode(errors='replace')[-300:]}"
            return None
        except subprocess.TimeoutExpired:
            return f"it goes on after {SECONDS} s"
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def tree(folder):
    """The nodes of the newest run."""
    try:
        with sqlite3.connect(os.path.join(folder, "scale.keet.db")) as opened:
            return {row[0]: row[1:] for row in opened.execute(
                "SELECT number, parent, action, variant, verdict, source FROM node WHERE run ="
                " (SELECT max(id) FROM run)")}
    except sqlite3.OperationalError:
        return {}


def chosen(options, kind, all_of_them, draw):
    """The numbers n of a kind that are tried."""
    numbers, n = [], 1.0
    if kind == "malloc":
        while n <= all_of_them:
            numbers.append(int(n))
            n = max(n + 1, n * (1 + 1 / options.each))
    else:
        numbers = list(range(1, all_of_them + 1))
    return [n for n in numbers if draw.random() < 1 / options.part]


def main():
    """Tries each n."""
    parser = argparse.ArgumentParser()
    parser.add_argument("keet")
    parser.add_argument("library")
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--part", type=float, default=1)
    parser.add_argument("--seed", type=int, default=int(time.time()) // 86400)
    parser.add_argument("--each", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cold", action="store_true")
    options = parser.parse_args()
    draw, bad, nr = random.Random(options.seed), 0, 0
    with tempfile.TemporaryDirectory(prefix="keet-faults-") as home:
        bench = Bench(options, home)
        bench.warm()
        for kind in options.kind or KINDS:
            all_of_them = bench.count(kind)
            tries = [(kind, n, draw.random() < 0.3) for n in chosen(options, kind, all_of_them, draw)]
            with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                for one, why in zip(tries, pool.map(lambda fault: bench.holds(*fault), tries)):
                    nr += 1
                    bad += why is not None
                    if why:
                        print(f"{one[0]} {one[1]}{' and all after' if one[2] else ''}: {why}", flush=True)
            print(f"{kind}: {len(tries)} of {all_of_them} calls failed, one a run", flush=True)
    print(f"seed {options.seed}: {nr} runs, {bad} did not hold")
    return 1 if bad or nr == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
