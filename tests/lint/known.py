"""tests/lint/known.txt, what the rules let pass until it is mended: lines `KIND NAME`, # for comments."""
import os

FILE = "tests/lint/known.txt"


def judge(root, kind, found, fix=False):
    """found: what is wrong, by name. Gives lines for what the file does not list, and for entries of
    this kind that are no longer needed; with fix these are taken out of the file."""
    path = os.path.join(root, FILE)
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    listed, kept = set(), []
    for number, line in enumerate(lines, 1):
        words = line.split("#")[0].split()
        if words[:1] != [kind]:
            kept.append(line)
            continue
        listed.add(words[1])
        if words[1] in found:
            kept.append(line)
        elif not fix:
            yield f"{FILE}:{number}: {kind} {words[1]} is no longer needed"
    if fix and kept != lines:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(kept) + "\n")
    for name in sorted(set(found) - listed):
        yield found[name]
