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
    echo "Command: \`bench/explain_library.sh\`, commit $(git rev-parse --short HEAD), emulated H100"
    echo "(counts exact or sampled, times modelled). The kernels were written before the thresholds were last adjusted and were looked at while adjusting"
    echo "them: this is a regression test with known answers, not an estimate for unseen kernels."
    echo
    cat "$table"
} >results/explain/confusion.md
