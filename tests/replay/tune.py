#!/usr/bin/env python3
"""`keet-opt tune`: all points of a small space, each once, the code untouched; a run that was broken off and
resumed comes to the same tree; a kernel without parameters is refused.

  tune.py KEET_OPT"""

import json
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

KERNEL = """#pragma keet size   N = 4096
#pragma keet check  N = 67
#pragma keet inout  X : f32[N]
#pragma keet tune   BLOCK = 64 in {32, 64, 128}
#pragma keet tune   STEPS = 2 in {1, 2, 4}
#pragma keet where  BLOCK * STEPS <= 256
#pragma keet launch twice<<<ceil_div(N, BLOCK * STEPS), BLOCK>>>(X, N)
__global__ void twice(float *x, int n)
{
    for (int k = 0; k < STEPS; k++) {
        int i = (blockIdx.x * STEPS + k) * BLOCK + threadIdx.x;
        if (i < n)
            x[i] *= 2;
    }
}
"""
SPACE = {(block, steps) for block in (32, 64, 128) for steps in (1, 2, 4) if block * steps <= 256}


def main():
    keet = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        def run(*words, status=0):
            done = subprocess.run([keet, *words], cwd=folder, capture_output=True, text=True, check=False)
            assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
            return done.stdout if status == 0 else done.stderr

        def tune(db, budget, *more):
            return json.loads(run("tune", "k.cu", "--device", "emu", "--budget", budget, "--db", db, "-o", "best.cu",
                                  "--json", *more))

        (folder / "k.cu").write_text(KERNEL)
        whole = tune("whole.db", "all")
        assert whole["stopped_by"] == "exhausted", whole["stopped_by"]
        with sqlite3.connect(folder / "whole.db") as db:
            rows = db.execute("SELECT action, parent, verdict, source.text FROM node JOIN source ON source.hash = node.source "
                              "ORDER BY number").fetchall()
        points = [tuple(int(n) for n in re.findall(r"tune +\w+ = (\d+)", text)) for *_, text in rows]
        assert len(points) == len(SPACE) and set(points) == SPACE, points
        assert all(row[:3] == ("tune", 0, "ok") for row in rows[1:]), rows
        assert {re.sub(r"(tune +\w+ =) \d+", r"\1", text) for *_, text in rows} == {re.sub(r"(tune +\w+ =) \d+", r"\1", KERNEL)}
        best = re.sub(r"(tune +\w+ =) \d+", r"\1", (folder / "best.cu").read_text())
        assert re.sub(r"(tune +\w+ =) \d+", r"\1", KERNEL) in best, best

        tune("parts.db", "3")
        parts = tune("parts.db", "all", "--resume")
        assert parts["tree"] == whole["tree"], (parts["tree"], whole["tree"])

        run("export", "whole.db", "--as", "t4", "-o", "t4.json")
        results = json.loads((folder / "t4.json").read_text())["results"]
        assert len(results) == len(SPACE), results

        (folder / "plain.cu").write_text(re.sub("#pragma keet (tune|where).*\n", "", KERNEL).replace("BLOCK", "64").replace(
            "STEPS", "2"))
        assert "has no `tune` lines" in run("tune", "plain.cu", "--device", "emu", status=1)


if __name__ == "__main__":
    main()
