"""usage: crashes.py keet-opt libkeet-cuda.so WRITES

So many candidates in a row that crash, hang or take all memory, and two repairs of each that do the
same, through one run of keet-opt and past its screen: each is in the database with what it did, no
more than one worker process is alive at a time, none is left behind, and those that come after,
which are right, run as if nothing had been."""
import os
import sqlite3
import subprocess
import sys
import tempfile
import time

from watch import ORIGINAL, Watch, alive, save_reply

# A bad one is asked to be repaired twice, and is not. The right ones before give the search moves.
NR_RIGHT, NR_BAD_WRITES, REPAIRS = 6, int(sys.argv[3]), 2
NR_BAD = NR_BAD_WRITES * (1 + REPAIRS)

# What a bad candidate does before it computes the right thing, the verdict it must get, and a word
# of the reason.
BAD = [
    ('asm volatile("trap;"); A += %d;', "fault", "CUDA_ERROR_LAUNCH_FAILED"),
    ("C[1u << 30] = %d;", "fault", "CUDA_ERROR_ILLEGAL_ADDRESS"),
    ("*(volatile int *)%d = 1;", "fault", "CUDA_ERROR_"),
    ("*(volatile float *)((char *)C + 2) = %d;", "fault", "CUDA_ERROR_MISALIGNED_ADDRESS"),
    ('asm volatile("trap;"); C[0] = %d;', "fault", "CUDA_ERROR_LAUNCH_FAILED"),
    ("C[(1u << 29) + %d] = 1;", "fault", "CUDA_ERROR_ILLEGAL_ADDRESS"),
    ("asm volatile(\"st.shared.f32 [%0], %1;\" :: \"r\"(1 << 20), \"f\"(%d.0f));", "fault", "CUDA_ERROR_"),
    ("while (((volatile float *)A)[0] != %d.5f * 1e30f) {}", "timeout", "did not end within"),
    # and one that asks for more scratch than its process may have
    ("C[0] = S[%d];", "launch_failed", "the scratch array S"),
]


def candidate(number):
    what = BAD[number % len(BAD)][0]
    what = what.replace("%d", str(4 * number + 1))
    text = ORIGINAL.replace("    int i", "    " + what + "\n    int i", 1)
    if "S[" in what:
        text = text.replace("#pragma keet launch", "#pragma keet temp  S : f32[200000000]\n#pragma keet launch")
        text = text.replace("(A, C, N)", "(A, C, S, N)").replace("float *C, int", "float *C, float *S, int")
    return text


def main():
    program, driver = sys.argv[1:3]
    folder = tempfile.TemporaryDirectory()
    os.chdir(folder.name)
    with open("twice.cu", "w") as file:
        file.write(ORIGINAL)
    for n in range(1, NR_BAD + 1):
        save_reply("repair", n, candidate(NR_BAD_WRITES + n))
    for n in range(1, 2 * NR_RIGHT + NR_BAD + 1):  # the search decides what is repaired, and what is written instead
        bad = NR_RIGHT < n <= NR_RIGHT + NR_BAD_WRITES
        right = ORIGINAL.replace("A[i] * 2", f"A[i] * {n + 2}.0f - A[i] * {n}.0f")
        save_reply("write", n, candidate(n) if bad else right)
    environment = dict(os.environ, KEET_CUDA_DRIVER=driver, KEET_LOCK_DIR=folder.name,
        KEET_CUDA_THREADS="1", KEET_CUDA_STEPS="100000", XDG_CACHE_HOME=folder.name)
    environment.pop("KEET_NVML", None)
    start = time.monotonic()
    run = subprocess.Popen(
        [program, "twice.cu", "--device", "gpu", "--no-screen", "--deadline", "2",
            "--worker-memory", "500", "--model", "script:script", "--model-only", "--no-plan",
            "--in-flight", "1", "--window", "1000", "--budget", str(2 * NR_RIGHT + NR_BAD),
            "--db", "run.db", "--no-memory", "--json"],
        env=environment, stdout=open("run.json", "w"), stderr=subprocess.PIPE, text=True)
    watch = Watch(run.pid)
    watch.start()
    errors = run.communicate()[1]
    watch.ended.set()
    watch.join()
    assert run.returncode == 0, errors
    db = sqlite3.connect("run.db")
    rows = db.execute("select verdict, verdict_text from model_call order by id").fetchall()
    print(f"{len(rows)} candidates, {len(watch.pids)} workers, {watch.most} at most at once;",
        f"the dead waited {watch.longest_dead:.3f} s at most; {time.monotonic() - start:.1f} s")

    # Nothing is lost: each candidate is there, and those that are bad with what they did, each kind of them.
    assert [verdict for verdict, _ in rows[:NR_RIGHT]] == ["ok"] * NR_RIGHT, rows[:NR_RIGHT]
    assert len(rows) >= 2 * NR_RIGHT + NR_BAD, len(rows)  # equal refusals cost nothing
    bad = [row for row in rows if row[0] != "ok"]
    assert len(bad) >= 2 * NR_BAD_WRITES, len(bad)
    for row in bad:
        assert any(row[0] == verdict and word in row[1] for _, verdict, word in BAD), row
    for _, verdict, word in BAD:
        assert any(row[0] == verdict and word in row[1] for row in bad), (verdict, word)
    nodes = [v for v, in db.execute("select verdict from node")]
    assert len([v for v in nodes if v != "ok"]) == NR_BAD_WRITES, nodes
    assert db.execute("select why_stopped from run").fetchone()[0] == "budget"
    assert db.execute("pragma integrity_check").fetchone()[0] == "ok"

    # One process at a time, each fetched at once when it had died, and none left.
    assert watch.most == 1, watch.most
    assert len(watch.pids) >= len(bad) / 2, len(watch.pids)  # some live too briefly to be seen
    assert watch.longest_dead < 5, watch.longest_dead  # on a busy machine
    assert not [pid for pid in watch.pids if alive(pid)]


main()
