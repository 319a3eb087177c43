"""usage: screen.py keet-opt libkeet-cuda.so

With --screen, which is the default, a candidate that writes past its arrays or races gets its verdict
from the emulator and never reaches the driver: the run needs no second worker process. With
--no-screen the same one does, and costs its process. What the emulator lacks is no reason to
reject: it goes on to the driver."""
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

from watch import ORIGINAL, Opens, save_reply

STRAY = ORIGINAL.replace("    int i", "    C[1u << 30] = 1;\n    int i", 1)
RACE = ORIGINAL.replace("    int i", "    C[0] = threadIdx.x;\n    int i", 1)
# Instructions that NVRTC takes. The emulator learns; one of them it will not know yet.
STRANGE = [
    "{.reg .b32 d; mapa.shared::cluster.u32 d, 0, 0;}",
    "{.reg .b64 a; mov.b64 a, 0; multimem.red.relaxed.sys.global.add.u32 [a], 1;}",
    "wgmma.fence.sync.aligned;",
    "{.reg .b64 a; mov.b64 a, 0; tensormap.replace.tile.rank.global.b1024.b32 [a], 1;}",
]
RIGHT = ORIGINAL.replace("A[i] * 2", "A[i] * 3 - A[i]")


def run(program, driver, texts, *options):
    """The verdicts of the candidates, how many worker processes there were, and the checks' notes."""
    folder = tempfile.TemporaryDirectory()
    os.chdir(folder.name)
    with open("twice.cu", "w") as file:
        file.write(ORIGINAL)
    for number, text in enumerate([*texts, RIGHT, RIGHT.replace("3", "5").replace("- A", "- 3 * A")], 1):
        save_reply("write", number, text)
        for repair in (1, 2):
            save_reply("repair", 2 * (number - 1) + repair, text.replace("* 2", f"* 2 + {repair}e-30f"))
    shutil.copy(driver, "driver.so")  # other tests open theirs meanwhile
    environment = dict(os.environ, KEET_CUDA_DRIVER=os.path.abspath("driver.so"), KEET_LOCK_DIR=folder.name,
        KEET_CUDA_THREADS="1", XDG_CACHE_HOME=folder.name)
    environment.pop("KEET_NVML", None)
    workers = Opens("driver.so")
    process = subprocess.run(
        [program, "twice.cu", "--device", "gpu", "--model", "script:script", "--model-only",
            "--no-plan", "--in-flight", "1", "--budget", str(3 * len(texts)), "--db", "run.db",
            "--no-memory", "-q", *options],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert process.returncode == 0, process.stderr
    db = sqlite3.connect("run.db")
    rows = db.execute("select verdict, verdict_text from model_call order by id").fetchall()
    notes = db.execute("select note from check_result order by node").fetchall()
    return rows, workers.count(), notes


def main():
    program, driver = sys.argv[1:3]

    rows, workers, notes = run(program, driver, [STRAY])
    assert rows[0][0] == "fault" and "before it reached the GPU" in rows[0][1], rows
    assert "CUDA_ERROR" not in rows[0][1] and workers == 1, (rows, workers)

    rows, workers, notes = run(program, driver, [RACE])
    assert rows[0][0] == "race" and "before it reached the GPU" in rows[0][1], rows
    assert workers == 1, workers

    rows, workers, notes = run(program, driver, [STRAY], "--no-screen")
    assert rows[0][0] == "fault" and "CUDA_ERROR_ILLEGAL_ADDRESS" in rows[0][1], rows
    assert workers > 1, workers

    for strange in STRANGE:
        text = ORIGINAL.replace("    int i", f'    asm volatile("{strange}");\n    int i', 1)
        rows, workers, notes = run(program, driver, [text])
        if rows[0][0] == "unsupported":
            break
    else:
        raise AssertionError("the emulator knows them all: name a stranger one")
    assert "CUDA_ERROR_NOT_SUPPORTED" in rows[0][1], rows
    assert "before it reached" not in rows[0][1], rows

    rows, workers, notes = run(program, driver, [RIGHT], "--budget", "1")
    assert rows[0][0] == "ok" and workers == 1, (rows, workers)
    assert "screened on the emulator" in notes[-1][0], notes


main()
