#!/usr/bin/env python3
"""The command lines that pages show really run, with status 0.

In README.md and all pages of docs/, each block fenced as `sh` is run by bash, in the order of the
page, in one temporary folder a page, with keet-opt in the PATH and the repository's
kernels/, bench/, tests/ and prompts/ there. A word after `sh` says why a block is not run, and the
test names it: `setup` installs or builds, `gpu` needs a card, `key` a key of a vendor's or a server,
`slurm` a cluster, `long` minutes or hours, `data` files that the page only speaks of. A block fenced
with a language and a file name (`cuda matvec.cu`) is written to that file.

usage: commands.py ROOT PROGRAM [PAGE...]"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import markdown

SKIP = {"setup", "gpu", "key", "slurm", "long", "data"}
BLOCK_S = 300


def prepare(root, folder):
    shutil.copytree(root / "kernels", folder / "kernels")
    for name in ("bench", "tests", "prompts"):
        (folder / name).symlink_to(root / name)


def run_page(page, root, program, cache):
    problems, nr_run, skipped = [], 0, []
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
            if len(words) == 2 and words[0] != "sh":
                (folder / words[1]).write_text(block, encoding="utf-8")
            if not words or words[0] != "sh":
                continue
            where = f"{page.relative_to(root)}:{line}"
            unknown = set(words[1:]) - SKIP
            if unknown:
                problems.append(f"{where}: `sh {' '.join(unknown)}`: expected sh alone, or one of "
                                f"{' '.join(sorted(SKIP))} after it")
            elif words[1:]:
                skipped.append(f"{where}: not run ({words[1]}): {lines[0]}")
            else:
                nr_run += sum(1 for one in lines if one.strip() and not one.startswith("#"))
                done = subprocess.run(["bash", "-euxo", "pipefail", "-c", block], cwd=folder, env=env,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True, timeout=BLOCK_S)
                if done.returncode != 0:
                    problems.append(f"{where}: ends with {done.returncode}:\n{done.stdout[-3000:]}")
                    break  # what follows builds on it
    return problems, nr_run, skipped


def main(root, program, names):
    pages = [root / n for n in names] or [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    failed, nr = [], 0
    with tempfile.TemporaryDirectory(prefix="keet-docs-cache-") as cache:
        for page in pages:
            problems, nr_run, skipped = run_page(page, root, program, cache)
            print("\n".join(skipped + problems + [
                f"{page.relative_to(root)}: {nr_run} lines run, {len(skipped)} blocks not"]))
            failed += problems
            nr += nr_run
    return bool(failed) or nr == 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3:]))
