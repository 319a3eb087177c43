"""The table of points: points.txt."""

import pathlib

HERE = pathlib.Path(__file__).resolve().parent
FILE = HERE / "points.txt"
COLUMNS = ("name", "file", "settings", "launches", "measured_us", "family", "source", "half")


def cells(line):
    return [cell.strip() for cell in line.split("|")] if line.strip() and line[0] != "#" and "|" in line else None


def read():
    """[{column: value, lot: (kind, seed)}]; settings are a dictionary."""
    rows, lot = [], None
    for line in FILE.read_text().splitlines():
        row = cells(line)
        if row:
            row = dict(zip(COLUMNS, row), lot=lot)
            row["settings"] = dict(pair.split("=") for pair in row["settings"].split() if pair != "-")
            row["launches"], row["measured_us"] = int(row["launches"]), float(row["measured_us"])
            rows.append(row)
        elif line.startswith(("lot ", "together ")):
            kind, seed = line.split()
            lot = (kind, int(seed))
    return rows


def set_halves(halves):
    lines = FILE.read_text().splitlines()
    for i, line in enumerate(lines):
        row = cells(line)
        if row:
            lines[i] = line[:line.rindex("|")] + "| " + halves[row[0]]
    FILE.write_text("\n".join(lines) + "\n")
