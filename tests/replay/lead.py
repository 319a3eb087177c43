#!/usr/bin/env python3
"""A variant that is fast, and wrong at the timed size only and in one block of thousands, is never the answer: not at the
end of a run, not after SIGINT, not after SIGKILL, and not when the run is resumed. A run that is killed where leads have fallen
and resumed finds the same tree as one that was left alone.

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
WIDER = KERNEL.replace("T = 1 in {1, 2, 4}", "T = 1 in {1, 2, 4, 8}").replace("U = 1 in {1, 2}", "U = 1 in {1, 2, 3, 4}")


def t_of(text):
    return int(re.search(r"tune +T = (\d+)", text).group(1))


def main():
    keet = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "k.cu").write_text(KERNEL)
        (folder / "wider.cu").write_text(WIDER)

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
                assert document["unsettled"] is None, document["unsettled"]
                assert t_of((folder / f"{db}.cu").read_text()) == 1

        def has_fast(db):
            return any(row[1] == "ok" and t_of(row[4]) > 1 for row in nodes(db))

        def broken_off(words, db, number, when=has_fast):
            child = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(4000):
                time.sleep(.02)
                try:
                    if when(db) or child.poll() is not None:
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

        status, out, err = broken_off(command("int.db", "all"), "int.db", signal.SIGINT)
        assert status == 0, (status, err)
        holds("int.db", json.loads(out))
        holds("int.db", run(command("int.db", "all", "--resume")))

        broken_off(command("kill.db", "all"), "kill.db", signal.SIGKILL)
        holds("kill.db")
        holds("kill.db", run(command("kill.db", "all", "--resume")))

        def wide(db):
            return [keet, "wider.cu", "--device", "emu", "--budget", "12", "--window", "3", "--db", db, "-o", f"{db}.cu", "--json"]

        def three_fell(db):
            with sqlite3.connect(folder / db) as file:
                return file.execute("SELECT count(*) FROM revision").fetchone()[0] >= 3

        alone = run(wide("alone.db"))  # leads fall each time that it converges, and it goes on
        assert alone["fallen"] >= 4, alone["fallen"]
        broken_off(wide("again.db"), "again.db", signal.SIGKILL, three_fell)
        again = run([*wide("again.db"), "--resume"])
        assert (again["tree"], again["fallen"]) == (alone["tree"], alone["fallen"]), (alone, again)

        # A revision that no replay comes to is no reason to look forever.
        with sqlite3.connect(folder / "again.db") as file:
            file.execute("UPDATE revision SET nr_asked = 1000000")
        odd = subprocess.run([*wide("again.db"), "--resume"], cwd=folder, capture_output=True, text=True, check=False, timeout=200)
        assert odd.returncode == 1 and "cannot resume" in odd.stderr, (odd.returncode, odd.stderr)

        # A child of a node that fell may be the best: the way to it names what fell.
        with sqlite3.connect(folder / "alone.db") as file:
            fell, child = file.execute("SELECT parent.number, node.number FROM node JOIN node parent ON parent.number = node.parent"
                                       " WHERE parent.verdict = 'wrong' LIMIT 1").fetchone()
            file.execute("UPDATE node SET verdict = 'ok', speedup = 1.5 WHERE number = ?", (child,))
            file.execute("UPDATE run SET best = ?", (child,))
        for form in ("md", "html"):
            page = subprocess.run([keet, "report", "alone.db", "--as", form, "-o", "/dev/stdout"], cwd=folder, capture_output=True,
                                  text=True, check=True).stdout
            way = [line for line in page.splitlines() if f"node {fell}" in line and f"node {child}" not in line]
            assert any("wrong" in line for line in way) and not any("0.00x" in line for line in way), (form, way)


if __name__ == "__main__":
    main()
