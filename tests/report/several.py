#!/usr/bin/env python3
"""A database of several runs: they are listed, and each verb that looks at a database finds each."""
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from end import check, run, search

DB = "row_sum.keet.db"


def begin(keet, cwd):
    """Two runs that end, and one that is killed."""
    search(keet, cwd, "--budget", "3")
    search(keet, cwd, "--budget", "2", "--policy", "random", "--seed", "4")
    child = subprocess.Popen([keet, "row_sum.cu", "--device", "emu", "--budget",
                              "100000", "--window", "100000"], cwd=cwd, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    state = None
    for _ in range(600):
        runs = json.loads(run(keet, "runs", DB, "--json", cwd=cwd).stdout)["runs"]
        state = [(one["run"], one["state"]) for one in runs]
        if len(runs) == 3 and runs[2]["nodes"] > 2:
            break
        time.sleep(0.05)
    check(state == [(1, "done"), (2, "done"), (3, "running")], state)
    status = json.loads(run(keet, "status", DB, "--run", "1", "--json", cwd=cwd).stdout)
    check(not status["running"] and status["run"] == 1 and status["stopped_by"] == "budget", status)
    check(json.loads(run(keet, "status", DB, "--json", cwd=cwd).stdout)["running"], "not running")
    child.send_signal(signal.SIGKILL)
    child.wait()


def lists(keet, cwd):
    runs = json.loads(run(keet, "runs", DB, "--json", cwd=cwd).stdout)["runs"]
    check([one["state"] for one in runs] == ["done", "done", "cut off"], runs)
    check([one["evaluated"] for one in runs[:2]] == [3, 2] and runs[1]["seed"] == 4, runs)
    check(runs[0]["speedup"] >= runs[1]["speedup"] > 1 and runs[0]["device"] == "emu:h100", runs)
    check(runs[2]["stopped_by"] is None and runs[0]["stopped_by"] == "budget", runs)
    lines = run(keet, "runs", DB, cwd=cwd).stdout.splitlines()
    check(len(lines) == 4 and lines[0].split()[0] == "run", lines)
    check(lines[2].split()[0] == "2" and "random" in lines[2] and "cut off" in lines[3], lines)
    check("row_sum.cu" in lines[1] and f"{runs[0]['speedup']:.2f}x" in lines[1], lines)
    return runs


def verbs(keet, cwd, runs):
    """What is said of run N is of run N, by the database as Python's SQLite reads it."""
    db = sqlite3.connect(os.path.join(cwd, DB))
    for number, one in enumerate(runs[:2], 1):
        at = ["--run", str(number)]
        best, speedup = db.execute("SELECT number, speedup FROM node WHERE run = ? AND"
                                   " verdict = 'ok' ORDER BY speedup DESC, number",
                                   (number,)).fetchone()
        check(one["best"] == best and abs(one["speedup"] - speedup) < 1e-9, one, best, speedup)
        top = json.loads(run(keet, "results", DB, "--top", "1", "--json", *at, cwd=cwd).stdout)
        check(abs(top[0]["speedup"] - speedup) < 1e-9 * speedup, top)
        shown = json.loads(run(keet, "show", DB, "best", "--json", *at, cwd=cwd).stdout)
        check(shown["node"] == best and abs(shown["speedup"] - speedup) < 1e-9 * speedup, shown)
        diff = json.loads(run(keet, "diff", DB, "0", "best", "--json", *at, cwd=cwd).stdout)
        check(diff["b"] == best, diff)
        page = json.loads(run(keet, "report", DB, "--json", *at, cwd=cwd).stdout)
        check(page["best"] == best and page["seed"] == one["seed"], page["best"])
        said = run(keet, "watch", DB, "--once", *at, cwd=cwd).stdout
        check(f"seed {one['seed']}," in said and "stopped by: budget" in said, said)
        said = run(keet, "export", DB, "--as", "header", "-o", "-", *at, cwd=cwd).stdout
        check(f"node {best} of a run" in said, said[:300])
        check("0 calls" in run(keet, "calls", DB, *at, cwd=cwd).stdout, "calls")
    db.close()
    run(keet, "report", DB, "--run", "1", cwd=cwd)
    check(os.path.exists(os.path.join(cwd, "row_sum.run1.report.html")), "a page of its own")
    for words in (("show", DB, "best"), ("results", DB), ("status", DB), ("report", DB),
                  ("calls", DB), ("watch", DB, "--once"), ("export", DB, "--as", "header")):
        said = run(keet, *words, "--run", "7", cwd=cwd, code=1).stderr
        check("there is no run 7; `keet-opt runs" in said, words, said)
    check("expected" in run(keet, "show", DB, "best", "--run", "x", cwd=cwd, code=2).stderr, "x")
    run(keet, "row_sum.cu", "--run", "1", cwd=cwd, code=2)
    check("no such file" in run(keet, "runs", "nowhere.db", cwd=cwd, code=1).stderr, "nowhere")


HOST = """#include <cuda_runtime.h>
__global__ void rows(const float *x, float *y, int n, int m) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n) return;
    float s = 0;
    for (int i = 0; i < m; i++) s += x[r * m + i];
    y[r] = s;
}
int main() {
    int n = 1024, m = 512;
    float *x, *y;
    cudaMalloc(&x, n * m * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    rows<<<(n + 127) / 128, 128>>>(x, y, n, m);
}
"""


def edited(keet, cwd):
    """The user's file changes between two runs, and the second finds nothing better: what the first wrote is told apart."""
    path = os.path.join(cwd, "e.cu")
    with open(path, "w") as file:
        file.write(HOST)
    first = run(keet, "e.cu", "--device", "emu", "--budget", "6", cwd=cwd).stdout
    check("your file with it" in first and "stays in the database" not in first, first)
    with open(path, "w") as file:
        file.write(HOST.replace("float s = 0", "float s = 1"))
    os.mkdir(os.path.join(cwd, "replies"))
    for name in ("write-1.md", "repair-1.md", "repair-2.md"):
        with open(os.path.join(cwd, "replies", name), "w") as file:
            file.write("I have nothing.\n")
    second = run(keet, "e.cu", "--device", "emu", "--budget", "1", "--no-plan", "--model",
                 "script:replies", "--model-only", cwd=cwd).stdout
    flat = " ".join(second.split())
    check("No variant was faster" in flat and "stays in the database" in flat, second)
    check("e.patched.cu of an earlier run; this run found nothing to write" in flat, second)
    same = run(keet, "diff", "e.keet.db", "original", "0", cwd=cwd).stdout
    check(same == "nodes 0 and 0 have the same text\n", same)


def main():
    keet, root = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as cwd:
        shutil.copy(f"{root}/tests/kernels/row_sum.cu", cwd)
        begin(keet, cwd)
        verbs(keet, cwd, lists(keet, cwd))
        edited(keet, cwd)


main()
