#!/usr/bin/env python3
"""The header compiles with nvcc in two files of one program; one with tensor maps runs, on the software driver.

    header.py KEET_OPT PAIR.cu TILES.cu [FOLDER_OF_DRIVER]"""
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


TILES = """#include "tiles.cuh"
#include <cstdio>
#include <vector>
int main(void)
{
    const int64_t m = 21, n = 52; // neither is whole tiles
    std::vector<float> x(m * n), y(m * n, -1);
    float *a, *b;
    for (size_t i = 0; i < x.size(); i++)
        x[i] = (float)(i % 97);
    cudaMalloc(&a, 4 * m * n);
    cudaMalloc(&b, 4 * m * n);
    cudaMemcpy(a, x.data(), 4 * m * n, cudaMemcpyHostToDevice);
    cudaError_t error = keet_tiles::launch(a, b, m, n, nullptr, (cudaStream_t)0);
    if (error == cudaSuccess)
        error = cudaMemcpy(y.data(), b, 4 * m * n, cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < x.size(); i++)
        if (error != cudaSuccess || y[i] != 2 * x[i])
            return printf("%s, element %zu: %g\\n", cudaGetErrorString(error), i, y[i]), 1;
    // Rows of 4 * 51 bytes are none that a tensor map takes.
    error = keet_tiles::launch(a, b, m, 51, nullptr, (cudaStream_t)0);
    return error == cudaErrorInvalidValue ? puts("PASS") < 0 : (printf("%d\\n", (int)error), 1);
}
"""


def test_tensor_maps(keet, tiles, nvcc, driver, folder):
    db = runs.run(keet, tiles, folder, 1)
    runs.export(keet, db, "header", os.path.join(folder, "tiles.cuh"))
    with open(os.path.join(folder, "tiles.cu"), "w") as f:
        f.write(TILES)
    subprocess.run([nvcc, "-std=c++17", "-arch=sm_90a", "-Werror", "all-warnings", "-cudart", "shared",
                    "-o", "tiles", "tiles.cu"], cwd=folder, check=True)
    if not driver:
        return  # a library with AddressSanitizer cannot be loaded by a program without it
    done = subprocess.run([os.path.join(folder, "tiles")], env=dict(os.environ, LD_LIBRARY_PATH=driver),
                          capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == "PASS\n", (done.returncode, done.stdout, done.stderr)


def main():
    keet, pair, tiles = sys.argv[1:4]
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
        test_tensor_maps(keet, tiles, nvcc, sys.argv[4] if sys.argv[4:] else None, folder)


if __name__ == "__main__":
    main()
