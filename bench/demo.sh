#!/usr/bin/env bash
# The demo: set up, build, optimise kernels/matmul.cu for 50 variants. No GPU and no key needed.
# usage: bench/demo.sh [more keet-opt options]
set -euo pipefail
cd "$(dirname "$0")/.."
./setup.sh --run
cmake --preset release >/dev/null
cmake --build --preset release --target keet-opt
mkdir -p keet-out
exec ./build/release/keet-opt kernels/matmul.cu --budget 50 --seed 1 \
    --db keet-out/matmul.keet.db -o keet-out/matmul.best.cu "$@"
