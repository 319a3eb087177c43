#!/usr/bin/env python3
"""Campaigns at their edges: lists that say something wrong, processes that die or take too long,
limits, stopping, two at once; and the verbs that look at what came out."""
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

from folder import check, results, run

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../report"))
import page  # noqa: E402

BAD_LISTS = [
    ("scale.cu --budget many", ":1:", "--budget many"),
    ("# one\n\nmissing.cu", ":3:", "missing.cu"),
    ("scale.cu\nscale.cu --seed 2", ":2:", "--name"),
    ("scale.cu --name a/b", ":1:", "--name a/b"),
    ("scale.cu --seeds 3-1", ":1:", "--seeds 3-1"),
    ("scale.cu --seeds -1", ":1:", "--seeds -1"),
    ("scale.cu --db x", ":1:", "--db is not an option of a task"),
    ("scale.cu --policy best", ":1:", "--policy best"),
    ("scale.cu 'open", ":1:", "quote"),
    ("scale.cu other.cu", ":1:", "other.cu"),
    ("scale.cu --device gpu:1", ":1:", "--gpus"),
    ("# nothing\n", "list.txt", "no kernel"),
    ("scale.cu --level", ":1:", "--level needs a value"),
]


def lists(keet, cwd):
    for text, where, what in BAD_LISTS:
        with open(os.path.join(cwd, "list.txt"), "w", encoding="utf-8") as file:
            file.write(text)
        said = run(keet, "campaign", "list.txt", "--out", "bad", cwd=cwd, code=1).stderr
        check(where in said and what in said, repr(text), "gives", said)
        check(not os.path.exists(os.path.join(cwd, "bad")), "a folder of a list that is wrong")


def directory(keet, cwd, root):
    """Of a directory, with one file that is no kernel; then everything that looks at it."""
    os.mkdir(os.path.join(cwd, "many"))
    for name in ("scale", "row_sum"):
        shutil.copy(f"{root}/tests/kernels/{name}.cu", os.path.join(cwd, "many"))
    with open(os.path.join(cwd, "many", "broken.cu"), "w", encoding="utf-8") as file:
        file.write("nothing\n")
    words = ["--device", "emu", "--budget", "3", "--rounds", "1"]
    done = run(keet, "campaign", "many", *words, "--json", cwd=cwd)
    tasks = json.loads(done.stdout)["tasks"]
    check([task["task"] for task in tasks] == ["broken", "row_sum", "scale"], done.stdout)
    check(tasks[0]["state"] == "failed" and tasks[0]["speedup"] is None, tasks[0])
    check("pragma keet" in tasks[0]["problem"], tasks[0])
    check(tasks[2]["evaluated"] == 3 and tasks[2]["from"] == "modelled", tasks[2])
    check(done.stderr.count("\n") == 3 and "round 1" in done.stderr, done.stderr)
    said = run(keet, "campaign", "many", *words, cwd=cwd, code=1).stderr
    check("--resume" in said, said)
    said = run(keet, "campaign", "many", *words, "--budget", "9", "--resume", cwd=cwd, code=1).stderr
    check("another task" in said, said)
    run(keet, "campaign", "many.campaign", "--resume", "-q", cwd=cwd)
    with open(os.path.join(cwd, "results.json"), "w", encoding="utf-8") as file:
        file.write(run(keet, "results", "many.campaign", "--json", cwd=cwd).stdout)
    scored = json.loads(subprocess.run([sys.executable, f"{root}/bench/score/score.py",
                                        "results.json", "--json"], cwd=cwd, check=True,
                                       stdout=subprocess.PIPE).stdout)
    check(scored["modelled"]["all"]["tasks"] == 3 and scored["modelled"]["all"]["right"] == 2,
          scored)


def looks(keet, cwd):
    db = "many.campaign/scale.keet.db"
    status = json.loads(run(keet, "status", "many.campaign", "--json", cwd=cwd).stdout)
    check(status["running"] is False and status["results"]["ended"] == "complete", status)
    status = json.loads(run(keet, "status", db, "--json", cwd=cwd).stdout)
    check(status["evaluated"] == 3 and status["stopped_by"] == "budget", status)
    best = json.loads(run(keet, "results", db, "--top", "1", "--json", cwd=cwd).stdout)
    check(len(best) == 1 and best[0]["node"] == status["best"], best)
    shown = json.loads(run(keet, "show", db, "best", "--json", cwd=cwd).stdout)
    check(shown["node"] == status["best"] and "__global__" in shown["source"], shown)
    check("modelled speedup" in run(keet, "show", db, "best", cwd=cwd).stdout, "show")
    diff = run(keet, "diff", db, "original", "best", cwd=cwd).stdout
    check(diff.startswith("--- node 0\n+++ node ") and "\n+" in diff, diff)
    check(json.loads(run(keet, "diff", db, "0", "0", "--json", cwd=cwd).stdout)["diff"] == "",
          "a node differs from itself")
    check("<- best" in run(keet, "watch", db, "--once", cwd=cwd).stdout, "watch of a run")
    check("scale" in run(keet, "watch", "many.campaign", "--once", cwd=cwd).stdout, "watch")
    top = run(keet, "results", "many.campaign", "--top", "1", "--json", cwd=cwd).stdout
    check(len(json.loads(top)["tasks"]) == 1, top)
    for words, what in ((("show", db, "99"), "no node 99"), (("show", db, "x"), "best or original"),
                        (("status", "nowhere"), "no such file"),
                        (("stop", "many.campaign"), "nothing is at work"),
                        (("diff", "many.campaign", "0", "1"), "is a campaign")):
        check(what in run(keet, *words, cwd=cwd, code=1).stderr, words)
    said = run(keet, "diff", db, "0", cwd=cwd, code=2).stderr
    check("try: keet-opt diff" in said, said)


def reports(keet, cwd):
    """The page of a campaign: well formed, nothing from outside, every task a section."""
    db = os.path.join(cwd, "many.campaign", "scale.keet.db")
    evil = "</section><script>alert(1)</script><img src=x onerror=alert(1)>"
    with sqlite3.connect(db) as sql:
        sql.execute("UPDATE node SET what = ?, verdict_text = ?", (evil, evil))
        sql.execute("UPDATE source SET text = text || ?", ("// " + evil + "\n",))
    sql.close()
    text = run(keet, "report", "many.campaign", "-o", "-", cwd=cwd).stdout
    check(text == run(keet, "report", "many.campaign", "-o", "-", cwd=cwd).stdout, "not the same")
    shown = page.Page(text)
    check(not shown.faults and not shown.open, shown.faults, shown.open)
    check("script" not in shown.tags and "img" not in shown.tags, "planted markup is markup")
    check("default-src 'none'" in shown.policy, shown.policy)
    check(all(link.startswith("#") and link[1:] in shown.ids for link in shown.links), "links")
    for wanted in ("t1-task", "t3-chart-speedup", "chart-speedups", "chart-cost",
                   "chart-all-verdicts", "t2-n1"):
        check(wanted in shown.ids, wanted, "is missing")
    words = " ".join(shown.words)
    check("2 of 3 tasks have a right result" in words and "modelled speedup" in words, words[:400])
    check("pragma keet" in words, "why the broken one failed is missing")
    said = run(keet, "report", "many.campaign", "--as", "md", cwd=cwd).stdout
    check("| scale | done |" in said and "| broken | failed |" in said, said)
    tasks = json.loads(run(keet, "report", "many.campaign", "--as", "json", cwd=cwd).stdout)["tasks"]
    check(len(tasks) == 3, tasks)


def deaths(keet, cwd):
    """A process that is killed thrice, and one that never ends by itself: rows, and no more."""
    with open(os.path.join(cwd, "list.txt"), "w", encoding="utf-8") as file:
        file.write("--device emu --budget 3\n"
                   "scale.cu --name dies --model-only --model \"cmd:sh killer\"\n"
                   "scale.cu --name late --model-only --model 'cmd:sleep 60'\n"
                   "scale.cu --name well\n")
    with open(os.path.join(cwd, "killer"), "w", encoding="utf-8") as file:
        file.write("p=$PPID\nwhile [ $(cat /proc/$p/comm) != keet-opt ]; do\n"
                   "p=$(cut -d' ' -f4 /proc/$p/stat); done\nkill -9 $p\n")
    run(keet, "campaign", "list.txt", "--out", "deaths", "--rounds", "1", "--task-time", "20s",
        "--jobs", "3", "--trust", "-q", cwd=cwd)
    tasks = results(keet, "deaths", cwd)
    check(tasks["dies"]["state"] == "failed" and "signal 9" in tasks["dies"]["problem"],
          tasks["dies"])
    check(tasks["late"]["state"] == "failed" and "--task-time" in tasks["late"]["problem"],
          tasks["late"])
    check(tasks["well"]["state"] == "done" and tasks["well"]["evaluated"] == 3, tasks["well"])


def stopped(keet, cwd):
    """stop ends a campaign neatly, another at the same time is refused, --resume goes on."""
    words = ["campaign", "one.txt", "--out", "stopped", "-q", "--resume"]
    with open(os.path.join(cwd, "one.txt"), "w", encoding="utf-8") as file:
        file.write("scale.cu --device emu --cache cache --budget 4000 --window 100000\n")
    first = subprocess.Popen([keet, *words], cwd=cwd, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    for _ in range(600):
        status = run(keet, "status", "stopped", "--json", cwd=cwd, code=None).stdout
        if status and json.loads(status)["running"] and \
                json.loads(status)["results"]["tasks"][0]["evaluated"] > 0:
            break
        time.sleep(0.05)
    said = run(keet, *words, cwd=cwd, code=1).stderr
    check("another keet-opt" in said, said)
    check(json.loads(run(keet, "stop", "stopped", "--json", cwd=cwd).stdout)["ended"], "stop")
    check(first.wait(timeout=600) == 1, "an interrupted campaign says so by its status")
    state = json.loads(run(keet, "results", "stopped", "--json", cwd=cwd).stdout)
    check(state["ended"] == "interrupted" and state["tasks"][0]["state"] != "failed", state)
    run(keet, *words, "--time", "0.1s", cwd=cwd, code=1)
    state = json.loads(run(keet, "results", "stopped", "--json", cwd=cwd).stdout)
    check(state["ended"] == "time", state["ended"])
    check(not os.path.exists(os.path.join(cwd, "stopped", "campaign.lock")), "a lock is left")


def main():
    keet, root = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as cwd:
        shutil.copy(f"{root}/tests/kernels/scale.cu", cwd)
        lists(keet, cwd)
        directory(keet, cwd, root)
        looks(keet, cwd)
        reports(keet, cwd)
        deaths(keet, cwd)
        stopped(keet, cwd)


main()
