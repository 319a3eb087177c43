#!/usr/bin/env bash
# What asking and telling the search costs in trees of 1000, 10000 and 100000 synthetic nodes.
#
#   bench/search.sh [--out DIR]
#
# Writes DIR/cost.md (default results/search). Minutes of processor time; what else the machine does
# counts little, since the clock is the thread's own.
set -euo pipefail
cd "$(dirname "$0")/.."
out=results/search
while [ $# -gt 0 ]; do
    case $1 in
    --out) out=$2; shift 2 ;;
    *) echo "search.sh: unknown option $1; see the head of the file" >&2; exit 2 ;;
    esac
done
./setup.sh --run
cmake --preset release >/dev/null
cmake --build --preset release --target search_bench >/dev/null
mkdir -p "$out"
python3 - <<'PY' >"$out/cost.part"
import sys
sys.path.insert(0, "bench")
import stamp
processor = stamp.cpuinfo().get("model name", "unknown")
print(f"""# What the search costs

`bench/search.sh` at {stamp.commit("search", "bench/search")} on {processor}. The landscape stands in
[bench/search/bench.c](../../bench/search/bench.c). Means and 99th percentiles over the last 500 asks, and
tells, before the tree has so many nodes; processor time of the thread, about 0.3 us of which is the
reading of the clock.

| policy | nodes | us an ask | 99% | us a tell | 99% | bytes a node |
|---|--:|--:|--:|--:|--:|--:|""")
PY
./build/release/search_bench >>"$out/cost.part"
mv "$out/cost.part" "$out/cost.md"
echo "wrote $out/cost.md"
