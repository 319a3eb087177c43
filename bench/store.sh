#!/usr/bin/env bash
# What storing a node, looking for an equal one, and resuming cost in runs of up to 100000 synthetic
# nodes.
#
#   bench/store.sh [--out DIR]
#
# Writes DIR/cost.md (default results/store). Needs 2 GB in keet-out/ for minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
. bench/cost_table.sh
mkdir -p keet-out
cost_table store_bench keet-out <<'HEAD'
# What the store costs

`bench/store.sh` at @COMMIT src/store search bench/store@ on @PROCESSOR@. The nodes stand in
[bench/store/bench.c](../../bench/store/bench.c). Means over the last 500 nodes before the run has so many;
processor time of the thread.

| nodes | us an insert | us to look for an equal node | bytes a node |
|--:|--:|--:|--:|
HEAD
