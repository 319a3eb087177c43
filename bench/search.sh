#!/usr/bin/env bash
# What asking and telling the search costs in trees of 1000, 10000 and 100000 synthetic nodes.
#
#   bench/search.sh [--out DIR]
#
# Writes DIR/cost.md (default results/search). Minutes of processor time; what else the machine does
# counts little, since the clock is the thread's own.
set -euo pipefail
cd "$(dirname "$0")/.."
. bench/cost_table.sh
cost_table search_bench <<'HEAD'
# What the search costs

`bench/search.sh` at @COMMIT search bench/search@ on @PROCESSOR@. The landscape stands in
[bench/search/bench.c](../../bench/search/bench.c). Means and 99th percentiles over the last 500 asks, and
tells, before the tree has so many nodes; processor time of the thread, about 0.3 us of which is the
reading of the clock.

| policy | nodes | us an ask | 99% | us a tell | 99% | bytes a node |
|---|--:|--:|--:|--:|--:|--:|
HEAD
