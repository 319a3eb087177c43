#!/usr/bin/env python3
"""Kernels whose blocks or warps work together. Where they wait for each other, times and counters do
not depend on the host; what waits in vain ends with a verdict, and what takes too long ends when it is
told to. A race is named, and clusters are refused.

    waits.py KEET_OPT [REPEATS]      runs of each kernel with each number of threads (default 2)"""
import json
import os
import resource
import re
import signal
import subprocess
import sys
import tempfile
import time

keet = os.path.abspath(sys.argv[1])
repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 2
here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "waits")
folder = tempfile.mkdtemp()
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started the tests in the background


def run(path, *options):
    done = subprocess.run([keet, "run", "--json", *options, path], capture_output=True, text=True,
                          timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_times_and_counters_do_not_depend_on_threads():
    for name in ("lookback", "grid_sync", "handmade", "last_block"):
        seen = set()
        for threads in ("1", "3"):
            for _ in range(repeats):
                got = run(os.path.join(here, name + ".cu"), "--threads", threads)
                assert got["verdict"] == "ok", got["verdict_text"]
                seen.add(json.dumps(got))
        assert len(seen) == 1, (name, len(seen))


def sync_ns(blocks, threads):
    """A grid-wide barrier's time: of five barriers less that of one."""
    with open(os.path.join(here, "grid_sync.cu"), encoding="utf-8") as file:
        text = file.read()
    took = []
    for turns in (1, 5):
        path = os.path.join(folder, "sync.cu")
        with open(path, "w", encoding="utf-8") as file:
            file.write(re.sub(r"N = 33792, R = 1", f"N = {blocks * threads}, R = {turns}",
                              text).replace("256", str(threads)))
        took.append(run(path)["time_ns"])
    return (took[1] - took[0]) / 4


def test_a_grid_barrier_costs_what_is_measured():
    """1.4 us on V100 with one block an SM (Zhang et al., IPDPS 2020); more with more blocks an SM, and
    hardly more with more threads."""
    one, two, eight = (sync_ns(blocks, 256) for blocks in (132, 264, 1056))
    assert 1000 < one < two < eight < 2000, (one, two, eight)
    assert abs(sync_ns(132, 1024) - one) < 0.25 * one


def test_waiting_in_vain_is_a_verdict():
    for threads in ("1", "3"):
        done = subprocess.run([keet, "run", "--threads", threads, os.path.join(here, "in_vain.cu")],
                              capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 3 and "line 10: waits for ever" in done.stderr, done
        assert "block (0,0,0)" in done.stderr, done.stderr


def verdict(path):
    done = subprocess.run([keet, "run", "--json", path], capture_output=True, text=True, timeout=600,
                          check=False)
    return done.returncode, (json.loads(done.stdout)["verdict_text"] or "" if done.stdout else "") + done.stderr


def test_a_race_is_named_where_runs_differ():
    status, text = verdict(os.path.join(here, "no_barrier.cu"))
    assert status == 3, text
    for part in ("in one run and", "race on", "(line 14)", "(line 15)"):
        assert part in text, (part, text)


def test_clusters_run():
    with open(os.path.join(here, "in_cluster.cu"), encoding="utf-8") as file:
        text = file.read()
    path = os.path.join(folder, "cluster.cu")
    for new, said in ((text.replace("void count", "void __cluster_dims__(4, 1, 1) count"), ""),
                      (text.replace("256>>>(X, Y)", "256>>>(X, Y) cluster(2)"), ""),
                      (text.replace("void count", "void __cluster_dims__(4, 1, 1) count")
                       .replace("256>>>(X, Y)", "256>>>(X, Y) cluster(2)"), "the kernel requires (4,1,1)")):
        with open(path, "w", encoding="utf-8") as file:
            file.write(new)
        status, text_said = verdict(path)
        assert status == (3 if said else 0) and said in text_said, text_said


def processor_s(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return sum(int(ticks) for ticks in fields[11:13]) / os.sysconf("SC_CLK_TCK")


def ends_soon(number, *arguments):
    """By processor time, which does not depend on what else the machine does: within a second of it on
    each processor."""
    with subprocess.Popen([keet, *arguments], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and processor_s(process.pid) < 1:    # to be there takes less
            time.sleep(0.02)
        assert process.poll() is None, "not long enough"
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), processor_s(process.pid)
        process.send_signal(number)
        try:
            out, err = process.communicate(timeout=600)
        finally:
            process.kill()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime - began
        assert took < os.cpu_count(), (arguments, took)
        return process.returncode, out, err


def test_signals_end_the_emulation():
    path = os.path.join(here, "long.cu")
    for number, *verb in ((signal.SIGTERM, "run", path), (signal.SIGINT, "explain", path),
                          (signal.SIGTERM, "explain", path, path), (signal.SIGINT, path, "--db", "x.db")):
        status, _, err = ends_soon(number, *verb)
        assert status == 1 and "interrupted" in err, (verb, status, err)


for name, function in list(globals().items()):
    if name.startswith("test_"):
        function()
        print("ok", name)
