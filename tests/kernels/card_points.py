"""Mechanisms of the model of time, each held to the small kernel of bench/card that measured it.

  card_points.py PROGRAM

Exit status 1 where a modelled time is not within LIMIT of what was measured, either way."""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "time"))
import points  # noqa: E402

LIMIT = 1.2
NAMES = {
    "empty_1056x128": "blocks end one after another",
    "copy_16_4M": "the first access to a buffer waits for its translation",
    "read_twice_40M": "L2 leaves nothing for the next launch",
    "atomics_same_4096": "atomics of blocks that are a power of two apart queue up at other slices",
    "atomics_spread_32": "a slice takes a sector of an atomic in one of its cycles",
    "atomics_random_16": "lanes on one address come one after another",
    "columns_store_32x8": "L2 takes partly written lone sectors slowly",
    "gather_1_1M": "L2 serves 64 bytes at a time",
    "chain_32M": "a load that comes alone does not wait for what L2 owes",
}


def modelled(program, row, folder):
    file = folder / f"{row['name']}.cu"
    file.write_text(points.text_of(row))
    done = subprocess.run([program, "run", file, "--json", "--device", "emu:h100"], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["time_ns"] / 1e3


def main():
    program, wrong = sys.argv[1], 0
    rows = {row["name"]: row for row in points.read(ROOT / "bench" / "card" / "points.txt")}
    with tempfile.TemporaryDirectory() as name:
        for point, what in NAMES.items():
            us = modelled(program, rows[point], pathlib.Path(name))
            ratio = us / rows[point]["measured_us"]
            bad = not 1 / LIMIT < ratio < LIMIT
            wrong += bad
            print(f"{'WRONG' if bad else 'ok':5} {point:20} modelled / measured {ratio:.2f}: {what}")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
