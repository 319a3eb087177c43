#!/usr/bin/env bash
# usage: cuda_bindings.sh folder-of-libcuda.so.1
# NVIDIA's own Python bindings of the driver API, unmodified, on the software driver: they look up
# every function through cuGetProcAddress, as they do on a card. Installed into .deps at first use;
# exit code 77 (skipped) where that cannot be done.
set -euo pipefail
driver=$1
here=$(cd "$(dirname "$0")" && pwd)
site=$here/../../.deps/cuda-bindings

if ! PYTHONPATH=$site python3 -c 'from cuda.bindings import driver' 2>/dev/null; then
    if ! python3 -m pip install --quiet --disable-pip-version-check --target "$site" \
        'cuda-bindings==13.0.*' >&2; then
        echo "SKIPPED: cuda-bindings is not installed and cannot be"
        exit 77
    fi
fi
export PYTHONPATH=$site LD_LIBRARY_PATH=$driver KEET_CUDA_THREADS=1
exec python3 "$here/cuda_bindings.py"
