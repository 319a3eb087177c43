"""What the tests of campaigns share: starting the program, and reading a folder."""
import glob
import json
import os
import sqlite3
import subprocess
import sys


def check(true, *what):
    if not true:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {' '.join(map(str, what))}")


def run(keet, *words, cwd, code=0, **more):
    """The program to its end; what it wrote, checked for its status."""
    done = subprocess.run([keet, *words], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=600, **more)
    check(code is None or done.returncode == code, words, "ended with", done.returncode,
          done.stderr[-2000:], done.stdout[-500:])
    return done


def results(keet, folder, cwd):
    return {task["task"]: task for task in
            json.loads(run(keet, "results", folder, "--json", cwd=cwd).stdout)["tasks"]}


def tree(database):
    """All nodes as the search knows them; the database is sound."""
    db = sqlite3.connect(database)
    check(db.execute("PRAGMA integrity_check").fetchone()[0] == "ok", database, "is damaged")
    rows = db.execute("SELECT number, parent, action, proposer, variant, verdict, speedup, source"
                      " FROM node ORDER BY number").fetchall()
    db.close()
    return rows


def trees(folder):
    return {os.path.basename(path): tree(path)
            for path in sorted(glob.glob(os.path.join(folder, "*.keet.db")))}
