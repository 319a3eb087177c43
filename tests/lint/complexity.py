#!/usr/bin/env python3
"""No function is long or has many ways through it: usage: complexity.py [ROOT] [--fix].

lizard counts. Functions that known.txt names pass; an entry that is no longer needed is an error,
and --fix takes it out. Exit status 77 (skipped) without lizard, which setup.sh gets."""
import os
import re
import subprocess
import sys

import known

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = os.path.join(HERE, "../..")
MOST_LINES, MOST_WAYS = 80, 40
FOUND = re.compile(r"(\S+?:\d+): warning: (\S+) has \d+ NLOC, (\d+) CCN, .* (\d+) length")


def lizard(root):
    path = [os.path.join(OURS, ".deps/lizard"), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}
    for python in (sys.executable, "python3"):
        if subprocess.run([python, "-c", "import lizard"], env=env, capture_output=True, check=False).returncode == 0:
            done = subprocess.run([python, "-m", "lizard", "-l", "c", "-L", str(MOST_LINES), "-C", str(MOST_WAYS),
                                   "-w", "src", "search"], cwd=root, env=env, capture_output=True, text=True, check=False)
            if done.stderr:
                sys.exit(done.stderr)
            return done.stdout
    return None


def main():
    arguments = [a for a in sys.argv[1:] if a != "--fix"]
    root = os.path.abspath(arguments[0] if arguments else OURS)
    text = lizard(root)
    if text is None:
        print("lizard is not installed")
        sys.exit(77)
    found = {}
    for line in text.splitlines():
        match = FOUND.match(line)
        if not match:
            sys.exit(f"lizard says: {line}")
        where, name, ways, length = match.groups()
        found[name] = (f"{where}: {name} has {length} lines and a complexity of {ways}; "
                       f"at most {MOST_LINES} and {MOST_WAYS}")
    bad = list(known.judge(root, "function", found, "--fix" in sys.argv))
    print("\n".join(bad) or "all functions are short")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
