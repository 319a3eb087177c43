#!/usr/bin/env bash
# usage: numba.sh libkeet-cuda.so
# Numba's CUDA target and the tests that it ships, unmodified, on the software driver: a driver-API
# program of many parts (contexts, streams, events, pinned memory, the PTX linker, launches) and
# kernels that NVVM, not NVRTC, compiled. Installed into .deps/numba at first use (80 MB, 10 s);
# exit code 77 (skipped) where that cannot be done, or where no toolkit has NVVM.
set -euo pipefail
driver=$(realpath "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
site=$root/.deps/numba

skip()
{
    echo "SKIPPED: $1"
    exit 77
}

if ! PYTHONPATH=$site python3 -c 'import numba' 2>/dev/null; then
    mkdir -p "$root/.deps"
    fresh=$(mktemp -d "$root/.deps/new.XXXXXX")
    trap 'rm -rf "$fresh"' EXIT
    python3 -m pip install --quiet --disable-pip-version-check --target "$fresh" \
        'numba==0.68.*' >&2 || skip "numba is not installed and cannot be"
    rm -rf "$site"
    mv "$fresh" "$site"
fi
for toolkit in "${KEET_CUDA:-}" "${CUDA_HOME:-}" /usr/local/cuda; do
    [ -n "$toolkit" ] && [ -d "$toolkit/nvvm/libdevice" ] && break
    toolkit=
done
[ -n "$toolkit" ] || skip "no CUDA toolkit here has NVVM"

# Numba's own tests: of what the driver does. What it refuses (managed and mapped host memory, IPC,
# libcudadevrt, which is machine code) has tests too; they are not here.
modules=(
    doc_examples.test_vecadd doc_examples.test_matmul doc_examples.test_reduction
    doc_examples.test_ufunc doc_examples.test_cpu_gpu_compat
    cudapy.test_blackscholes cudapy.test_array_methods
    cudadrv.test_cuda_driver cudadrv.test_streams cudadrv.test_events
    cudadrv.test_cuda_memory.TestCudaMemoryFunctions cudadrv.test_context_stack
    cudapy.test_atomics.TestCudaAtomics.test_atomic_add_float_2
    cudapy.test_atomics.TestCudaAtomics.test_atomic_max_float32
    cudapy.test_sm cudapy.test_transpose cudapy.test_print
)
export PYTHONPATH=$site CUDA_HOME=$toolkit NUMBA_CUDA_DRIVER=$driver KEET_CUDA_THREADS=1
exec python3 - "${modules[@]/#/numba.cuda.tests.}" <<'PYTHON'
import sys
import unittest

names = sys.argv[1:]
suite = unittest.defaultTestLoader.loadTestsFromNames(names)
result = unittest.TextTestRunner(verbosity=1).run(suite)
skipped = len(result.skipped)
print(f"Numba on the software driver: {result.testsRun - skipped} of its own tests ran")
for test, reason in result.skipped:
    print(f"skipped by Numba: {test}: {reason}")
sys.exit(0 if result.wasSuccessful() and result.testsRun - skipped >= 20 else 1)
PYTHON
