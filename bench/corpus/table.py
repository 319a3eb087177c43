"""The table of a corpus: which kernels decode, and what is not known in the rest.

    corpus_decode FILE.ptx... | table.py --command TEXT --files NR [--sources DIR...] > decode.md

Exit status: 0 when at least 99% of the kernels decode, else 1."""

import argparse
import collections
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import stamp  # noqa: E402

GOAL = 0.99


def reason(text):
    """Without what differs between two kernels that lack the same thing."""
    text = re.sub(r"\s*\(line \d+ of the PTX\)|line \d+: ?", "", text)
    return re.sub(r"\S+ is (a function that is only declared) here", r"\1", text).strip()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", required=True)
    parser.add_argument("--files", type=int, required=True, help="how many were compiled, with kernels or without")
    parser.add_argument("--sources", nargs="*", default=[], help="name=commit of each repository")
    args = parser.parse_args()
    files, kernels, reasons, examples = set(), 0, collections.Counter(), {}
    for line in sys.stdin:
        path, kernel, text = line.rstrip("\n").split("\t", 2)
        files.add(path)
        kernels += 1
        if text != "ok":
            why = reason(text)
            reasons[why] += 1
            examples.setdefault(why, f"{os.path.basename(path)}: {kernel}")
    if not kernels:
        sys.exit("table.py: no kernels on standard input")
    good = kernels - sum(reasons.values())
    print("# Other people's kernels: how many the emulator parses, verifies and decodes\n")
    print(f"`{args.command}` at commit {stamp.commit()}. The files are not in this repository: "
          f"{', '.join(args.sources) or 'any folder of PTX'}.\n")
    print(f"**{good} of {kernels} kernels ({100 * good / kernels:.2f}%) in {len(files)} files; of the "
          f"{args.files} that were compiled, the other {args.files - len(files)} have none.**\n")
    print("| not known | kernels | first seen in |\n|---|---:|---|")
    for why, count in reasons.most_common():
        print(f"| {why} | {count} | `{examples[why]}` |")
    return 0 if good >= GOAL * kernels else 1


if __name__ == "__main__":
    sys.exit(main())
