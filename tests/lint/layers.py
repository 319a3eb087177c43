#!/usr/bin/env python3
"""Checks the rules of the house that a compiler cannot: usage: layers.py [ROOT] [--fix].

Reads tests/lint/layers.txt, prints one line per violation, exits 1 when there is any. Names of structs
that known.txt lists may stand twice; --fix takes those out of it that no longer do.
"""
import fnmatch
import os
import re
import sys

import known

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]')
STRUCT = re.compile(r"^struct (\w+) \{", re.M)
# Spelled so that this file does not find itself.
MARKERS = re.compile(r"\b(" + "TO" + "DO|FIX" + "ME|XX" + r"X)\b")
# What ISO C and POSIX bring; search/ may include nothing else.
LIBC = set("""assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal
stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time
uchar wchar wctype""".split())


class Table:
    """layers.txt."""

    def __init__(self, path):
        self.may, self.public, self.foreign = {}, {}, []
        self.checked, self.read, self.pure = [], [], []
        self.max_lines = self.max_test_lines = 0
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                line = line.split("#")[0].strip()
                if line:
                    self.add(line, f"{path}:{number}")

    def add(self, line, where):
        kind, _, rest = line.partition(" ")
        if kind == "layer":
            name, _, rest = rest.partition(":")
            may, _, public = rest.partition("=")
            self.may[name.strip()] = may.split()
            self.public[name.strip()] = public.split()
            for lower in may.split():
                if lower not in self.public:
                    sys.exit(f"{where}: {name} may include {lower}, which is not below it")
        elif kind == "foreign":
            header, _, where_allowed = rest.partition(":")
            self.foreign.append((header.strip(), where_allowed.strip()))
        elif kind in ("checked", "read", "pure"):
            setattr(self, kind, rest.split())
        elif kind in ("max_lines", "max_test_lines"):
            setattr(self, kind, int(rest))
        else:
            sys.exit(f"{where}: unknown line: {line}")

    def is_public(self, folder, name):
        shown = False
        for pattern in self.public[folder]:
            if pattern.startswith("!"):
                shown = shown and not fnmatch.fnmatch(name, pattern[1:])
            else:
                shown = shown or fnmatch.fnmatch(name, pattern)
        return shown


def files_below(root, folders):
    for folder in folders:
        for place, below, names in os.walk(os.path.join(root, folder)):
            below[:] = sorted(d for d in below if d != "__pycache__")
            for name in sorted(names):
                yield os.path.relpath(os.path.join(place, name), root)


def folder_of(path, table):
    """The layer of a checked file: the folder itself, src/emu/decode/decode.c -> emu/decode, or the
    nearest one above it that the table has; None."""
    parts = path.split(os.sep)[:-1]
    parts = parts[1:] if parts[0] == "src" else parts
    while parts and "/".join(parts) not in table.may:
        parts.pop()
    return "/".join(parts) or None


def read_text(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def matches(path, place):
    return path.startswith(place) if place.endswith("/") else (
        fnmatch.fnmatch(path, place) and path.count("/") == place.count("/"))


def check_ours(table, root, path, name):
    """An #include "..." of a checked file; what is wrong with it, or None."""
    folder = folder_of(path, table)
    base = "" if name.startswith("search/") else "src"
    if not os.path.exists(os.path.join(root, base, name)):
        return f'#include "{name}": no such file; paths start at src/'
    target, header = folder_of(os.path.join("src", name), table), os.path.basename(name)
    if target is None:
        return f'#include "{name}": {os.path.dirname(name) or name} is no folder of the table of layers'
    if target == folder or folder.startswith(target + "/"):
        return None
    if target.startswith(folder + "/"):
        return None if path.endswith(".c") else (
            f'#include "{name}": a header of {folder} may not include its room {target}')
    if target not in table.may[folder]:
        return f'#include "{name}": {folder} may not include {target}'
    siblings = "/" in target and os.path.dirname(target) == os.path.dirname(folder)
    if not siblings and not table.is_public(target, header):
        return f'#include "{name}": {header} is private to {target}'
    return None


def check_foreign(table, path, name, found):
    for pattern, places in table.foreign:
        if not fnmatch.fnmatch(name, pattern):
            continue
        one = places.startswith("one of ")
        places = (places[7:] if one else places).split()
        if not any(matches(path, place) for place in places):
            return f"#include <{name}>: only in {', '.join(places)}"
        if one:
            files = found.setdefault(pattern, set())
            files.add(path)
            if len(files) > 1:
                return f"#include <{name}>: only in one file, and {min(files)} has it already"
    if folder_of(path, table) in table.pure and re.sub(r"\.h$", "", name) not in LIBC:
        return f"#include <{name}>: {folder_of(path, table)} uses libc and libm only"
    return None


def check_includes(table, root, path, text, found):
    if folder_of(path, table) is None:
        yield f"{path}:1: its folder is not in the table of layers"
        return
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, name = match.groups()
        wrong = (check_ours(table, root, path, name) if quote == '"'
                 else check_foreign(table, path, name, found))
        if wrong:
            yield f"{path}:{number}: {wrong}"


def check_file(table, root, path, found):
    text = read_text(root, path)
    is_c = path.endswith((".c", ".h"))
    checked = path.split(os.sep)[0] in table.checked
    if is_c and checked:
        yield from check_includes(table, root, path, text, found)
        if not text.startswith("/*"):
            yield f"{path}:1: the first line says what the file owns, in a comment"
    nr_lines = text.count("\n")
    limit = table.max_lines if checked else table.max_test_lines
    if path.endswith((".c", ".h", ".py", ".sh")) and nr_lines > limit:
        yield f"{path}:{nr_lines}: longer than {limit} lines"
    for number, line in enumerate(text.splitlines(), 1):
        if MARKERS.search(line):
            yield f"{path}:{number}: finish it, or open an issue: {line.strip()[:60]}"
        if is_c and "\t" in line:
            yield f"{path}:{number}: a tab"


def check_names(table, root):
    seen = {}
    for path in files_below(root, table.checked):
        name = os.path.basename(path)
        if name in ("CMakeLists.txt", "README.md", ".gitkeep"):
            continue
        if name in seen:
            yield f"{path}:1: there is a {seen[name]} too; names of files are unique"
        seen.setdefault(name, path)


def check_structs(table, root, fix):
    """Two structs of one name are mistaken for each other by readers and by debuggers."""
    seen, twice = {}, {}
    for path in files_below(root, table.checked):
        if not path.endswith((".c", ".h")):
            continue
        text = read_text(root, path)
        for match in STRUCT.finditer(text):
            name, line = match.group(1), text.count("\n", 0, match.start()) + 1
            if name in seen:
                twice.setdefault(name, f"{path}:{line}: struct {name} is also in {seen[name]}; names of structs are unique")
            seen.setdefault(name, path)
    yield from known.judge(root, "struct", twice, fix)


def violations(root, fix=False):
    table = Table(os.path.join(root, "tests/lint/layers.txt"))
    found = {}
    for path in files_below(root, table.read):
        if path.endswith((".c", ".h", ".def", ".py", ".sh", ".txt", ".cmake", ".md", ".cu")):
            yield from check_file(table, root, path, found)
    yield from check_names(table, root)
    yield from check_structs(table, root, fix)


def main():
    roots = [a for a in sys.argv[1:] if a != "--fix"] or [os.path.join(os.path.dirname(__file__), "../..")]
    bad = list(violations(os.path.abspath(roots[0]), "--fix" in sys.argv))
    for line in bad:
        print(line)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
