#!/usr/bin/env python3
"""A recorded task passes; each of its cases counts; models are told the PyTorch text."""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = ["seed0", "seed1", "seed2", "times3", "times0.01", "times-1"]


def check(true, what):
    if not true:
        sys.exit(f"recorded.py: {what}")


def optimize(keet, folder, *options):
    return subprocess.run([keet, os.path.join(folder, "task.cu"), "--device", "emu", "--budget", "1",
                           "--db", os.path.join(folder, "run.db"), "-o",
                           os.path.join(folder, "best.cu"), *options],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def spoil(path):
    """One element of the file becomes another."""
    with open(path, "r+b") as f:
        f.seek(-2, os.SEEK_END)
        byte = f.read(1)[0]
        f.seek(-2, os.SEEK_END)
        f.write(bytes([byte ^ 0x40]))


def main():
    keet = sys.argv[1]
    with tempfile.TemporaryDirectory() as scratch:
        whole = os.path.join(scratch, "whole")
        shutil.copytree(os.path.join(HERE, "recorded"), whole)
        done = optimize(keet, whole)
        check(done.returncode == 0, f"it fails: {done.stderr}")
        for case in CASES:
            spoiled = os.path.join(scratch, "spoiled")
            shutil.copytree(os.path.join(HERE, "recorded"), spoiled)
            spoil(os.path.join(spoiled, case, "y.npy"))
            done = optimize(keet, spoiled)
            check(done.returncode == 1 and "does not compute what `expect` says" in done.stderr,
                  f"a wrong number in {case} is not noticed: {done.stderr}")
            check(case == "seed0" or f"in case {case}: y[7][15] =" in done.stderr,
                  f"{case} is not named: {done.stderr}")
            shutil.rmtree(spoiled)
        shutil.copytree(os.path.join(HERE, "recorded"), spoiled)
        os.remove(os.path.join(spoiled, "seed1", "x.npy"))
        done = optimize(keet, spoiled)
        check(done.returncode == 1 and "seed1/x.npy" in done.stderr, f"a missing file: {done.stderr}")
        prompt = optimize(keet, whole, "--show-prompt").stdout
        check("torch.softmax(self.linear(x) / temperature, dim=1)" in prompt, "the PyTorch text")


if __name__ == "__main__":
    main()
