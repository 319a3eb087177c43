"""What hostile input does to the program: each case has its seconds, and none may end main, stall it
or empty what was found.

    hostile.py KEET-OPT SOURCE [--slow FACTOR] [--full] [NAME...]

A case's seconds are processor time of the program and its children; the wall may take ten times as
long and 30 s, since a busy machine is no fault. --slow multiplies both, for builds with sanitizers.
--full adds the cases of which one alone takes long.
"""
import argparse
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import ends
import inputs
import kernels
import outside
import replies
import tools

GROUPS = (outside, ends, inputs, tools, replies, kernels)


class Failed(Exception):
    """A case did not hold."""


class Bench:
    """What a case works with: a folder of its own, and the program under a limit."""

    def __init__(self, keet, source, folder, seconds, slow):
        self.keet, self.source, self.folder = keet, source, folder
        self.seconds, self.slow = seconds, slow
        self.out = self.err = b""

    def path(self, name):
        """A file of the case's folder."""
        return os.path.join(self.folder, name)

    def put(self, name, text):
        """Writes a file and gives its path."""
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"))
        return path

    def kernel(self, name="dot.cu", to=None):
        """A copy of one of the program's own kernels."""
        shutil.copy(os.path.join(self.source, "kernels", name), self.path(to or name))
        return self.path(to or name)

    def start(self, *words, **how):
        """The program, on its way."""
        how.setdefault("stdout", subprocess.PIPE)
        how.setdefault("stderr", subprocess.PIPE)
        how.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen([self.keet, *words], cwd=self.folder, start_new_session=True, **how)

    def end(self, process, status=None, says=None, never=None):
        """Waits within the case's seconds; checks status and words."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        limit = self.slow * (10 * self.seconds + 30)
        try:
            self.out, self.err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise Failed(f"it goes on after {limit:.0f} s") from None
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        words = ((self.out or b"") + (self.err or b"")).decode("utf-8", "replace")
        if process.returncode < 0 or process.returncode > 3:
            raise Failed(f"main ended by {process.returncode}: {words[-400:]}")
        if status is not None and process.returncode not in (status if isinstance(status, tuple)
                                                             else (status,)):
            raise Failed(f"status {process.returncode}, not {status}: {words[-400:]}")
        if says is not None and says not in words:
            raise Failed(f"it does not say '{says}': {words[-600:]}")
        if never is not None and never in words:
            raise Failed(f"it says '{never}': {words[-600:]}")
        if spent > self.slow * self.seconds:
            raise Failed(f"{spent:.1f} s of processor time; {self.seconds} s were stated")
        return words

    def run(self, *words, status=None, says=None, never=None, **how):
        """start and end."""
        return self.end(self.start(*words, **how), status, says, never)

    @staticmethod
    def check(good, *what):
        """A case's own condition."""
        if not good:
            raise Failed(" ".join(str(one) for one in what))


def main():
    """Runs the cases that are named, or all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("keet")
    parser.add_argument("source")
    parser.add_argument("--slow", type=float, default=1)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    # Where a shell started the tests in the background, SIGINT is ignored, and programs would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="keet-hostile-cache-")
    unknown = set(options.names) - {one[0] for group in GROUPS for one in group.CASES}
    if unknown:
        parser.error(f"there is no case {', '.join(sorted(unknown))}")
    nr = nr_bad = 0
    for name, seconds, long, case in (one for group in GROUPS for one in group.CASES):
        if (options.names and name not in options.names) or (long and not options.full):
            continue
        folder = tempfile.mkdtemp(prefix="keet-hostile-")
        cache = os.environ["XDG_CACHE_HOME"]
        bench = Bench(os.path.abspath(options.keet), os.path.abspath(options.source), folder,
                      seconds, options.slow)
        begun, why = time.monotonic(), None
        try:
            case(bench)
        except Failed as failed:
            why = str(failed)
        nr, nr_bad = nr + 1, nr_bad + (why is not None)
        print(f"{'FAILED' if why else 'held'} {time.monotonic() - begun:6.1f} s  {name}"
              f"{': ' + why if why else ''}", flush=True)
        os.environ["XDG_CACHE_HOME"] = cache
        shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(os.environ["XDG_CACHE_HOME"], ignore_errors=True)
    print(f"{nr} cases, {nr_bad} failed")
    return 1 if nr_bad or nr == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
