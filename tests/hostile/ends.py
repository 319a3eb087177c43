"""Cases of SIGINT and SIGTERM: every verb that can take long ends at once, wherever it is, and so does what it started."""
import os
import signal
import socket
import sqlite3
import subprocess
import time

from cases import cases
from outside import interrupt, search
from tools import survivors

CASES, case = cases()

def put_long_host_file(bench):
    """A file whose host code takes half a second of the processor to read: launches by the thousand, each behind a loop."""
    lines = [f"    float *a{i};\n    cudaMalloc(&a{i}, n * 4);\n    for (int k = 0; k < 1000000; k++)\n"
             f"        n = n + k % 3 - k % 3;\n    scale<<<n / 64, 64>>>(x, a{i}, n);\n" for i in range(20000)]
    bench.put("host.cu", "__global__ void scale(float *x, float *y, int n)\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
              "    if (i < n)\n        y[i] = 2 * x[i];\n}\nint main()\n{\n    int n = 4096;\n    float *x;\n"
              "    cudaMalloc(&x, n * 4);\n" + "".join(lines) + "}\n")
    return "host.cu"


def put_long_database(bench, nr):
    """A database with so many copies of a node."""
    search(bench, 2)
    opened = sqlite3.connect(bench.path("dot.keet.db"))
    node = opened.execute("SELECT max(id) FROM node").fetchone()[0]
    opened.execute("CREATE TEMP TABLE k AS WITH RECURSIVE r(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM r WHERE k < ?) SELECT k FROM r",
                   (nr,))
    for table in ("node", "compilation", "kernel", "check_result", "measurement", "launch", "counter", "explanation", "finding"):
        key, moved = ("id", ("id", "number")) if table == "node" else ("node", ("node",))
        columns = [row[1] for row in opened.execute(f"PRAGMA table_info({table})")]
        made = ", ".join(f"{one} + k" if one in moved else one for one in columns)
        opened.execute(f"INSERT INTO {table} SELECT {made} FROM {table}, k WHERE {key} = ? ORDER BY k", (node,))
    opened.commit()
    opened.close()
    return "dot.keet.db"


@case(60)
def ends_while_reading(bench):
    """While a verb reads what takes long, a signal ends it."""
    path = put_long_host_file(bench)
    bench.kernel("matmul.cu")
    for words in (["init", path], [path, "--budget", "1"], ["check", path, path], ["patch", path, "matmul.cu"]):
        found = interrupt(bench, words, 0.1, number=signal.SIGTERM)
        bench.check(found and found[0] < 0.3 * bench.slow, words, found)


@case(100, long=True)
def ends_of_every_reader(bench):
    """All verbs that read a kernel file, a file with host code or a database."""
    path = put_long_host_file(bench)
    bench.kernel("matmul.cu")
    bench.put("task.cu", "#pragma keet in X : f32[4]\n" * 400000)
    database = put_long_database(bench, 2000)
    for words in (["init", path, "--json"], ["init", path, "-o", "x.cu"], ["tune", path], ["run", path], ["run", path, "--moves"],
                  ["explain", path], ["explain", path, "matmul.cu"], ["explain", path, "--sweep", "n=1,2,3"],
                  ["compare", path, "matmul.cu"], ["check", "matmul.cu", path], ["capture", path, "--", "true"],
                  ["run", "task.cu"], ["write", "task.cu", "--model", "cmd:true"],
                  ["report", database, "-o", "x.html"], ["export", database, "--as", "t4"]):
        for number in (signal.SIGINT, signal.SIGTERM):
            for moment in (0.05, 0.3):
                found = interrupt(bench, words, moment, number=number)
                bench.check(not found or found[0] < 0.3 * bench.slow, words, moment, found)
    for words in (["runs", database], ["status", database], ["results", database], ["show", database, "best"],
                  ["diff", database, "0", "1"], ["calls", database], ["stop", database]):
        bench.run(*words, status=(0, 1))


def end_of_waiting(bench, words, number, begun, **how):
    """A signal when the verb waits for what it started: the verb ends, and takes nothing of the processor for it."""
    process = bench.start(*words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **how)
    begin = time.monotonic()
    while not begun():
        bench.check(process.poll() is None, words, "ended by itself", process.returncode)
        bench.check(time.monotonic() - begin < 100 * bench.slow, words, "never began")
        time.sleep(0.02)
    begin = time.monotonic()
    process.send_signal(number)
    try:
        process.wait(timeout=60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        bench.check(False, words, "goes on")
    bench.check(process.returncode != 0 or words == ["mcp"], words, "says that all is done")
    return time.monotonic() - begin


@case(30)
def ends_while_waiting(bench):
    """Where a verb waits for a program, a server's client or another process, a signal ends it."""
    def begun():
        return os.path.exists(bench.path("begun"))
    bench.kernel()
    os.chmod(bench.put("waits.sh", f"#!/bin/sh\n: >'{bench.path('begun')}'\nexec sleep 100\n"), 0o755)
    bench.put("task.cu", "#pragma keet size N = 64\n#pragma keet in X : f32[N]\n#pragma keet out Y : f32[N]\n")
    ours, theirs = socket.socketpair()
    for words, how in ((["capture", "-o", "captured", "--", "./waits.sh"], {}),
                       (["optimize-program", "--build", "./waits.sh", "--", "./program"], {}),
                       (["write", "task.cu", "--model", "cmd:" + bench.path("waits.sh")], {}),
                       (["mcp"], {"stdin": subprocess.PIPE}), (["serve"], {"stdin": theirs})):
        if os.path.exists(bench.path("begun")):
            os.unlink(bench.path("begun"))
        waiting = begun if "waits.sh" in " ".join(words) else (lambda: time.sleep(0.3) or True)
        wall = end_of_waiting(bench, words, signal.SIGTERM, waiting, **how)
        bench.check(wall < 5 + 5 * bench.slow, words, f"took {wall:.1f} s")
    ours.close()
    theirs.close()


@case(20)
def ends_as_it_was_started(bench):
    """SIGINT that was ignored when the program was started, as shells have it for `command &`, stays ignored."""
    os.chmod(bench.put("waits.sh", f"#!/bin/sh\n: >'{bench.path('begun')}'\nexec sleep 100\n"), 0o755)
    process = bench.start("capture", "-o", "captured", "--", "./waits.sh", stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    begin = time.monotonic()
    while not os.path.exists(bench.path("begun")):
        bench.check(process.poll() is None and time.monotonic() - begin < 100 * bench.slow, "never began")
        time.sleep(0.02)
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        masks = dict(line.split(":\t") for line in file.read().splitlines() if line.startswith("Sig"))
    bench.check(int(masks["SigIgn"], 16) >> signal.SIGINT - 1 & 1, "SIGINT was taken", masks)
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=60 * bench.slow)


@case(20)
def ends_with_a_tool(bench):
    """A tool that waits, and what it started, end with the program: by a signal, and where the program is killed."""
    word = f"4711.{os.getpid()}"
    os.chmod(bench.put("tools/waits", f"#!/bin/sh\nsleep {word} &\nsleep {word} &\nwait\n"), 0o755)
    bench.kernel()

    def alive():
        return survivors("sleep\x00" + word)
    for number in (signal.SIGINT, signal.SIGKILL):
        end_of_waiting(bench, ["explain", "dot.cu", "--device", "emu", "--tools", "tools"], number,
                       lambda: len(alive()) == 2)
        until = time.monotonic() + 60
        while alive() and time.monotonic() < until:
            time.sleep(0.02)
        bench.check(not alive(), number, "what the tool started lives on")
