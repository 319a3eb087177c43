#!/usr/bin/env python3
"""The header compiles with nvcc in two files of one program."""
import os
import shutil
import subprocess
import sys
import tempfile

import runs

MAIN = """#include "pair.cuh"
int other(void);
int main(void)
{
    float *p = nullptr;
    return other() + (int)keet_pair::scratch_bytes(64, 48) +
           (int)keet_pair::launch(p, p, p, p, 64, 48, 1e-5f, p, (cudaStream_t)0);
}
"""
OTHER = '#include "pair.cuh"\nint other(void) { return (int)keet_pair::scratch_bytes(1, 1); }\n'


def main():
    keet, pair = sys.argv[1:]
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not nvcc:
        print("skipped: no nvcc")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        db = runs.run(keet, pair, folder, 2)
        runs.export(keet, db, "header", os.path.join(folder, "pair.cuh"))
        for name, text in ("main.cu", MAIN), ("other.cu", OTHER):
            with open(os.path.join(folder, name), "w") as f:
                f.write(text)
        subprocess.run([nvcc, "-std=c++17", "-arch=sm_90", "-Werror", "all-warnings",
                        "-Wno-deprecated-gpu-targets", "-o", "program", "main.cu", "other.cu"],
                       cwd=folder, check=True)


if __name__ == "__main__":
    main()
