#!/usr/bin/env python3
"""docs/reference/database.md names the tables and columns of a run's database, all and no others.

usage: database.py ROOT PROGRAM"""
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import markdown


def of_page(text):
    """Tables are the headings of level 2, columns what stands in backquotes in a row's first cell."""
    tables, now = {}, None
    for _, info, lines in markdown.blocks(text):
        for line in lines if info is None else []:
            if line.startswith("## "):
                now = tables.setdefault(line[3:].strip(), set())
            elif now is not None and line.startswith("| `"):
                now |= set(re.findall(r"`([^`]*)`", line.split("|")[1]))
    return tables


def of_program(root, program):
    with tempfile.TemporaryDirectory(prefix="keet-docs-") as folder:
        db = f"{folder}/run.db"
        subprocess.run([program, str(root / "kernels/dot.cu"), "--device", "emu", "--budget", "1",
                        "-q", "--db", db, "-o", f"{folder}/best.cu"], check=True, timeout=200,
                       stdout=subprocess.DEVNULL)
        with sqlite3.connect(db) as connection:
            names = [n for (n,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            return version, {n: {row[1] for row in connection.execute(f"PRAGMA table_info({n})")}
                             for n in names}


def main(root, program):
    text = (root / "docs/reference/database.md").read_text(encoding="utf-8")
    page, (version, made) = of_page(text), of_program(root, program)
    problems = [] if f"`PRAGMA user_version` {version}:" in text or \
        f"`PRAGMA user_version` {version}." in text else [f"user_version is {version}"]
    for table in sorted(page.keys() | made.keys()):
        theirs, ours = made.get(table, set()), page.get(table, set())
        problems += [f"{table}.{c}: not in the page" for c in sorted(theirs - ours)]
        problems += [f"{table}.{c}: in the page only" for c in sorted(ours - theirs)]
    print("\n".join(problems + [f"{len(made)} tables, {len(problems)} differences"]))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2]))
