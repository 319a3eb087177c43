"""A power cut at each moment of a run: what was written since the last sync of a file is there, lost
or torn. The database must open whole, hold nodes of the run and nothing else, and go on with
--resume to the same tree.

    powerloss.py KEET-OPT FAULT-LIBRARY [--cuts N] [--resumes N] [--seed N]
"""
import argparse
import os
import random
import shutil
import sqlite3
import struct
import sys
import tempfile

from faults import Bench, tree

SECTOR = 512


def records(path):
    """What the library logged: (letter, name of the file, bytes, offset)."""
    with open(path, "rb") as file:
        log = file.read()
    at, found = 0, []
    while at < len(log):
        letter = log[at:at + 1].decode()
        path_bytes, nr, offset = struct.unpack_from("<QQQ", log, at + 1)
        at += 25
        name = os.path.basename(log[at:at + path_bytes].decode())
        at += path_bytes
        found.append((letter, name, log[at:at + nr], offset))
        at += nr
    return found


def apply(content, letter, written, offset):
    """One write or truncation."""
    if letter == "t":
        del content[offset:]
        content.extend(bytes(offset - len(content)))
        return
    content.extend(bytes(max(0, offset + len(written) - len(content))))
    content[offset:offset + len(written)] = written


def after_cut(log, moment, draw):
    """The files as a disk may have them: name to bytes."""
    files, pending = {}, {}
    for letter, name, written, offset in log[:moment]:
        if "-shm" in name:
            continue
        files.setdefault(name, bytearray())
        if letter == "s":
            for one in pending.pop(name, []):
                apply(files[name], *one)
        else:
            pending.setdefault(name, []).append((letter, written, offset))
    fate = draw.choice(("all", "none", "some", "torn"))
    for name, ones in pending.items():
        for letter, written, offset in ones:
            if fate == "none" or (fate in ("some", "torn") and draw.random() < 0.5):
                continue
            if fate == "torn" and letter == "w" and draw.random() < 0.5:
                written = written[:draw.randrange(0, len(written) + 1, 1) // SECTOR * SECTOR]
            apply(files[name], letter, written, offset)
    return files


def main():
    """Cuts the power at random moments."""
    parser = argparse.ArgumentParser()
    parser.add_argument("keet")
    parser.add_argument("library")
    parser.add_argument("--cuts", type=int, default=300)
    parser.add_argument("--resumes", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cold", action="store_false")
    options = parser.parse_args()
    draw, seen = random.Random(options.seed), set()
    options.cold = False
    with tempfile.TemporaryDirectory(prefix="keet-power-") as home:
        bench = Bench(options, home)
        bench.warm()
        folder = bench.folder()
        os.environ["KEET_FAULT_LOG"] = os.path.join(home, "log")
        bench.run(folder, ("none", 1, False))
        del os.environ["KEET_FAULT_LOG"]
        log = [one for one in records(os.path.join(home, "log")) if one[1].startswith("scale.keet.db")]
        syncs = [i + 1 for i, one in enumerate(log) if one[0] == "s"]
        moments = [m + d for m in syncs for d in (-1, 0, 1)]
        moments += [draw.randrange(len(log) + 1) for _ in range(max(0, options.cuts - len(moments)))]
        for nr, moment in enumerate(moments):
            shutil.rmtree(folder)
            folder = bench.folder()
            for name, content in after_cut(log, max(0, moment), draw).items():
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(content)
            database = os.path.join(folder, "scale.keet.db")
            where = f"cut {nr} after {moment} of {len(log)} writes"
            if os.path.exists(database) and os.path.getsize(database):
                with sqlite3.connect(database) as opened:
                    if opened.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                        sys.exit(f"{where}: the database is damaged")
            nodes = tree(folder)
            seen.add(len(nodes))
            if not nodes.items() <= bench.tree.items():
                sys.exit(f"{where}: nodes that the run did not make")
            if nr % max(1, len(moments) // options.resumes) == 0:
                again = bench.run(folder, resume=True)
                if again.returncode != 0 or tree(folder) != bench.tree:
                    sys.exit(f"{where}: --resume: {again.returncode} "
                             f"{again.stderr.decode(errors='replace')[-300:]}")
    if len(seen) < 3:
        sys.exit(f"the cuts left only {sorted(seen)} nodes: nothing was tried")
    print(f"{len(moments)} cuts at {len(syncs)} syncs and between; {len(log)} writes; "
          f"they left {min(seen)} to {max(seen)} nodes")


if __name__ == "__main__":
    main()
