"""Times of libraries on the same problems, where they are: cuBLAS through ctypes, PyTorch when it is
installed. Prints JSON: {"cublas_sgemm 1024": {"time_ns": ...} or {"absent": why}}."""

import ctypes
import glob
import json
import os
import statistics
import sys

REPEATS, LAUNCHES = 20, 20


def library(name):
    places = [name]
    for root in (os.environ.get("KEET_CUDA"), os.environ.get("CUDA_HOME"), "/usr/local/cuda"):
        if root:
            places += sorted(glob.glob(f"{root}/lib64/{name}*") + glob.glob(f"{root}/lib/{name}*"))
    for place in places:
        try:
            return ctypes.CDLL(place)
        except OSError:
            continue
    raise RuntimeError(f"{name} is not found")


def good(code, what):
    if code != 0:
        raise RuntimeError(f"{what} failed with code {code}")


class Cublas:
    """One matrix product of n by n in f32, as the user of the library calls it."""

    def __init__(self):
        self.cudart = library("libcudart.so")
        self.cublas = library("libcublas.so")
        self.handle = ctypes.c_void_p()
        good(self.cublas.cublasCreate_v2(ctypes.byref(self.handle)), "cublasCreate")

    def event(self):
        event = ctypes.c_void_p()
        good(self.cudart.cudaEventCreate(ctypes.byref(event)), "cudaEventCreate")
        return event

    def sgemm_ns(self, n):
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        arrays = [ctypes.c_void_p() for _ in range(3)]
        for array in arrays:
            good(self.cudart.cudaMalloc(ctypes.byref(array), ctypes.c_size_t(4 * n * n)), "cudaMalloc")
            good(self.cudart.cudaMemset(array, 0, ctypes.c_size_t(4 * n * n)), "cudaMemset")
        start, end, times = self.event(), self.event(), []
        for repeat in range(REPEATS + 3):
            good(self.cudart.cudaEventRecord(start, None), "cudaEventRecord")
            for _ in range(LAUNCHES):
                good(self.cublas.cublasSgemm_v2(
                    self.handle, 0, 0, n, n, n, ctypes.byref(one), arrays[0], n, arrays[1], n,
                    ctypes.byref(zero), arrays[2], n), "cublasSgemm")
            good(self.cudart.cudaEventRecord(end, None), "cudaEventRecord")
            good(self.cudart.cudaEventSynchronize(end), "cudaEventSynchronize")
            ms = ctypes.c_float()
            good(self.cudart.cudaEventElapsedTime(ctypes.byref(ms), start, end), "elapsed")
            if repeat >= 3:
                times.append(ms.value * 1e6 / LAUNCHES)
        for array in arrays:
            self.cudart.cudaFree(array)
        return statistics.median(times)


def torch_ns(torch, function):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    times = []
    for repeat in range(REPEATS + 3):
        start.record()
        for _ in range(LAUNCHES):
            function()
        end.record()
        end.synchronize()
        if repeat >= 3:
            times.append(start.elapsed_time(end) * 1e6 / LAUNCHES)
    return statistics.median(times)


def with_torch(out):
    """The sizes of kernels/: matmul 1024^3, softmax 4096 x 1024, sum 2^24."""
    names = ["torch matmul 1024 f32", "torch matmul 1024 f16", "torch softmax 4096x1024"]
    try:
        import torch
    except ImportError:
        out.update({name: {"absent": "PyTorch is not installed"} for name in names})
        return
    if not torch.cuda.is_available():
        out.update({name: {"absent": "PyTorch sees no GPU"} for name in names})
        return
    a, b = (torch.rand(1024, 1024, device="cuda") for _ in range(2))
    x = torch.rand(4096, 1024, device="cuda")
    for name, function in zip(names, (lambda: a @ b, lambda ah=a.half(), bh=b.half(): ah @ bh,
                                      lambda: torch.softmax(x, 1))):
        out[name] = {"time_ns": torch_ns(torch, function)}


def main():
    out = {}
    try:
        out["cublas sgemm 1024"] = {"time_ns": Cublas().sgemm_ns(1024)}
    except (RuntimeError, AttributeError, OSError) as error:
        out["cublas sgemm 1024"] = {"absent": str(error)}
    with_torch(out)
    json.dump(out, sys.stdout, indent=1)
    print()


main()
