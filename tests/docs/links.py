#!/usr/bin/env python3
"""Every relative link of every page leads to a file, and its #anchor to a heading there.

usage: links.py ROOT [PROGRAM]"""
import sys
from pathlib import Path
from urllib.parse import unquote

import markdown


def broken(root):
    """Sentences, one a broken link; and how many links were looked at."""
    problems, nr = [], 0
    for page in markdown.pages(root):
        text = page.read_text(encoding="utf-8")
        for number, line in markdown.prose(text):
            for target in markdown.LINK.findall(line):
                if "://" in target or target.startswith("mailto:"):
                    continue
                nr += 1
                where = f"{page.relative_to(root)}:{number}: {target}"
                path, _, anchor = unquote(target).partition("#")
                there = (page.parent / path) if path else page
                if not there.exists():
                    problems.append(f"{where}: there is no such file")
                elif anchor and anchor not in markdown.anchors(there.read_text(encoding="utf-8")):
                    problems.append(f"{where}: no heading of {path or page.name} has that anchor")
    return problems, nr


if __name__ == "__main__":
    found, looked_at = broken(Path(sys.argv[1]).resolve())
    print("\n".join(found + [f"{looked_at} relative links, {len(found)} broken"]))
    sys.exit(bool(found) or looked_at == 0)
