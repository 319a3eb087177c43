"""Reads Markdown as far as the tests of the documentation need it: fenced blocks, headings, links."""
import re
import subprocess
from pathlib import Path

FENCE = re.compile(r"^(```+|~~~+)\s*(.*)$")
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?[^)]*\)")


def blocks(text):
    """The text as (line, info, lines): info is None outside of fenced blocks."""
    start, info, lines, fence = 1, None, [], ""
    for number, line in enumerate(text.split("\n"), 1):
        found = FENCE.match(line)
        if info is None and found:
            yield start, None, lines
            start, info, lines, fence = number + 1, found[2].strip(), [], found[1]
        elif info is not None and found and found[1].startswith(fence) and not found[2]:
            yield start, info, lines
            start, info, lines = number + 1, None, []
        else:
            lines.append(line)
    yield start, info, lines


def prose(text):
    """The lines outside of fenced and indented blocks, with their numbers, `code` blanked."""
    after_blank = False
    for start, info, lines in blocks(text):
        for number, line in enumerate(lines, start):
            if info is None and not (after_blank and line.startswith("    ")):
                yield number, re.sub(r"`[^`]*`", lambda m: " " * len(m[0]), line)
            after_blank = not line.strip() or (after_blank and line.startswith("    "))


def anchors(text):
    """The #anchors of a page's headings, by GitHub's rule: lower case, punctuation dropped."""
    found = set()
    for _, info, lines in blocks(text):
        for line in lines if info is None else []:
            heading = re.match(r"^#{1,6}\s+(.*?)\s*#*$", line)
            if not heading:
                continue
            title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
            slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            same = sum(1 for one in found if re.fullmatch(re.escape(slug) + r"(-\d+)?", one))
            found.add(f"{slug}-{same}" if same else slug)
    return found


def pages(root):
    """All pages under version control or new, results/ excepted: those are made by programs."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "*.md"],
                            capture_output=True, text=True)
    names = listed.stdout.split("\n") if listed.returncode == 0 else [
        str(p.relative_to(root)) for p in Path(root).rglob("*.md")]
    left_out = ("results/", "build/", ".deps")
    return [Path(root) / n for n in sorted(set(names))
            if n and not n.startswith(left_out) and (Path(root) / n).exists()]
