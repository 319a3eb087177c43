#!/usr/bin/env python3
"""A variant that is fast, and wrong at the timed size only and in one block of thousands, is never the answer: not at the
end of a run, not after SIGINT, not after SIGKILL, and not when the run is resumed.

  lead.py KEET_OPT"""

import json
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

KERNEL = """#pragma keet size   M = 1104, N = 1056
#pragma keet check  M = 96, N = 64
#pragma keet in     A : f32[M][N]
#pragma keet out    C : f32[M][N]
#pragma keet tune   T = 1 in {1, 2, 4}
#pragma keet tune   U = 1 in {1, 2}
#pragma keet launch f<<<dim3(ceil_div(N, 32*T), M), 32*T>>>(A, C, M, N)
__global__ void f(const float *A, float *C, int M, int N)
{
    const int x = blockIdx.x * 32 * T + threadIdx.x, y = blockIdx.y;
    if (x < N)
        C[y * N + x] = T > 1 && M > 1000 && N > 1000 && y == 1077 && x == 77 ? 0 : 2 * A[(y + U) * N + x - U * N];
}
"""


def t_of(text):
    return int(re.search(r"tune +T = (\d+)", text).group(1))


def main():
    keet = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "k.cu").write_text(KERNEL)

        def command(db, budget, *more):
            return [keet, "tune", "k.cu", "--device", "emu", "--budget", str(budget), "--db", db, "-o", f"{db}.cu", "--json", *more]

        def run(words):
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=200)
            assert done.returncode == 0, (words, done.returncode, done.stdout, done.stderr)
            return json.loads(done.stdout)

        def nodes(db):
            with sqlite3.connect(folder / db) as file:
                return file.execute("SELECT number, verdict, speedup, timed, source.text FROM node JOIN source ON"
                                    " source.hash = node.source LEFT JOIN check_result ON check_result.node = node.id"
                                    " ORDER BY number").fetchall()

        def best_of(db):
            """As every reader of the database has it."""
            runs = run([keet, "runs", db, "--json"])
            return runs["runs"][-1]["best"]

        def holds(db, document=None):
            rows = nodes(db)
            best = best_of(db)
            by_number = {number: (verdict, timed, t_of(text)) for number, verdict, _, timed, text in rows}
            assert best == 0 or by_number[best] == ("ok", 1, 1), (best, by_number)
            if document:
                fastest = max((row for row in rows if row[1] == "ok"), key=lambda row: row[2])
                assert fastest[0] == 0 or fastest[3] == 1, (fastest, by_number)
                with sqlite3.connect(folder / db) as file:
                    fallen, = file.execute("SELECT count(*) FROM revision JOIN node USING (run, number) WHERE verdict = 'wrong'"
                                           " AND revision.speedup > 1").fetchone()
                assert document["fallen"] == fallen > 0, (document["fallen"], fallen)
                assert t_of((folder / f"{db}.cu").read_text()) == 1

        def broken_off(db, number):
            child = subprocess.Popen(command(db, "all"), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(4000):
                time.sleep(.02)
                try:
                    if any(row[1] == "ok" and t_of(row[4]) > 1 for row in nodes(db)) or child.poll() is not None:
                        break
                except sqlite3.OperationalError:
                    pass  # not made yet
            child.send_signal(number)
            out, err = child.communicate(timeout=200)
            return child.returncode, out, err

        whole = run(command("whole.db", "all"))
        assert whole["stopped_by"] == "exhausted", whole["stopped_by"]
        holds("whole.db", whole)
        assert sum(row[1] == "wrong" for row in nodes("whole.db")) >= 2
        for row in nodes("whole.db"):
            assert row[1] == "ok" or row[2] == 0, row

        few = run(command("few.db", 3))  # leads fall before the end, and are replayed
        holds("few.db")
        assert few["fallen"] > 0
        holds("few.db", run(command("few.db", "all", "--resume")))

        status, out, err = broken_off("int.db", signal.SIGINT)
        assert status == 0, (status, err)
        holds("int.db", json.loads(out))
        holds("int.db", run(command("int.db", "all", "--resume")))

        broken_off("kill.db", signal.SIGKILL)
        holds("kill.db")
        holds("kill.db", run(command("kill.db", "all", "--resume")))


if __name__ == "__main__":
    main()
