#!/usr/bin/env python3
"""The report of a real run: well formed, nothing from outside, the same twice, and what it shows is
what the database holds. Then with markup planted in everything that models and sources write."""
import base64
import hashlib
import html.parser
import json
import os
import re
import shutil
import sqlite3
import sys
import tempfile

import runs

VOID = {"meta", "br", "wbr", "img", "input", "link", "hr"}


class Page(html.parser.HTMLParser):
    """Elements, checked for balance; the text of scripts and styles."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.tags, self.policy = [], set(), [], {}, ""
        self.raw, self.words, self.faults = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags[tag] = self.tags.get(tag, 0) + 1
        if "id" in attrs and attrs["id"] in self.ids:
            self.faults.append(f"two of id {attrs['id']}")
        self.ids.add(attrs.get("id", ""))
        for name, value in attrs.items():
            if name.startswith("on") or name in ("style", "src", "srcset", "action", "formaction"):
                self.faults.append(f"{tag} has {name}={value}")
            if name in ("href", "xlink:href"):
                self.links.append(value)
        if attrs.get("http-equiv") == "Content-Security-Policy":
            self.policy = attrs["content"]
        if tag in ("script", "style"):
            self.raw.append([tag, attrs, ""])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes something else")

    def handle_data(self, data):
        if self.open and self.open[-1] in ("script", "style"):
            self.raw[-1][2] += data
        else:
            self.words.append(data)


def check(true, what):
    if not true:
        sys.exit(f"page.py: {what}")


def digest(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def decode(data, pairs):
    all_lines = []
    for first, nr in zip(pairs[::2], pairs[1::2]):
        all_lines += data["lines"][first:first + nr]
    return all_lines


def well_formed(text):
    page = Page(text)
    check(not page.faults, page.faults[:5])
    check(not page.open, f"left open: {page.open}")
    check(all(link.startswith("#") for link in page.links), "a link leads outside")
    check(all(link[1:] in page.ids for link in page.links), "a link leads nowhere")
    kinds = [(tag, attrs.get("type")) for tag, attrs, _ in page.raw]
    check(kinds == [("style", None), ("script", "application/json"), ("script", None)], kinds)
    check("default-src 'none'" in page.policy and "unsafe" not in page.policy, page.policy)
    check(f"style-src '{digest(page.raw[0][2])}'" in page.policy, "the style's hash is not in it")
    check(f"script-src '{digest(page.raw[2][2])}'" in page.policy, "the script's hash is not in it")
    check("<" not in page.raw[1][2], "the data has a <")
    check(not re.search(r"url\(|@import", page.raw[0][2]), "the style loads something")
    return page, json.loads(page.raw[1][2])


def shows(path, page, data):
    """The data against the database, read by Python's own SQLite."""
    db = sqlite3.connect(path)
    rows = db.execute("SELECT number, parent, verdict, speedup, text FROM node"
                      " JOIN source ON source.hash = node.source ORDER BY number").fetchall()
    check([node["n"] for node in data["nodes"]] == [row[0] for row in rows], "numbers of nodes")
    for node, (number, parent, verdict, speedup, source) in zip(data["nodes"], rows):
        check(f"n{number}" in page.ids, f"node {number} is not in the list")
        check(node["p"] == (-1 if parent is None else parent) and node["v"] == verdict, number)
        check(abs(node["x"] - (speedup or 0)) <= 1e-5 * node["x"], f"speedup of {number}")
        lines = source.split("\n")
        check(decode(data, node["s"]) == (lines[:-1] if lines[-1] == "" else lines),
              f"the source of {number} is another")
    best = max(row[3] or 0 for row in rows)
    words = " ".join(page.words)
    check(f"{best:.2f}x modelled speedup" in words or best == 1, "the best's speedup is not named")
    check(page.tags["circle"] >= 2 * len(rows), "charts lack nodes")
    for name in ("chart-speedup", "chart-tree", "chart-roofline", "chart-verdicts"):
        check(name in page.ids, f"{name} is missing")
    db.close()


def tree_grows_down(text):
    """Each child stands one level below its parent, and the original alone on top."""
    tree = re.search(r'<svg id="chart-tree".*?</svg>', text, re.S).group(0)
    steps = [float(b or d) - float(a or c) for a, b, c, d in re.findall(
        r'class="way" x1="[^"]*" y1="([^"]*)" x2="[^"]*" y2="([^"]*)"|M\S+ (\S+?)L\S+ ([^"M]+)', tree)]
    check(len(steps) >= 39 and set(steps) == {steps[0]} and steps[0] > 0, "levels of the tree")
    heights = [float(y) for y in re.findall(r'<circle [^>]*cy="([^"]*)"', tree)]
    check(heights.count(min(heights)) == 1, "more than one node on top of the tree")


def main():
    keet, kernel = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        db = runs.run(keet, kernel, folder)
        text = runs.report(keet, db).decode()
        check(text == runs.report(keet, db).decode(), "twice is not the same")
        page, data = well_formed(text)
        shows(db, page, data)
        check(not page.ids & {"chart-tokens", "chart-cost"}, "a chart over what was not spent")
        document = json.loads(runs.report(keet, db, "--as", "json"))
        check(len(document["nodes"]) == len(data["nodes"]), "nodes of the JSON")
        check(document["nodes"][1]["candidate"]["speedup"] > 1, "node 1 of saxpy is vectorize")
        check("| `gpu__time_duration.sum` |" in runs.report(keet, db, "--as", "md").decode(), "md")

        talk = os.path.join(folder, "talk.keet.db")
        shutil.copy(db, talk)
        runs.converse(talk)
        document = json.loads(runs.report(keet, talk, "--as", "json"))
        percent = 100 * (document["speedup"] - 1)
        said = re.search(r", (\d[\d.]*) tokens and (\d[\d.]*) dollars for each percent of speed gained",
                         runs.report(keet, talk, "--as", "md").decode())
        check(said and abs(float(said[1]) * percent / 2400 - 1) < 0.01, "tokens for each percent")  # 2 calls of 1200
        check(abs(float(said[2]) * percent / 0.5 - 1) < 0.06, "dollars for each percent")  # printed with two digits
        check("for each percent" not in runs.report(keet, db, "--as", "md").decode(), "nothing was spent")

        grown = os.path.join(folder, "grown.keet.db")
        shutil.copy(db, grown)
        runs.many(grown, 40, lambda number: number - (1 if number % 3 else 2))
        tree_grows_down(runs.report(keet, grown).decode())

        runs.plant(db)
        text = runs.report(keet, db).decode()
        page, data = well_formed(text)
        check(page.tags["script"] == 2 and "img" not in page.tags, "planted markup is markup")
        check("<script>document" not in text, "planted markup is there as it was")
        for chart in ("chart-tokens", "chart-cost"):
            check(chart in page.ids, f"{chart} is missing")
        call = data["calls"]["1"][0]
        check("\n".join(decode(data, call["prompt"])) == "asked " + runs.EVIL, "the prompt changed")
        check("\n".join(decode(data, call["reply"])) == "said " + runs.EVIL, "the reply changed")
        check(data["nodes"][1]["note"] == runs.EVIL, "the note changed")
        check(runs.EVIL.split("\n")[0] in "".join(page.words), "the planted text is not shown")
        check(json.loads(runs.report(keet, db, "--as", "json"))["nodes"][1]["calls"][0]["reply"]
              == "said " + runs.EVIL, "the reply in the JSON changed")
        check("<script>" not in re.sub(r"```+.*?```+", "", runs.report(
            keet, db, "--as", "md").decode(), flags=re.S), "planted markup is in the Markdown")


if __name__ == "__main__":
    main()
