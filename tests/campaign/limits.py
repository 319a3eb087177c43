#!/usr/bin/env python3
"""Limits of a whole campaign: tokens, cost and time end it neatly, each run's finds stay, with the same
limit it does not go on, and with a higher one it goes on from there to its end. And --retry."""
import glob
import json
import os
import shutil
import sqlite3
import sys
import tempfile

from folder import check, results, run, trees

BUDGET, TASKS = 6, 3
PRICE = 2.0  # dollars per million tokens, in and out
LIST = f"""--device emu --cache cache --window 1000 --budget {BUDGET}
scale.cu --seeds 1,2 --model script:replies --model-only --no-plan --in-flight 1
scale.cu --name free --budget 3
"""


def prepare(cwd, root):
    """The kernel, a model's replies for it (each another program), and what its tokens cost."""
    with open(f"{root}/tests/kernels/scale.cu", encoding="utf-8") as file:
        kernel = file.read().replace("N = 1048576", "N = 4096")
    for folder in ("replies", "slow"):
        os.mkdir(os.path.join(cwd, folder))
        for number in range(1, 40):
            text = kernel.replace("i < n)", f"i < n && n > -{number})")
            with open(os.path.join(cwd, folder, f"write-{number}.md"), "w") as file:
                file.write(f"```cuda\n{text}```\n")
    for name, text in (("slow/delay", "400\n"), ("scale.cu", kernel), ("list.txt", LIST)):
        with open(os.path.join(cwd, name), "w", encoding="utf-8") as file:
            file.write(text)
    shutil.copytree(f"{root}/prompts", os.path.join(cwd, "share/prompts"))
    with open(os.path.join(cwd, "share/prompts/prices.txt"), "w", encoding="utf-8") as file:
        file.write(f"script* {PRICE} {PRICE} {PRICE} 2026-01-31 the test\n")
    os.environ["KEET_SHARE"] = os.path.join(cwd, "share")


def calls(folder):
    """The tokens of every request, of all tasks."""
    tokens = []
    for path in sorted(glob.glob(os.path.join(folder, "*.keet.db"))):
        db = sqlite3.connect(path)
        tokens += [row[0] for row in db.execute("SELECT tokens_in + tokens_out FROM model_call")]
        db.close()
    return tokens


def state(keet, cwd, out):
    return json.loads(run(keet, "results", out, "--json", cwd=cwd).stdout)


def goes_on(before, after):
    """Every node that was there is there, as it was."""
    return all(after[name][:len(tree)] == tree for name, tree in before.items())


def models_limit(keet, cwd, out, rounds, option, whole):
    """--tokens or --cost (what a token counts in it: unit) at half of what the whole takes."""
    unit = PRICE * 1e-6 if option == "--cost" else 1
    words = ["campaign", "list.txt", "--out", out, "--rounds", rounds, "-q", "--resume", option]
    half = sum(whole) // 2 * unit
    folder = os.path.join(cwd, out)
    run(keet, *words, f"{half:g}", cwd=cwd, code=1)
    first, spent, found = state(keet, cwd, out), calls(folder), trees(folder)
    check(first["ended"] == option[2:], out, "ended by", first["ended"])
    check(all(task["state"] != "failed" for task in first["tasks"]), first)
    # A run looks at what it spent before each request, so it is over by less than one of them, and
    # the shares of the two tasks add up to the limit.
    check(half <= sum(spent) * unit < half + 2 * max(spent) * unit, out, half, spent)
    check(2 < len(spent) < len(whole), len(spent), "of", len(whole), "requests")

    run(keet, *words, f"{half:g}", cwd=cwd, code=1)
    check(state(keet, cwd, out)["ended"] == option[2:] and calls(folder) == spent
          and trees(folder) == found, out, "went on with the same limit")
    run(keet, *words, f"{10 * sum(whole) * unit:g}", cwd=cwd)
    last = state(keet, cwd, out)
    check(last["ended"] == "complete", last["ended"])
    check(len(last["tasks"]) == TASKS, last["tasks"])
    check(all(task["state"] == "done" and task["evaluated"] >= 3 for task in last["tasks"]), last)
    check([task["evaluated"] for task in last["tasks"]][:2] == [BUDGET, BUDGET], last)
    check(goes_on(found, trees(folder)), out, "lost something that was found")
    check(len(calls(folder)) > len(spent), out, "no request more")


def time_is_over_early(keet, cwd, root):
    """Time is over while the original is looked at: the task waits, and has not failed."""
    with open(os.path.join(cwd, "early.txt"), "w", encoding="utf-8") as file:
        file.write(f"{root}/kernels/matmul_bf16.cu --device emu --budget 3\n")
    run(keet, "campaign", "early.txt", "--out", "early", "-q", "--time", "1s", cwd=cwd, code=1)
    first = state(keet, cwd, "early")
    check(first["ended"] == "time" and first["tasks"][0]["evaluated"] == 0, first)
    check(first["tasks"][0]["state"] == "waiting", first)


def time_limit(keet, cwd):
    """A model that takes its time, and half of the time that all of its answers need."""
    words = ["campaign", "slow.txt", "--out", "time", "--rounds", "2", "-q", "--resume", "--jobs", "2"]
    folder = os.path.join(cwd, "time")
    with open(os.path.join(cwd, "slow.txt"), "w", encoding="utf-8") as file:
        file.write(LIST.replace("script:replies", "script:slow").replace("budget 6", "budget 24"))
    for limit in ("6s", "12s", "24s", "48s"):  # on a busy machine nothing is found in the first
        run(keet, *words, "--time", limit, cwd=cwd, code=1)
        first, found = state(keet, cwd, "time"), trees(folder)
        check(first["ended"] == "time", first["ended"])
        check(all(task["state"] != "failed" for task in first["tasks"]), first)
        if any(0 < task["evaluated"] < 24 for task in first["tasks"]):
            break
    else:
        check(False, "nothing was found in time:", first)
    run(keet, *words, "--time", limit, cwd=cwd, code=1)  # over all resumes
    check(state(keet, cwd, "time")["ended"] == "time" and trees(folder) == found, "it went on")
    run(keet, *words, "--time", "10m", cwd=cwd)
    last = state(keet, cwd, "time")
    check(last["ended"] == "complete", last["ended"])
    check([task["evaluated"] for task in last["tasks"]] == [24, 24, 3], last)
    check(goes_on(found, trees(folder)), "something that was found is lost")


def retry(keet, cwd):
    """What failed stays so until --retry; then it goes on from what it had found."""
    words = ["campaign", "retry.txt", "--out", "retry", "--rounds", "1", "-q", "--resume", "--trust"]
    with open(os.path.join(cwd, "retry.txt"), "w", encoding="utf-8") as file:
        file.write("--device emu --cache cache --budget 3 --window 1000\nlate.cu\nscale.cu --name well\n"
                   "scale.cu --name dies --model 'cmd:sh model' --model-only --no-plan --in-flight 1\n")
    with open(os.path.join(cwd, "model"), "w", encoding="utf-8") as file:
        file.write("cat >prompt.$$\nnumber=$(ls prompt.* | wc -l)\n"
                   "[ $number -gt 1 ] && [ ! -e mended ] || exec cat replies/write-$number.md\n"
                   "p=$PPID\nwhile [ $(cat /proc/$p/comm) != keet-opt ]; do\n"
                   "p=$(cut -d' ' -f4 /proc/$p/stat); done\nkill -9 $p\n")
    with open(os.path.join(cwd, "late.cu"), "w", encoding="utf-8") as file:
        file.write("not yet\n")
    run(keet, *words, cwd=cwd)
    first, found = results(keet, "retry", cwd), trees(os.path.join(cwd, "retry"))
    check([first[name]["state"] for name in ("late", "well", "dies")] == ["failed", "done", "failed"],
          first)
    check(len(found["dies.keet.db"]) == 2, "nodes:", found["dies.keet.db"])

    shutil.copy(os.path.join(cwd, "scale.cu"), os.path.join(cwd, "late.cu"))
    open(os.path.join(cwd, "mended"), "w").close()
    run(keet, *words, cwd=cwd)
    check(results(keet, "retry", cwd) == first, "it went on without --retry")
    run(keet, *words, "--retry", cwd=cwd)
    last = results(keet, "retry", cwd)
    check(all(task["state"] == "done" and task["evaluated"] == 3 for task in last.values()), last)
    check(goes_on(found, trees(os.path.join(cwd, "retry"))), "something that was found is lost")
    check(last["well"] == first["well"], "what had not failed was done again")


def main():
    keet, root = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as cwd:
        prepare(cwd, root)
        run(keet, "campaign", "list.txt", "--out", "whole", "--rounds", "1", "-q", cwd=cwd)
        whole = calls(os.path.join(cwd, "whole"))
        for rounds in ("1", "2"):
            models_limit(keet, cwd, f"tokens{rounds}", rounds, "--tokens", whole)
            models_limit(keet, cwd, f"cost{rounds}", rounds, "--cost", whole)
        time_is_over_early(keet, cwd, root)
        time_limit(keet, cwd)
        retry(keet, cwd)


main()
