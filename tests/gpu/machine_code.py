#!/usr/bin/env python3
"""Programs that make machine code by nvcc or ptxas and load it by the driver, on the software driver: the two of its
folder hand PTX on. The kernel is launched as CUDA 3 had it, as PyCUDA may.
usage: machine_code.py SWDRIVER_FOLDER"""
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile

folder = os.path.abspath(sys.argv[1])
if not shutil.which("nvcc") and not os.path.exists("/usr/local/cuda/bin/nvcc"):
    print("skipped: no nvcc")
    sys.exit(77)
os.environ["PATH"] = f"{folder}/bin:{os.environ['PATH']}"
cuda = ctypes.CDLL(f"{folder}/libcuda.so.1")

SOURCE = """extern "C" __global__ void twice(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= 2;
}
"""


def call(name, *args):
    code = getattr(cuda, name)(*args)
    assert code == 0, (name, code)


def runs(path, nr=100):
    """The kernel of a file doubles numbers."""
    module, function, x = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
    numbers = (ctypes.c_float * nr)(*range(nr))
    call("cuModuleLoad", ctypes.byref(module), path.encode())
    call("cuModuleGetFunction", ctypes.byref(function), module, b"twice")
    call("cuMemAlloc_v2", ctypes.byref(x), ctypes.c_size_t(4 * nr))
    call("cuMemcpyHtoD_v2", x, numbers, ctypes.c_size_t(4 * nr))
    call("cuFuncSetBlockShape", function, 32, 1, 1)
    call("cuParamSetSize", function, 12)
    call("cuParamSetv", function, 0, ctypes.byref(x), 8)
    call("cuParamSeti", function, 8, nr)
    call("cuLaunchGrid", function, (nr + 31) // 32, 1)
    call("cuMemcpyDtoH_v2", numbers, x, ctypes.c_size_t(4 * nr))
    assert list(numbers) == [2 * i for i in range(nr)], list(numbers)
    call("cuModuleUnload", module)


context = ctypes.c_void_p()
call("cuInit", 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call("cuCtxSetCurrent", context)
with tempfile.TemporaryDirectory() as place:
    os.chdir(place)
    with open("k.cu", "w") as file:
        file.write(SOURCE)
    subprocess.run(["nvcc", "--cubin", "-arch", "sm_90", "k.cu"], check=True)
    with open("k.cubin") as file:
        text = file.read()
    assert ".entry twice" in text
    runs(f"{place}/k.cubin")
    with open("k.ptx", "w") as file:
        file.write(text)
    subprocess.run(["ptxas", "-v", "--gpu-name=sm_90", "k.ptx", "-o", "k.machine"], check=True, capture_output=True)
    runs(f"{place}/k.machine")
    with open("bad.ptx", "w") as file:
        file.write(text.replace("ret;", "return;"))
    bad = subprocess.run(["ptxas", "--gpu-name=sm_90", "bad.ptx", "-o", "bad.machine"], capture_output=True, check=False)
    assert bad.returncode != 0 and not os.path.exists("bad.machine"), bad
    assert "release" in subprocess.run(["ptxas", "--version"], capture_output=True, text=True, check=True).stdout
    # A program links the shared runtime, and runs on the software driver's.
    with open("main.cu", "w") as file:
        file.write(SOURCE + "int main() { int n = 0; return cudaGetDeviceCount(&n) != cudaSuccess || n < 1; }\n")
    subprocess.run(["nvcc", "-arch=sm_90", "-o", "program", "main.cu"], check=True)
    subprocess.run(["./program"], check=True, env=dict(os.environ, LD_LIBRARY_PATH=folder))
print("machine code is PTX")
