#!/usr/bin/env bash
# Explains every kernel of tests/explain/ on the emulator and writes the confusion table to
# results/explain/confusion.md.
#
#   bench/explain_library.sh [PRESET]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
table=$(mktemp)
trap 'rm -f "$table"' EXIT
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset" --target test_library >/dev/null
test=$(find "build/$preset" -name test_library -type f)
KEET_CONFUSION=$table "$test"
mkdir -p results/explain
{
    echo "# Planted bottlenecks: what was planted, and what the explanation names first"
    echo
    echo "\`bench/explain_library.sh\` at commit $(git rev-parse --short HEAD), emulated H100: counts exact or sampled,"
    echo "times modelled. These kernels were looked at, and some of them rewritten or relabelled, while the tools and"
    echo "their thresholds were tuned: a regression test with known answers, not an estimate for unseen kernels."
    echo
    cat "$table"
} >results/explain/confusion.md
