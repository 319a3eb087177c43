#!/usr/bin/env bash
# What storing a node, looking for an equal one, and resuming cost in runs of up to 100000 synthetic
# nodes.
#
#   bench/store.sh [--out DIR]
#
# Writes DIR/cost.md (default results/store). Needs 2 GB in keet-out/ for minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
out=results/store
while [ $# -gt 0 ]; do
    case $1 in
    --out) out=$2; shift 2 ;;
    *) echo "store.sh: unknown option $1; see the head of the file" >&2; exit 2 ;;
    esac
done
./setup.sh --run
cmake --preset release >/dev/null
cmake --build --preset release --target store_bench >/dev/null
mkdir -p "$out" keet-out
python3 - <<'PY' >"$out/cost.part"
import sys
sys.path.insert(0, "bench")
import stamp
processor = stamp.cpuinfo().get("model name", "unknown")
print(f"""# What the store costs

`bench/store.sh` at {stamp.commit("src/store", "search", "bench/store")} on {processor}. The nodes stand in
[bench/store/bench.c](../../bench/store/bench.c). Means over the last 500 nodes before the run has so many;
processor time of the thread.

| nodes | us an insert | us to look for an equal node | bytes a node |
|--:|--:|--:|--:|""")
PY
./build/release/store_bench keet-out >>"$out/cost.part"
mv "$out/cost.part" "$out/cost.md"
echo "wrote $out/cost.md"
