#!/usr/bin/env bash
# Everything there is to check on a machine with a GPU, in under 8 minutes: doctor; the tests of the
# label gpu; each kernel on emulator and GPU, results and counters; the time model against measured
# times of at least 300 variants; matmul.cu with a budget of 50; cuBLAS and PyTorch where present.
#
#   bench/gpu_check.sh                   writes results/gpu/<GPU>-<date>/, README.md first
#   bench/gpu_check.sh --dry-run [...]   the same steps on the software driver, in a temporary folder
#
# Further arguments go to gpu_check/check.py: --seconds N, --variants N, --budget N, --jobs N, and
# kernels. Exit code 1: something does not hold, and the report says what; 3: there is no GPU.
set -euo pipefail
cd "$(dirname "$0")/.."
program=${KEET_PROGRAM:-}
dry=
if [ "${1:-}" = --dry-run ]; then
    dry=1
    shift
fi
if [ -z "$program" ]; then
    ./setup.sh --run
    cmake --preset release >/dev/null
    cmake --build --preset release >/dev/null
    program=$PWD/build/release/keet-opt
fi
if [ -n "$dry" ]; then
    export KEET_CUDA_DRIVER=${KEET_CUDA_DRIVER:-$(dirname "$program")/libkeet-cuda.so}
    out=$(mktemp -d "${TMPDIR:-/tmp}/keet-gpu-check.XXXXXX")
    echo "gpu_check: DRY RUN on the software driver, in $out: no number is of a GPU"
else
    if [ -n "${KEET_CUDA_DRIVER:-}" ]; then
        echo "gpu_check: KEET_CUDA_DRIVER is set: for the software driver say --dry-run" >&2
        exit 2
    fi
    if ! gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1) ||
        [ -z "$gpu" ]; then
        echo "gpu_check: no GPU answers here (nvidia-smi); keet-opt doctor says more, and" \
            "bench/gpu_check.sh --dry-run goes through all steps without one" >&2
        exit 3
    fi
    out=results/gpu/$(echo "$gpu" | tr -cs 'A-Za-z0-9\n' '-')-$(date -u +%Y%m%d-%H%M)
    mkdir -p "$out"
fi
status=0
python3 bench/gpu_check/check.py --program "$program" --out "$out" "$@" || status=$?
rm -rf "$out/work"
exit "$status"
