#!/usr/bin/env bash
# Ten kernels as users write them, in files with host code (bench/users): what `keet-opt init` makes of
# each, and what a search without a model finds.
#
#   bench/users.sh [--budget N] [--seed N] [--out DIR] [--continue] [FILE.cu...]
#
# A contract that init cannot read off the host code is bench/users/NAME.contract: its pragma lines take
# the place of init's. Writes DIR/table.md (default results/users); runs go to keet-out/users.
set -euo pipefail
cd "$(dirname "$0")/.."
./setup.sh --run
exec python3 bench/users/users.py "$@"
