#!/usr/bin/env bash
# How far a search without a model is from what is known to be possible: for every task of the suite the
# best known version (bench/ceilings/<task>.cu, by whatever means it was made), checked, and what mcts
# finds within 30, 100 or more evaluations, by the same clock.
#
#   bench/ceilings.sh [--budget N] [--seed N] [--jobs N] [--out DIR] [--keep] [--continue] [KERNEL.cu...]
#
# One search a task, of --budget evaluations (default 100); what it had after 30 of them is read from its
# database. Writes DIR/ceilings.md and DIR/ceilings.json (default results/ceilings); runs go to
# keet-out/ceilings. --keep puts what was found in the place of a best known version that is slower, and
# makes the table from the versions as they then are. --continue keeps the runs that have ended.
set -euo pipefail
cd "$(dirname "$0")/.."
./setup.sh --run
cmake --preset release >/dev/null
cmake --build --preset release --target keet-opt >/dev/null
exec python3 bench/ceilings/ceilings.py "$@"
