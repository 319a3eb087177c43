#!/usr/bin/env python3
"""Kernel files on the emulator and on a GPU: outputs of the first check shape compared bit by bit.

    conform_kernels.py KEET_OPT OUT.tsv JOBS FILE...

A line for each output: file, array, elements, how many differ, the largest difference relative to the
array's largest value. Exit status 1: an array differs by more than 1e-2, or a file did not run."""
import concurrent.futures
import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench/gpu_check"))
import compare  # noqa: E402


def difference(one, two):
    """Elements, how many differ, the largest difference; -1: not the same type or number."""
    kind, _, a = compare.read_npy(one)
    kind2, _, b = compare.read_npy(two)
    if kind != kind2 or len(a) != len(b):
        return 0, -1, float("inf")
    code = compare.FORMATS.get(str(kind), "B")
    each = struct.calcsize(code)
    x = [v[0] for v in struct.iter_unpack("<" + code, a)]
    y = [v[0] for v in struct.iter_unpack("<" + code, b)]
    nr = sum(a[i:i + each] != b[i:i + each] for i in range(0, len(a), each)) if a != b else 0
    largest = max((abs(float(v)) for v in x if v == v), default=0) or 1
    off = max((abs(float(v) - float(w)) for v, w in zip(x, y) if v == v and w == w), default=0)
    return len(x), nr, off / largest


def run(keet, device, path, folder):
    # Several on one GPU at once: times mean nothing here, and counters are left out.
    env = dict(os.environ, KEET_LOCK_DIR=folder + ".lock", KEET_CUPTI="/dev/null")
    os.mkdir(folder + ".lock")
    done = subprocess.run([keet, "run", path, "--device", device, "--dump", folder, "--threads", "2"],
                          capture_output=True, text=True, timeout=100, check=False, env=env)
    return done.returncode, (done.stdout + done.stderr).replace("\t", " ").replace("\n", " ")[:600]


def both(keet, path):
    lines, bad = [], False
    with tempfile.TemporaryDirectory() as folder:
        said = []
        for device in ("emu", "gpu"):
            try:
                status, text = run(keet, device, path, f"{folder}/{device}")
            except subprocess.TimeoutExpired:
                status, text = 124, "took too long"
            if status:
                said.append(f"{path}\t{device} ends with {status}: {text}")
        names = sorted(set(os.listdir(f"{folder}/emu")) & set(os.listdir(f"{folder}/gpu"))) if not said else []
        for name in names:
            if name.endswith(".npy"):
                nr, differ, off = difference(f"{folder}/emu/{name}", f"{folder}/gpu/{name}")
                lines.append(f"{path}\t{name[:-4]}\t{nr}\t{differ}\t{off:.3g}")
                bad = bad or off > 1e-2
    return lines + said, bad or bool(said)


def main():
    keet, out, jobs, *files = sys.argv[1:]
    nr_bad = 0
    with concurrent.futures.ThreadPoolExecutor(int(jobs)) as pool, open(out, "w", encoding="utf-8") as file:
        for lines, bad in pool.map(lambda path: both(keet, path), files):
            file.writelines(line + "\n" for line in lines)
            file.flush()
            nr_bad += bad
    print(f"{len(files)} kernel files: {nr_bad} not the same")
    sys.exit(1 if nr_bad else 0)


main()
