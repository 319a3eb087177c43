#!/usr/bin/env python3
"""The options in docs/reference/options.md are those of the program, both ways; its verbs too.

The program says what it has: `keet-opt --help` names verbs and options, `keet-opt VERB --help` the
options of a verb, `keet-opt man` also those for experiments. The page lists options in the first column of its tables, between backquotes. An
option of the page that no help names (a long form of a short one) must at least be one that the
program takes.

usage: options.py ROOT PROGRAM"""
import re
import subprocess
import sys
from pathlib import Path

import markdown

OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*[a-z]|-[A-Za-z]+)(?![\w-])")
ALIKE = {"-vv": "-v"}  # a short option given twice


def run(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=600)


def help_of(program, *verb):
    done = run(program, *verb, "--help")
    if done.returncode != 0:
        sys.exit(f"keet-opt {' '.join(verb)} --help ends with {done.returncode}: {done.stderr}")
    return done.stdout


def verbs_of(text):
    """`keet-opt status|results FOLDER`, `keet-opt show ...;  diff ...`, or rows `  status  ...`."""
    found = set()
    for line in text.split("\n"):
        for words in re.findall(r"keet-opt ((?:[a-z]+\|)*[a-z]+)(?= |$)", line):
            found |= set(words.split("|"))
        found |= set(re.findall(r";\s+([a-z]+) [A-Z]", line))
        found |= set(re.findall(r"^  ([a-z]+)  +\S", line))
    return found


def options_in(text):
    return {ALIKE.get(option, option) for option in OPTION.findall(text)}


def of_page(text):
    """Options and verbs: the first column of each table, and what its heading row calls it."""
    options, verbs, column = set(), set(), ""
    for _, line in ((n, l) for start, info, lines in markdown.blocks(text) if info is None
                    for n, l in enumerate(lines, start)):
        if not line.startswith("|"):
            column = ""
            continue
        cell = re.split(r"(?<!\\)\|", line)[1].strip()
        if not column:
            column = cell
        code = " ".join(re.findall(r"`([^`]*)`", cell))
        if column == "option":
            options |= options_in(code)
        elif column == "verb":
            verbs |= {word for word in re.findall(r"keet-opt ([a-z]+)", code)}
    return options, verbs


def takes(program, verbs, option):
    """The program knows the option, for some verb: it complains of something else, or of nothing."""
    return any(f"unknown option {option}" not in run(program, *verb, option).stderr
               for verb in [()] + [(v,) for v in sorted(verbs)])


def compare(page_text, program):
    text = help_of(program)
    verbs = verbs_of(text)
    for verb in sorted(verbs):
        text += help_of(program, verb)
    text += re.sub(r"\\f[BIR]", " ", run(program, "man").stdout).replace("\\-", "-")
    options = options_in(text)
    page_options, page_verbs = of_page(page_text)
    # A help text may quote options of other programs, such as sbatch's.
    problems = [f"{o}: in --help, not in the page" for o in sorted(options - page_options)
                if takes(program, verbs, o)]
    problems += [f"{o}: in the page, unknown to the program"
                 for o in sorted(page_options - options) if not takes(program, verbs, o)]
    problems += [f"{v}: a verb in --help, not in the page" for v in sorted(verbs - page_verbs)]
    problems += [f"{v}: a verb of the page, not in --help" for v in sorted(page_verbs - verbs)]
    return problems, len(options), len(verbs)


if __name__ == "__main__":
    page = Path(sys.argv[1]) / "docs/reference/options.md"
    found, nr_options, nr_verbs = compare(page.read_text(encoding="utf-8"), sys.argv[2])
    print("\n".join(found + [f"{nr_options} options and {nr_verbs} verbs in --help, "
                             f"{len(found)} differences"]))
    sys.exit(bool(found) or nr_options < 10)
