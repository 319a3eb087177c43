#!/usr/bin/env bash
# The tuner's surrogate on recorded tuning spaces, replayed as a device, beside random sampling.
#
#   bench/spaces.sh [--seeds N] [--out DIR] [--note TEXT] CACHE.json.gz...
#
# A cache is a file of Kernel Tuner, or results in T4. The public ones are in the benchmark hub of the
# AutoTuning association (https://github.com/AutoTuningAssociation/benchmark_hub, folder cachefiles); they
# are not kept here. gemm (RTX 2080 Ti, RTX 3090) and dedispersion are for developing, all others are for
# a judgement at the end. Writes DIR/spaces.md (default results/spaces).
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset release >/dev/null
cmake --build --preset release --target spaces_bench >/dev/null
exec python3 bench/spaces/spaces.py --bench "$(find build/release -name spaces_bench -type f)" "$@"
