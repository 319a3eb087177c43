#!/usr/bin/env python3
"""A report of 5,000 nodes with a source and a prompt each stays under 20 MB, and has them all."""
import json
import re
import sys
import tempfile
import time

import runs

NODES = 5000


def main():
    keet, kernel = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        db = runs.run(keet, kernel, folder)
        runs.many(db, NODES)
        began = time.monotonic()
        text = runs.report(keet, db).decode()
        print(f"{len(text) / 1e6:.1f} MB in {time.monotonic() - began:.1f} s")
        if len(text.encode()) >= 20e6:
            sys.exit("it is over 20 MB")
        data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S).group(1))
        if len(data["nodes"]) != NODES or len(re.findall(r'<details class="node', text)) != NODES:
            sys.exit("nodes are missing")
        kept = sum(node["s"] is not None for node in data["nodes"])
        said = sum(calls[0]["prompt"] is not None for calls in data["calls"].values())
        print(f"{kept} sources, {said} prompts")
        if kept != NODES or said < NODES / 5:
            sys.exit("too many texts were left out")


main()
