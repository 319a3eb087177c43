#!/usr/bin/env bash
# wgmma by CuTe's atoms: its layouts of shared memory, along k and transposed, with each swizzle, and its descriptors;
# its tensor copies; and a collective of CUTLASS, which copies for both blocks of a cluster. All against NumPy; the
# sanitizers say nothing.   cute.sh KEET-OPT
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -n "${KEET_CUTLASS:-}" ] || [ -d "$here/../../.deps/cutlass/include" ] || { echo "skipped: no CUTLASS (setup.sh --cutlass)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/cute"
for swizzle in 0 32 64 128; do
    for along in 0 1; do
        kernel=$work/cute/wgmma_cute.cu
        sed "s/SWIZZLE = 128 in/SWIZZLE = $swizzle in/; s/ALONG_K = 1 in/ALONG_K = $along in/" "$here/cute/wgmma_cute.cu" >"$kernel"
        bash "$here/oracle.sh" "$1" "$kernel"
    done
done
for name in tma_cute cutlass_collective; do
    bash "$here/oracle.sh" "$1" "$here/cute/$name.cu"
done
