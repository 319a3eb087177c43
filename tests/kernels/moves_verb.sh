#!/usr/bin/env bash
# keet-opt run --moves: what is offered, and each reason of a refusal; the same as JSON.
set -euo pipefail
keet=$1 kernels=$2
text=$("$keet" run "$kernels/batchnorm_relu.cu" --moves)
expect()
{
    grep -qxE -- "$1" <<<"$text" || { echo "missing: $1"; echo "$text"; exit 1; }
}
expect '[0-9]+ moves are offered'
expect ' +parallel_reduce +one block per c in statistics'
# One kernel of two is offered the move; the reason of the other is there too.
expect ' +parallel_reduce +normalise: no loop to spread over lanes'
expect ' +privatize +statistics has no atomicAdd'
expect ' +tune +other values of BLOCK \([0-9]+ times\)'
# No reason twice.
[ -z "$(sed -n '/^refused/,$p' <<<"$text" | sort | uniq -d)" ]
"$keet" run "$kernels/batchnorm_relu.cu" --moves --json | python3 -c '
import json, sys
all = json.load(sys.stdin)
assert {"move": "privatize", "why": "statistics has no atomicAdd"} in all["refused"]
assert {"move": "parallel_reduce", "proposer": "rewriter", "what": "one block per c in statistics"} in all["offered"]
assert len(all["offered"]) == int(sys.argv[1]), len(all["offered"])' "${text%% *}"
