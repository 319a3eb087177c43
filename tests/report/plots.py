#!/usr/bin/env python3
"""Curves in text: on a terminal, by its width, its characters and its colours; in a pipe only when asked for.

usage: plots.py KEET_OPT KERNEL.cu"""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios

import runs

HERE = {"TERM": "xterm", "LANG": "C.UTF-8"}
ROOF, NO_CURVE = "flop/byte of DRAM", "Best so far: "


def environment(extra):
    kept = {k: v for k, v in os.environ.items() if k not in ("LC_ALL", "LC_CTYPE", "LANG", "NO_COLOR", "TERM")}
    return kept | HERE | extra


def on_terminal(words, columns, **extra):
    """What the program prints to a terminal of that many columns."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(words, stdout=slave, stderr=subprocess.DEVNULL, stdin=slave, env=environment(extra)) as process:
        os.close(slave)
        seen = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:     # the last writer is gone
                break
            if not part:
                break
            seen += part
        assert process.wait() == 0, seen
    os.close(master)
    return seen.decode().replace("\r\n", "\n")


def in_pipe(words, **extra):
    return subprocess.run(words, capture_output=True, text=True, check=True, env=environment(extra)).stdout


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def curve(text, title):
    """The lines of the drawing below this title."""
    return plain(text).split(title, 1)[1].split("\n\n")[0].split("\n")


def main():
    keet, kernel = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        db = runs.run(keet, kernel, folder)
        runs.many(db, 40)
        results, explain = [keet, "results", db], [keet, "explain", kernel, "--device", "emu"]
        without = in_pipe(results)
        assert NO_CURVE not in without and "\x1b" not in without, without

        for columns in (44, 80, 200):
            seen = on_terminal(results, columns)
            lines = curve(seen, NO_CURVE)[1:]
            assert max(len(line) for line in lines) <= min(columns, 100), (columns, seen)
            assert max(len(line) for line in lines) >= min(columns, 100) - 4, (columns, seen)
            assert "\x1b[36m" in seen and "\u2500" in seen and "\u25cf" in seen, seen
            assert plain(seen).startswith(without), "the text before the curves is another one"
            drawn = [line.split("\u2502", 1)[1] for line in lines[:12]]
            step = [min(row for row in range(12) if column < len(drawn[row]) and drawn[row][column] in "\u2500\u25cf\u2502")
                    for column in range(min(columns, 100) - 12)]
            assert step == sorted(step, reverse=True), f"the best so far falls: {step}"
        assert NO_CURVE not in on_terminal(results, 30), "a terminal that is too narrow"
        assert NO_CURVE not in on_terminal(results, 80, TERM="dumb")
        assert NO_CURVE not in on_terminal(results + ["--plot", "off"], 80)
        assert NO_CURVE not in on_terminal(results + ["--json"], 80)

        assert "\x1b" not in on_terminal(results, 80, NO_COLOR="1")
        assert "\x1b[36m" in on_terminal(results, 80, NO_COLOR="")
        ascii_only = on_terminal(results, 80, LC_ALL="C")
        assert NO_CURVE in ascii_only and ascii_only.isascii() and "*" in ascii_only, ascii_only
        asked = in_pipe(results + ["--plot", "on"])
        assert NO_CURVE in asked and "\x1b" not in asked, asked
        assert max(len(line) for line in curve(asked, NO_CURVE)[1:]) <= 98

        seen = on_terminal(explain, 70)
        lines = curve(seen, ROOF)[1:]
        assert len(lines) >= 14 and max(len(line) for line in lines) <= 70 and "flop/byte" in lines[13], seen
        assert sum(line.count("\u25cf") for line in lines) == 1, seen
        assert ROOF not in in_pipe(explain)
        assert ROOF not in in_pipe(explain + ["--md", "--plot", "on"])
        wrong = subprocess.run(results + ["--plot", "maybe"], capture_output=True, text=True)
        assert wrong.returncode != 0 and "expected auto, on or off" in wrong.stderr, wrong.stderr
    print("curves in text: as the terminal can")


main()
