"""Owns the command keet-opt of the wheel: the program beside this file, with CUDA's compiler from
NVIDIA's wheels."""
import os
import sys
from pathlib import Path

from ._native import find_cuda


def main():
    program = Path(__file__).parent / "bin" / "keet-opt"
    cuda = find_cuda()
    if cuda:
        os.environ["KEET_CUDA"] = cuda
    os.execv(program, ["keet-opt", *sys.argv[1:]])
