#!/usr/bin/env python3
"""The command lines that pages show really run, with status 0.

In README.md and all pages of docs/, each block fenced as `sh` is run by bash, in the order of the
page, in one temporary folder a page, with keet-opt in the PATH and the repository's
kernels/, bench/, tests/ and prompts/ there. A word after `sh` says why a block is not run, and the
test names it: `setup` installs or builds, `gpu` needs a card, `key` a key of a vendor's or a server,
`slurm` a cluster, `long` minutes or hours, `data` files that the page only speaks of, `again` what
another page runs in the same way. A block fenced with a language and a file name (`cuda matvec.cu`) is
written to that file.

With --outputs, `again` is run, and the lines of `text` blocks are looked up in what the block before them printed, wall
times aside: what is named there is to be shown anew. ctest leaves this out, since `keet-opt doctor`
and paths say something else on each machine.

usage: commands.py ROOT PROGRAM [--outputs] [PAGE...]"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import markdown

SKIP = {"setup", "gpu", "key", "slurm", "long", "data", "again"}
BLOCK_S = 300


def prepare(root, folder):
    shutil.copytree(root / "kernels", folder / "kernels")
    for name in ("bench", "tests", "prompts"):
        (folder / name).symlink_to(root / name)


def run_block(text, folder, env):
    """Its exit status, and all that it printed."""
    done = subprocess.run(["bash", "-euxo", "pipefail", "-c", text], cwd=folder, env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=BLOCK_S)
    return done.returncode, done.stdout


def stale(lines, printed):
    """The lines of a `text` block that were not printed; ... stands for what is left out."""
    def alike(line):
        return re.sub(r"(in|;) [\d.]+ s\b", r"\1 _ s", line.rstrip())
    there = {alike(line) for line in printed.split("\n")} | {"...", ""}
    return [line for line in lines if alike(line) not in there]


def run_page(page, root, program, cache, outputs=False):
    problems, nr_run, skipped, printed = [], 0, [], None
    text = page.read_text(encoding="utf-8")
    if "```sh" not in text:
        return problems, nr_run, skipped
    env = {**os.environ, "PATH": f"{Path(program).resolve().parent}:{os.environ['PATH']}",
           "XDG_CACHE_HOME": cache}
    for key in [k for k in env if k.endswith(("_API_KEY", "_API_KEY_FILE"))]:
        del env[key]
    with tempfile.TemporaryDirectory(prefix="keet-docs-") as name:
        folder = Path(name)
        prepare(root, folder)
        for line, info, lines in markdown.blocks(text):
            words = (info or "").split()
            block = "\n".join(lines) + "\n"
            where = f"{page.relative_to(root)}:{line}"
            if len(words) == 2 and words[0] != "sh":
                (folder / words[1]).write_text(block, encoding="utf-8")
            elif outputs and words == ["text"] and printed is not None:
                problems += [f"{where}: not printed any more: {one}"
                             for one in stale(lines, printed)]
            if not words or words[0] != "sh":
                continue
            printed = None
            unknown = set(words[1:]) - SKIP
            if unknown:
                problems.append(f"{where}: `sh {' '.join(unknown)}`: expected sh alone, or one of "
                                f"{' '.join(sorted(SKIP))} after it")
            elif words[1:] and not (outputs and words[1:] == ["again"]):
                skipped.append(f"{where}: not run ({words[1]}): {lines[0]}")
            else:
                nr_run += sum(1 for one in lines if one.strip() and not one.startswith("#"))
                status, printed = run_block(block, folder, env)
                if status != 0:
                    problems.append(f"{where}: ends with {status}:\n{printed[-3000:]}")
                    break  # what follows builds on it
    return problems, nr_run, skipped


def main(root, program, outputs, names):
    pages = [root / n for n in names] or [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    failed, nr = [], 0
    with tempfile.TemporaryDirectory(prefix="keet-docs-cache-") as cache:
        for page in pages:
            problems, nr_run, skipped = run_page(page, root, program, cache, outputs)
            print("\n".join(skipped + problems + [
                f"{page.relative_to(root)}: {nr_run} lines run, {len(skipped)} blocks not"]))
            failed += problems
            nr += nr_run
    return bool(failed) or nr == 0


if __name__ == "__main__":
    rest = sys.argv[3:]
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2], "--outputs" in rest,
                  [r for r in rest if r != "--outputs"]))
