"""What a table of results says of its making: the commit of the program, and the processor."""

import pathlib
import platform
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]


def git(*words):
    """What it says; "" where there is no git, or no repository."""
    try:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


def commit(*folders):
    """The short commit of this checkout, "+changes" behind it when one of the folders differs from it."""
    changed = git("status", "--porcelain", "--", *(folders or ("src", "search", "kernels")))
    return git("rev-parse", "--short", "HEAD") + ("+changes" if changed else "")


def cpuinfo():
    """The fields of a processor; none where /proc does not tell."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return {}
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines) if key.strip()}


def processor():
    return cpuinfo().get("model name", platform.machine())
