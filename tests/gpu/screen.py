"""usage: screen.py keet-opt libkeet-cuda.so

With --screen, which is the default, a candidate that writes past its arrays or races gets its verdict
from the emulator and never reaches the driver: the run needs no second worker process. With
--no-screen the same one does, and costs its process. What the emulator lacks is no reason to
reject: it goes on to the driver."""
import os
import sqlite3
import subprocess
import sys
import tempfile

from watch import ORIGINAL, Watch, save_reply

STRAY = ORIGINAL.replace("    int i", "    C[1u << 30] = 1;\n    int i", 1)
RACE = ORIGINAL.replace("    int i", "    C[0] = threadIdx.x;\n    int i", 1)
UNKNOWN = ORIGINAL.replace("    int i", '''    asm volatile("{.reg .f32 r<4>; .reg .b64 t; mov.b64 t, 0;"
        "tex.1d.v4.f32.s32 {r0, r1, r2, r3}, [t, {0}];}");\n    int i''', 1)
RIGHT = ORIGINAL.replace("A[i] * 2", "A[i] * 3 - A[i]")


def run(program, driver, texts, *options):
    """The verdicts of the candidates, and the worker processes that there were."""
    folder = tempfile.TemporaryDirectory()
    os.chdir(folder.name)
    with open("twice.cu", "w") as file:
        file.write(ORIGINAL)
    for number, text in enumerate([*texts, RIGHT, RIGHT.replace("3", "5").replace("- A", "- 3 * A")], 1):
        save_reply("write", number, text)
        for repair in (1, 2):
            save_reply("repair", 2 * (number - 1) + repair, text.replace("* 2", f"* 2 + {repair}e-30f"))
    environment = dict(os.environ, KEET_CUDA_DRIVER=driver, KEET_LOCK_DIR=folder.name,
        KEET_CUDA_THREADS="1", XDG_CACHE_HOME=folder.name)
    environment.pop("KEET_NVML", None)
    process = subprocess.Popen(
        [program, "twice.cu", "--device", "gpu", "--model", "script:script", "--model-only",
            "--no-plan", "--in-flight", "1", "--budget", str(3 * len(texts)), "--db", "run.db",
            "--no-memory", "-q", *options],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    watch = Watch(process.pid)
    watch.start()
    _, errors = process.communicate()
    watch.ended.set()
    watch.join()
    assert process.returncode == 0, errors
    db = sqlite3.connect("run.db")
    rows = db.execute("select verdict, verdict_text from model_call order by id").fetchall()
    notes = db.execute("select note from check_result order by node").fetchall()
    return rows, watch.pids, notes


def main():
    program, driver = sys.argv[1:3]

    rows, workers, notes = run(program, driver, [STRAY])
    assert rows[0][0] == "fault" and "before it reached the GPU" in rows[0][1], rows
    assert "CUDA_ERROR" not in rows[0][1] and len(workers) == 1, (rows, workers)

    rows, workers, notes = run(program, driver, [RACE])
    assert rows[0][0] == "race" and "before it reached the GPU" in rows[0][1], rows
    assert len(workers) == 1, workers

    rows, workers, notes = run(program, driver, [STRAY], "--no-screen")
    assert rows[0][0] == "fault" and "CUDA_ERROR_ILLEGAL_ADDRESS" in rows[0][1], rows
    assert len(workers) > 1, workers

    rows, workers, notes = run(program, driver, [UNKNOWN])
    assert rows[0][0] == "unsupported" and "CUDA_ERROR_NOT_SUPPORTED" in rows[0][1], rows
    assert "before it reached" not in rows[0][1], rows

    rows, workers, notes = run(program, driver, [RIGHT], "--budget", "1")
    assert rows[0][0] == "ok" and len(workers) == 1, (rows, workers)
    assert "screened on the emulator" in notes[-1][0], notes


main()
