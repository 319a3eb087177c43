"""Builds the programs of tests/capture/programs with nvcc, as users do, and runs them on the software
driver. Skips where there is no nvcc."""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def nvcc():
    found = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not found or not os.path.exists("/usr/local/cuda/lib64/libcudart.so"):
        print("skipped: no nvcc, or no shared runtime to link with")
        sys.exit(77)
    return found


def build(folder, names, options=(), runtime="shared"):
    """The program of the named .cu files."""
    out = os.path.join(folder, names[0])
    sources = [os.path.join(HERE, "programs", name + ".cu") for name in names]
    subprocess.run([nvcc(), "-arch=sm_90", "-std=c++17", "-o", out, *options, *sources],
                   check=True, env=dict(os.environ, NVCC_APPEND_FLAGS=f"-cudart {runtime}"))
    return out


def run(program, driver, *args):
    env = dict(os.environ, LD_LIBRARY_PATH=driver)
    return subprocess.run([program, *args], env=env, text=True, capture_output=True)
