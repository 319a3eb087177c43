#!/usr/bin/env python3
"""Turns a cache of Kernel Tuner, or results in T4 (a .json or .json.gz), into the table that spaces_bench reads:

  table.py CACHE > TABLE

Values of a parameter are in order of size; parameters with one value are left out."""

import gzip
import json
import pathlib
import sys


def read(path):
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


def points_of(document):
    """Pairs of parameters and a time; None: the point failed."""
    if "cache" in document:
        for entry in document["cache"].values():
            time = entry.get("time")
            yield {key: entry[key] for key in document["tune_params_keys"]}, time if isinstance(time, (int, float)) else None
    else:
        for entry in document["results"]:
            times = [m["value"] for m in entry["measurements"] if m["name"] == "time"]
            right = entry.get("invalidity", "correct") == "correct" and times
            yield entry["configuration"], float(times[0]) if right else None


def table(points):
    points = list(points)
    values = {key: sorted({point[key] for point, _ in points}, key=lambda v: (isinstance(v, str), v))
              for key in points[0][0]}
    keys = [key for key in values if len(values[key]) > 1]
    lines = [" ".join(map(str, [len(keys)] + [len(values[key]) for key in keys]))]
    lines += [" ".join([str(values[key].index(point[key])) for key in keys] + ["-" if time is None else f"{time:.9g}"])
              for point, time in points]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(table(points_of(read(pathlib.Path(sys.argv[1])))))
