#!/usr/bin/env python3
"""What planted causes are worth: each kernel against the same work with the cause cured by hand.

  bench/explain/plants.py [--keet-opt PROGRAM] [--check] [--only NAME] [--cures NAME] [FOLDER...]

Each FOLDER (default: tests/explain) has planted.txt, kernels/, and cured/: NAME.cu there is NAME.cu of kernels/ without its
planted cause and otherwise as it was. The gain is the modelled time of the first over that of the second. Both compute
the same: outputs of the first check shape are compared element by element, in order of declaration, except for kernels
that say `// other layout` in the first line of the cure. --check fails where a cure gains less than 1.3x or computes
something else. --cures names another folder than cured: unplanted/ has kernels of which a cure shows that nothing can be
gained, because the compiler or the chip takes away what was planted, or because a finding is a false alarm."""

import argparse
import json
import math
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEAST = 1.3
FORMATS = {"<f4": "f", "<f8": "d", "<f2": "e", "<i4": "i", "<u4": "I", "<i8": "q", "<u8": "Q", "<i2": "h", "<u2": "H", "|i1": "b", "|u1": "B"}


def elements(path, kind):
    """The numbers of an .npy file; bf16 is stored as the upper halves of f32."""
    data = path.read_bytes()
    header = data[10:10 + struct.unpack("<H", data[8:10])[0]]
    code = FORMATS[re.search(rb"'descr': '([^']*)'", header)[1].decode()]
    body = data[10 + len(header):]
    numbers = struct.unpack(f"<{len(body) // struct.calcsize(code)}{code}", body)
    return struct.unpack(f"<{len(numbers)}f", struct.pack(f"<{len(numbers)}I", *(n << 16 for n in numbers))) if kind == "bf16" else numbers


def run(keet_opt, path):
    """(time in us, {output: its elements})"""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([keet_opt, "run", "--json", "--device", "emu", "--dump", folder, str(path)], capture_output=True, text=True, check=False)
        run = json.loads(done.stdout) if done.stdout else {"verdict": "none", "verdict_text": done.stderr}
        if run["verdict"] != "ok":
            sys.exit(f"plants.py: {path}: {run['verdict']}: {run['verdict_text']}")
        outputs = re.findall(r"^#pragma keet (?:out|inout)\s+(\w+) : (\w+)", path.read_text(encoding="utf-8"), re.M)
        return run["time_ns"] / 1e3, {name: elements(pathlib.Path(folder) / f"{name}.npy", kind) for name, kind in outputs}


def differ(one, other):
    """Do outputs differ by more than 2% of the largest element? Orders of sums differ."""
    for name, values in one.items():
        most = max([abs(v) for v in values if math.isfinite(v)], default=0)
        same = (abs(a - b) <= 0.02 * most or a == b or a != a and b != b for a, b in zip(values, other[name]))
        if len(values) != len(other[name]) or not all(same):
            return True
    return False


def judge(folder, keet_opt, part, cures_in):
    """Prints the row of each kernel that has a cure and part in its name; those that are not worth their place."""
    bad = []
    table = [line.split() for line in (folder / "planted.txt").read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    cures = {path.stem for path in (folder / cures_in).glob("*.cu")}
    for name in sorted(cures - {row[0] for row in table}):
        sys.exit(f"plants.py: {folder}/{cures_in}/{name}.cu is the cure of no kernel")
    for name, cause, _ in table:
        if name not in cures or part not in name:
            continue
        cured = folder / cures_in / f"{name}.cu"
        before, found = run(keet_opt, folder / "kernels" / f"{name}.cu")
        after, expected = run(keet_opt, cured)
        other_layout = "// other layout" in cured.read_text(encoding="utf-8").split("\n")[0]
        wrong = not other_layout and differ(found, expected)
        print(f"| {name} | {cause} | {before:.1f} | {after:.1f} | {before / after:.2f}{' other results' if wrong else ''} |", flush=True)
        if before < LEAST * after or wrong:
            bad.append(name)
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--keet-opt", default=str(ROOT / "build" / "release" / "keet-opt"))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("folders", nargs="*", type=pathlib.Path, default=[ROOT / "tests" / "explain"])
    parser.add_argument("--only", metavar="NAME", help="kernels whose names have this in them")
    parser.add_argument("--cures", default="cured", metavar="NAME", help="the folder of the cures in each FOLDER")
    options = parser.parse_args()
    print("| kernel | planted cause | time, us | cured, us | gain |\n|---|---|---:|---:|---:|")
    bad = [name for folder in options.folders for name in judge(folder, options.keet_opt, options.only or "", options.cures)]
    if options.check and bad:
        sys.exit(f"plants.py: less than {LEAST}x, or other results: {', '.join(bad)}")


if __name__ == "__main__":
    main()
