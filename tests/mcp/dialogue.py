#!/usr/bin/env python3
"""A recorded dialogue, replayed: an agent mends a wrong kernel and makes it faster.

dialogue.json holds the agent's words and calls, and of each answer the members that the agent went by. A replay makes the
same calls and compares these members: words in full but for their numbers, verdicts and lines exactly, measures within
a quarter, since the model of time may be fitted anew.

usage: dialogue.py KEET_OPT ROOT [--record]"""
import json
import os
import re
import sys
import tempfile

from server import Server, arguments, check, write


def joined(value):
    """A text is stored as its lines."""
    return "\n".join(value) if isinstance(value, list) and len(value) > 5 else value


def member(document, path):
    for name in path.split("."):
        document = document[int(name)] if isinstance(document, list) else document.get(name)
    return document


def alike(want, got, name=""):
    if isinstance(want, dict):
        return isinstance(got, dict) and set(want) == set(got) and all(alike(want[k], got[k], k) for k in want)
    if isinstance(want, list):
        return isinstance(got, list) and len(want) == len(got) and all(map(alike, want, got))
    if isinstance(want, str):
        return isinstance(got, str) and re.sub(r"\d[\d.]*", "#", want) == re.sub(r"\d[\d.]*", "#", got)
    if isinstance(want, bool) or want is None or name.split(".")[-1] == "line":
        return want == got
    return abs(want - got) <= 0.25 * abs(want)


def main():
    keet, root = arguments()
    path = os.path.join(root, "tests/mcp/dialogue.json")
    with open(path, encoding="utf-8") as file:
        dialogue = json.load(file)
    with tempfile.TemporaryDirectory(prefix="keet-mcp-test-") as folder:
        for name, lines in dialogue["files"].items():
            write(folder, name, "\n".join(lines))
        server = Server(keet, folder, "--device", "emu")
        for turn in dialogue["turns"]:
            given = {name: joined(value) for name, value in turn["arguments"].items()}
            answer = server.right(turn["tool"], **given)
            got = {name: member(answer, name) for name in turn["keep"]}
            if "--record" in sys.argv:
                turn["answer"] = got
            for name, want in turn["answer"].items():
                check(alike(want, got[name], name), turn["agent"], "\n", name, "was", want, "and is", got[name],
                      "\nIf that is as it should be: tests/mcp/dialogue.py KEET_OPT ROOT --record")
        server.close()
    first, last = dialogue["turns"][0]["answer"], dialogue["turns"][-1]["answer"]
    check(first["verdict"] == "race" and last["verdict"] == "ok" and last["passed"], first, last)
    check(last["new_ns"] < 0.6 * last["old_ns"], "faster", last)
    if "--record" in sys.argv:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(dialogue, file, indent=1)
            file.write("\n")


main()
