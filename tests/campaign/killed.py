#!/usr/bin/env python3
"""A campaign of 20 kernels that is killed with -9, its whole process group, at six random moments
and resumed each time, ends complete, with the scores and the trees of an undisturbed one.

usage: killed.py KEET-OPT ROOT [--short]      --short: nine of the kernels, three kills"""
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

from folder import check, results, run, trees

SHORT = """# small, so that it is over soon
--device emu --budget 4 --cache cache
{root}/tests/kernels/scale.cu --seeds 1-3
{root}/tests/kernels/row_sum.cu --seeds 1,2
{root}/tests/kernels/faults/syntax.cu
{root}/kernels/box_blur.cu
# not a kernel file; a kernel whose original is wrong
text.cu
fault.cu
"""
LIST = SHORT + """\
{root}/kernels/sum.cu --seeds 1-3
{root}/kernels/saxpy.cu --seeds 1,2 --policy greedy
{root}/kernels/max_pool.cu --policy random
{root}/kernels/histogram.cu --seed 7
{root}/kernels/argmax.cu
{root}/kernels/transpose.cu
{root}/kernels/dot.cu --budget 8
{root}/kernels/matvec_t.cu
"""
TASKS, KILLS = (9, 3) if "--short" in sys.argv else (20, 6)


def write_list(folder, root):
    with open(os.path.join(folder, "list.txt"), "w", encoding="utf-8") as file:
        file.write((SHORT if "--short" in sys.argv else LIST).format(root=root))
    with open(os.path.join(folder, "text.cu"), "w", encoding="utf-8") as file:
        file.write("this is no kernel\n")
    with open(f"{root}/tests/kernels/scale.cu", encoding="utf-8") as file:
        text = file.read()
    with open(os.path.join(folder, "fault.cu"), "w", encoding="utf-8") as file:
        file.write(text.replace("i < n", "i <= n"))


def start(keet, cwd, out):
    return subprocess.Popen([keet, "campaign", "list.txt", "--out", out, "--rounds", "2",
                             "--resume", "-q", "--json"], cwd=cwd, start_new_session=True,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def killed_within(process, seconds):
    """True: it was killed; False: it had ended by itself, and well."""
    try:
        code = process.wait(timeout=seconds)
        check(code == 0, "the campaign ended with", code)
        return False
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True


def scores(keet, folder, cwd):
    keys = ("speedup", "from", "state", "stopped_by", "problem", "evaluated", "verdicts", "best")
    return {name: {key: task[key] for key in keys}
            for name, task in results(keet, folder, cwd).items()}


def disturbed(keet, cwd, out, moments):
    """Uses up moments; they may run out before the campaign does, and the other way round."""
    while moments:
        if not killed_within(start(keet, cwd, out), moments[0]):
            return
        moments.pop(0)
    check(not killed_within(start(keet, cwd, out), 800), "it does not end")


def main():
    keet, root = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as cwd:
        write_list(cwd, root)
        begun = time.monotonic()
        run(keet, "campaign", "list.txt", "--out", "whole", "--rounds", "2", "-q", cwd=cwd)
        wall_s = time.monotonic() - begun
        want = scores(keet, "whole", cwd)
        check(len(want) == TASKS, len(want), "tasks")
        failed = sorted(name for name, task in want.items() if task["state"] == "failed")
        check(failed == ["fault", "syntax", "text"], "failed:", failed)
        check(all(want[name]["problem"] for name in failed), "a failure without a reason")
        check(all(task["state"] == "done" and task["speedup"] >= 1 and
                  (task["evaluated"] >= 4 or task["stopped_by"] == "roofline")
                  for name, task in want.items() if name not in failed), want)
        want_trees = trees(os.path.join(cwd, "whole"))

        dice = random.Random(2026)
        moments = [dice.uniform(0, wall_s / KILLS) for _ in range(KILLS)]
        for number in range(KILLS):
            out = f"killed{number}"
            disturbed(keet, cwd, out, moments)
            got = scores(keet, out, cwd)
            for name in want:
                check(got.get(name) == want[name], name, "differs:", got.get(name), want[name])
            check(trees(os.path.join(cwd, out)) == want_trees, "a tree differs")
            if not moments:
                break
        check(not moments, "it ended before it could be killed")
        print(f"{TASKS} tasks, {KILLS} kills, {number + 1} campaigns, {wall_s:.1f} s undisturbed")


main()
