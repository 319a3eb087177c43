#!/usr/bin/env bash
# usage: sass.sh sass_facts
# Our reading of machine code (registers, shared memory, kinds of instructions by source line) beside
# the text of NVIDIA's nvdisasm. nvdisasm is the toolkit's, or NVIDIA's
# wheel (5 MB), which goes into .deps at first use; exit code 77 (skipped) where neither is to be had.
set -euo pipefail
facts=$1
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
site=$root/.deps/nvdisasm

nvdisasm=
for found in "$(command -v nvdisasm || true)" "${CUDA_HOME:-/usr/local/cuda}/bin/nvdisasm" \
    "$site/nvidia/cu13/bin/nvdisasm"; do
    [ -n "$found" ] && [ -x "$found" ] && nvdisasm=$found && break
done
if [ -z "$nvdisasm" ]; then
    if ! python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$site" \
        'nvidia-cuda-nvdisasm>=13,<14' >&2; then
        echo "SKIPPED: no nvdisasm, and NVIDIA's wheel cannot be had"
        exit 77
    fi
    nvdisasm=$site/nvidia/cu13/bin/nvdisasm
    chmod +x "$nvdisasm"
fi
tasks=()
for name in attention conv2d dot embedding histogram layernorm matmul matmul_f16 nbody prefix_sum \
    softmax spmv_csr transpose; do
    tasks+=("$root/kernels/$name.cu")
done
# SASS_ALL=1: every kernel there is; the table of operations is of those too.
[ -z "${SASS_ALL:-}" ] || tasks=("$root"/kernels/*.cu "$root"/tests/explain/kernels/*.cu)
exec python3 "$here/sass.py" "$facts" "$nvdisasm" "${tasks[@]}"
