"""Tables of points, as points.txt and card.txt, and the kernel file of a point."""

import functools
import pathlib
import re
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FILE = HERE / "points.txt"
COLUMNS = ("name", "file", "settings", "launches", "measured_us", "family", "source", "half")


def cells(line):
    return [cell.strip() for cell in line.split("|")] if line.strip() and line[0] != "#" and "|" in line else None


def read(file=FILE):
    """[{column: value, lot: (kind, seed)}]; settings are a dictionary. A line `clock US` says what the clock itself adds to
    the times of the rows after it; rows without a time are left out."""
    rows, lot, clock = [], None, 0
    for line in file.read_text().splitlines():
        row = cells(line)
        if row:
            row = dict(zip(COLUMNS, row), lot=lot)
            if row["measured_us"] == "-":
                continue
            row["settings"] = dict(pair.split("=") for pair in row["settings"].split() if pair != "-")
            row["launches"], row["measured_us"] = int(row["launches"]), float(row["measured_us"]) - clock
            rows.append(row)
        elif line.startswith(("lot ", "together ", "kernels ")):
            kind, seed = line.split()
            lot = (kind, int(seed))
        elif line.startswith("like "):
            lot = ("like", line.split()[1])
        elif line.startswith("clock "):
            clock = float(line.split()[1])
    return rows


@functools.cache
def archived(archive):
    """{name: text} of the files in it."""
    with tarfile.open(archive) as files:
        return {file.name: files.extractfile(file).read().decode() for file in files if file.isfile()}


def source(row):
    """The text of the row's file: of this folder, of a path in the project, or of an archive of this folder."""
    folder, _, name = row["file"].partition("/")
    archive = HERE / f"{folder}.tar.xz"
    if archive.exists():
        return archived(archive)[name]
    return ((ROOT if "/" in row["file"] else HERE) / row["file"]).read_text()


def without_includes(text):
    """With the files of this folder in the place of their #include, because a task is one file."""
    return re.sub(r'^#include "(\w+\.cuh)"$', lambda m: (HERE / m[1]).read_text(), text, flags=re.M)


def text_of(row, small=False):
    """The kernel file with a point's settings as sizes, as chosen parameters, and else as macros before everything;
    `small` leaves the timed sizes at those of the check."""
    text, macros = without_includes(source(row)), ""
    if not row["settings"] and not small:
        return text
    size = re.search(r"^#pragma keet size .*$", text, re.M)[0]
    sizes = dict(re.findall(r"(\w+) = ([^,\n]+)", size))
    for name, value in row["settings"].items():
        tune = re.compile(rf"^(#pragma keet tune +{name} = )\d+", re.M)
        if name in sizes:
            sizes[name] = value
        elif tune.search(text):
            text = tune.sub(rf"\g<1>{value}", text)
        else:
            macros += f"#define {name} {value}\n"
    if small:
        check = re.search(r"^#pragma keet check .*$", text, re.M)[0]
        sizes.update(re.findall(r"(\w+) = ([^,\n]+)", check))
    line = "#pragma keet size   " + ", ".join(f"{name} = {value}" for name, value in sizes.items())
    return macros + text.replace(size, line)


def set_halves(halves, file=FILE):
    lines = file.read_text().splitlines()
    for i, line in enumerate(lines):
        row = cells(line)
        if row:
            lines[i] = line[:line.rindex("|")] + "| " + halves[row[0]]
    file.write_text("\n".join(lines) + "\n")
