#!/usr/bin/env python3
"""key_memory.py KEET_OPT SOFTWARE_DRIVER: a key in the environment, and where it is to be found while a run
asks a model over HTTP: in the process that asks, and nowhere else. Looked at are

  - the memory, environment and arguments of every process below it (compilers, those that start them,
    the process that owns the GPU), each stopped for it: all that a core dump of it would hold, and more.
    A child cannot leave a core file by itself, since the sandbox forbids it to write files;
  - the core dump of the program itself, ended by SIGSEGV while requests are under way;
  - every file that the run leaves, and what it prints.

That the search would find a key is shown by finding it in the program's own memory, and by finding the
kernel's source in each of the dumps. Exit code 77, shown as skipped, where the system forbids to look."""
import glob
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

from fault_runs import KERNEL, KEY, Server, make_replies

MARK = b"pragma keet launch scale"


def areas_of(pid, with_undumped):
    """What is readable of a process: (start, end). Without what a core dump leaves out (dd)."""
    areas, area = [], None
    with open(f"/proc/{pid}/smaps", encoding="ascii") as file:
        for line in file:
            head = re.match(r"([0-9a-f]+)-([0-9a-f]+) (r?)", line)
            if head:
                area = (int(head[1], 16), int(head[2], 16)) if head[3] else None
            elif line.startswith("VmFlags:") and area:
                flags = line.split()[1:]
                if "io" not in flags and (with_undumped or "dd" not in flags):
                    areas.append(area)
    return areas


def memory_of(pid, with_undumped=True):
    """Its bytes, area by area."""
    with open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for start, end in areas_of(pid, with_undumped):
            before = b""
            for at in range(start, end, 1 << 24):
                try:
                    memory.seek(at)
                    piece = memory.read(min(1 << 24, end - at))
                except (OSError, ValueError, OverflowError):
                    break
                yield before + piece
                before = piece[-200:]


def holds(pieces, *wanted):
    found = [False] * len(wanted)
    for piece in pieces:
        found = [was or text in piece for was, text in zip(found, wanted)]
    return found


def children_of(pid):
    pids = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        try:
            with open(path, encoding="ascii") as file:
                pids += [int(word) for word in file.read().split()]
        except OSError:
            pass
    return pids


def descendants_of(pid):
    """Compilers are children of a child."""
    pids = children_of(pid)
    return pids + [below for child in pids for below in descendants_of(child)]


def started(pid):
    """When a process began, in ticks since the machine did."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return int(file.read().rsplit(")", 1)[1].split()[19])


def look_at_child(pid):
    """Stopped, since most live for a fraction of a second. None: it was gone first."""
    try:
        os.kill(pid, signal.SIGSTOP)
    except ProcessLookupError:
        return None
    try:
        has_key, has_mark = holds(memory_of(pid), KEY.encode(), MARK)
        for name in ("environ", "cmdline"):
            with open(f"/proc/{pid}/{name}", "rb") as file:
                has_key |= KEY.encode() in file.read()
        return has_key, has_mark
    except (FileNotFoundError, ProcessLookupError):
        return None
    finally:
        try:
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            pass


class Run:
    def __init__(self, keet_opt, folder, name, server, budget, *more, env=()):
        drop = ("_proxy", "_PROXY", "_API_KEY", "_API_KEY_FILE", "_BASE_URL")
        kept = {n: v for n, v in os.environ.items() if not n.endswith(drop)}
        # A key of another vendor is in sight as well, and must not get out either.
        kept.update(dict(env), KEET_CUTLASS="none", KEET_API_KEY=KEY, OPENAI_API_KEY=KEY + "-too")
        self.process = subprocess.Popen(
            [keet_opt, os.path.join(folder, "scale.cu"), "--model", server.base + "/v1#m",
             "--model-only", "--budget", budget, "--window", "1000", "--cache", "", "--db",
             os.path.join(folder, name + ".db"), "-o", os.path.join(folder, name + ".cu"), "--json",
             "-v", "--record", os.path.join(folder, name + ".jsonl"), *more],
            env=kept, cwd=folder, stdout=open(os.path.join(folder, name + ".out"), "wb"),
            stderr=subprocess.STDOUT, preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)))

    def end(self, number):
        self.process.send_signal(number)
        return self.process.wait()


def look_at_children(run, server, nr_wanted):
    """While requests are under way, so that the key is in use. Each after a second, then after two, four
    and so on, since it stands still meanwhile and has a deadline, and since looking at the ones that
    live long leaves no time for those that live a moment."""
    marked, unmarked, next_s, pause_s = set(), set(), {}, {}
    end = time.monotonic() + 400
    while not server.log()["requests"] and run.process.poll() is None:
        time.sleep(0.01)  # asked no more after it: a compiler is gone before the answer comes
    while time.monotonic() < end and run.process.poll() is None and len(marked) < nr_wanted:
        for pid in descendants_of(run.process.pid):
            if time.monotonic() < next_s.get(pid, 0):
                continue
            result = look_at_child(pid)
            pause_s[pid] = 2 * pause_s.get(pid, 0.5)
            next_s[pid] = time.monotonic() + pause_s[pid]
            if result:
                assert not result[0], f"the key is in the memory of child {pid}"
                (marked if result[1] else unmarked).add(pid)
        time.sleep(0.002)
    assert len(marked) >= nr_wanted, f"only {len(marked)} children could be looked at"
    return len(marked | unmarked)


def wait_for_calm(pid):
    """Until all threads but the first sleep: one that is sending has the key in its registers."""
    for _ in range(1000):
        states = []
        for path in glob.glob(f"/proc/{pid}/task/*/stat"):
            try:
                with open(path, encoding="ascii") as file:
                    states.append((path, file.read().rsplit(")", 1)[1].split()[0]))
            except (FileNotFoundError, ProcessLookupError):
                pass  # a thread that has just ended
        if all(state == "S" for path, state in states if f"/task/{pid}/" not in path):
            return
        time.sleep(0.001)


def wait_for_variant(run, said):
    """Until the first line of progress: [1/24]."""
    while run.process.poll() is None:
        with open(said, "rb") as file:
            if b"\n[" in file.read():
                return
        time.sleep(0.01)


def check_core(run, folder):
    """A real core file where the system writes one here; else what it would hold."""
    pid = run.process.pid
    has_key, has_mark = holds(memory_of(pid), KEY.encode(), MARK)
    assert has_key and has_mark, "the search does not find what must be there"
    has_key, has_mark = holds(memory_of(pid, with_undumped=False), KEY.encode(), MARK)
    assert has_mark and not has_key, "a core dump would hold the key"
    with open(f"/proc/{pid}/environ", "rb") as file:
        assert KEY.encode() not in file.read(), "the key is in /proc/PID/environ"
    wait_for_calm(pid)
    assert run.end(signal.SIGSEGV) == -signal.SIGSEGV
    cores = glob.glob(os.path.join(folder, "core*"))
    for path in cores:
        with open(path, "rb") as file:
            core = file.read()
        assert MARK in core and KEY.encode() not in core, "the core dump holds the key"
        print(f"core dump of {len(core) >> 20} MiB: no key")
        os.unlink(path)
    if not cores:
        print("the system wrote no core file here; looked at the memory that it would hold")


def check_files(folder):
    paths = [path for path in glob.glob(folder + "/**", recursive=True) if os.path.isfile(path)]
    assert len(paths) > 10
    for path in paths:
        with open(path, "rb") as file:
            assert KEY.encode() not in file.read(), path


def may_look():
    with subprocess.Popen(["sleep", "60"]) as process:
        try:
            return any(memory_of(process.pid))
        except OSError:
            return False
        finally:
            process.kill()


def main():
    keet_opt, driver = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    if not may_look():
        print("skipped: the memory of other processes cannot be read here")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        make_replies(os.path.join(folder, "replies"), 40)
        with open(os.path.join(folder, "scale.cu"), "w", encoding="utf-8") as file:
            file.write(KERNEL)
        with Server(folder, "", 300) as server:
            run = Run(keet_opt, folder, "emulator", server, "30")
            print(look_at_children(run, server, 3), "compilers looked at: no key")
            check_core(run, folder)
            run = Run(keet_opt, folder, "worker", server, "24", "--device", "gpu",
                      env={"KEET_CUDA_DRIVER": driver})
            print(look_at_children(run, server, 3),
                  "compilers and the owner of the GPU looked at: no key")
            # That one crashes: it leaves no core file, and the run goes on, if there is something to go
            # on from: the original has been timed once a variant is told.
            wait_for_variant(run, os.path.join(folder, "worker.out"))
            os.kill(min(children_of(run.process.pid), key=started), signal.SIGSEGV)
            status = run.process.wait()
        with open(os.path.join(folder, "worker.out"), "rb") as file:
            said = file.read()
        assert status == 0 and b'"stopped_by": "budget"' in said, (status, said[-3000:])
        assert not glob.glob(os.path.join(folder, "core*"))
        check_files(folder)


if __name__ == "__main__":
    main()
