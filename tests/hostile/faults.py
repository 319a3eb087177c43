"""Fault injection: the n-th malloc, open, write, fsync, fork, mmap, pipe or rename of a run of ten
nodes fails. The run must end with a status, its database must be whole, and --resume must come to
the same tree.

    faults.py KEET-OPT FAULT-LIBRARY [--kind KIND] [--part N] [--seed N] [--cold] [--from N] [--to N] [--log FILE]

--part 16: a random sixteenth of all n, drawn from --seed (default: the day). For malloc, of which a
run makes very many, there is one run for all n: at each n it forks, in the fork the call fails, and
the run waits for the end of the fork (fault.h); --resume is tried once for each database that is
left, times and clocks aside. --cold: nothing is kept of earlier runs, so that processes for compiler and
parser are made, too; each n is a run. --from, --to: of malloc, only these n, both included. --log: the n of malloc
that were tried.
"""
import argparse
import concurrent.futures
import hashlib
import os
import random
import re
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
CLOCKS = re.compile("^(started|ended|stored)$|seconds|host|pid|path")


class Bench:
    """A warm cache, and a folder for each run."""

    def __init__(self, options, home):
        self.keet, self.library = os.path.abspath(options.keet), os.path.abspath(options.library)
        self.cold, self.home = options.cold, home
        self.tree = None
        self.right, self.nr_resumed = set(), 0  # databases that were resumed, in hashes

    def words(self):
        """The command line."""
        words = [self.keet, "scale.cu", "--budget", "10", "--window", "1000", "--device", "emu",
                 "--threads", "1", "-q", "--json"]
        return words if self.cold else [*words, "--cache", "cache", "--reuse", "reuse.db"]

    def run(self, folder, fault=None, resume=False):
        """One run; fault: (kind, n, whether all after n fail)."""
        environment, words = dict(os.environ), self.words()
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

    def start_forks(self, folder, numbers):
        """A run that forks at each number; what it tells, and what it hears."""
        tell, hear = os.pipe(), os.pipe()
        environment = dict(os.environ, LD_PRELOAD=self.library, KEET_FAULT_KIND="malloc", KEET_FAULT_AT="0",
                           KEET_FAULT_FORK=f"{numbers.start}:{numbers.stop}:{numbers.step}")

        def at_their_numbers():
            os.dup2(tell[1], 100)
            os.dup2(hear[0], 101)

        run = subprocess.Popen(self.words(), cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, close_fds=False,
                               preexec_fn=at_their_numbers)
        os.close(tell[1])
        os.close(hear[0])
        return run, os.fdopen(tell[0]), os.fdopen(hear[1], "wb", buffering=0)

    def forks(self, numbers, log):
        """One run in which each number fails in a fork: the numbers that did not hold, with why."""
        folder, bad, nr, logged = self.folder(), [], 0, 0
        run, tell, hear = self.start_forks(folder, numbers)
        for line in tell:
            number, nr, status = map(int, line.split())
            if number == 0:
                break
            why = self.left_by_fork(folder, os.waitstatus_to_exitcode(status))
            if why:
                bad.append((number, why))
                print(f"malloc {number}: {why}", flush=True)
            if log and nr // 1000 > logged:
                logged = nr // 1000
                print(f"malloc, every {numbers.step} from {numbers.start}, up to {number}: {nr} tried, {len(bad)} did not hold",
                      file=log, flush=True)
            hear.write(b"!" if why else b".")
        said = run.communicate()[1].decode(errors="replace")
        if run.returncode != 0 or tree(folder) != self.tree or nr != len(numbers):
            bad.append((0, f"the run itself: {run.returncode}, {nr} of {len(numbers)} numbers: {said[-300:]}"))
            print(*bad[-1], flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        return nr, bad

    def left_by_fork(self, folder, status):
        """None, or what is wrong with what a fork left behind."""
        with open(os.path.join(folder, ".kept", "said"), encoding="utf-8", errors="replace") as file:
            said = file.read()
        if status < 0 or status > 3:
            return f"ended by {status}: {said[-300:]}"
        if status != 0 and "keet-opt" not in said:
            return f"status {status} without a word: {said[-300:]}"
        kept = [os.path.join(folder, "scale.keet.db" + end) for end in ("", "-wal", "-journal")]
        return self.left_behind([path for path in kept if os.path.exists(path)])

    def left_behind(self, kept):
        """None, or what is wrong with a database. Databases that differ in times alone are resumed once."""
        folder = self.folder()
        try:
            for path in kept:
                shutil.copy(path, folder)
            why = self.database(folder)
            rows = contents(folder)
            if why is None and rows not in self.right:
                why = self.resumed(folder)
                self.right.add(rows)
                self.nr_resumed += 1
            return why
        finally:
            shutil.rmtree(folder, ignore_errors=True)

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

    def database(self, folder):
        """None, or what is wrong with the database, if there is one."""
        path = os.path.join(folder, "scale.keet.db")
        if os.path.exists(path) and os.path.getsize(path) > 0:
            with sqlite3.connect(path) as opened:
                if opened.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                    return "the database is damaged"
            if not tree(folder).items() <= self.tree.items():
                return "a node is not that of the run without faults"
        return None

    def resumed(self, folder):
        """None, or what goes wrong when the run goes on."""
        again = self.run(folder, resume=True)
        if again.returncode != 0 or tree(folder) != self.tree:
            return f"--resume: {again.returncode} {again.stderr.decode(errors='replace')[-300:]}"
        return None

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
            return self.database(folder) or self.resumed(folder)
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


def contents(folder):
    """The rows of a database, without what clocks say."""
    path, all_rows = os.path.join(folder, "scale.keet.db"), []
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        return None
    with sqlite3.connect(path) as opened:
        for (table,) in opened.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
            columns = [row[1] for row in opened.execute(f"PRAGMA table_info({table})")
                       if not CLOCKS.search(row[1])]
            all_rows.append((table, opened.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()))
    return hashlib.sha256(repr(all_rows).encode()).digest()


def in_forks(bench, options, all_of_them, draw):
    """All n of malloc, or each part-th, in forks of as many runs as there are jobs: how many, and how many did not hold."""
    step, all_of_them = round(options.part), min(all_of_them, options.last)
    first = max(options.first, 1) + draw.randrange(step)
    each = (all_of_them - first) // options.jobs // step * step + step
    ranges = [range(first + i * each, min(first + (i + 1) * each, all_of_them + 1), step) for i in range(options.jobs)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        done = list(pool.map(lambda numbers: bench.forks(numbers, options.log), ranges))
    print(f"malloc: {sum(one[0] for one in done)} of {all_of_them} calls failed, one a fork, each {step} from {first};"
          f" {bench.nr_resumed} databases resumed", flush=True)
    return sum(one[0] for one in done), sum(len(one[1]) for one in done)


def main():
    """Tries each n."""
    parser = argparse.ArgumentParser()
    parser.add_argument("keet")
    parser.add_argument("library")
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--part", type=float, default=1)
    parser.add_argument("--seed", type=int, default=int(time.time()) // 86400)
    parser.add_argument("--from", type=int, default=1, dest="first")
    parser.add_argument("--to", type=int, default=1 << 62, dest="last")
    parser.add_argument("--log", type=argparse.FileType("a"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cold", action="store_true")
    options = parser.parse_args()
    draw, bad, nr = random.Random(options.seed), 0, 0
    with tempfile.TemporaryDirectory(prefix="keet-faults-") as home:
        bench = Bench(options, home)
        bench.warm()
        for kind in options.kind or KINDS:
            all_of_them = bench.count(kind)
            if kind == "malloc" and not options.cold:
                tried, failed = in_forks(bench, options, all_of_them, draw)
                nr, bad = nr + tried, bad + failed
                continue
            tries = [(kind, n, draw.random() < 0.3) for n in range(1, all_of_them + 1) if draw.random() < 1 / options.part]
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
