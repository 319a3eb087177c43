#!/usr/bin/env bash
# Does the time model order well-known optimisation ladders as their authors measured them?
#
#   bench/ladders.sh [--out DIR] [--device NAME] [LADDER...]
#
# Runs every rung of bench/ladders/ladders.txt once, and writes DIR/ladders.md and DIR/ladders.json (default
# results/ladders). Fails when a ladder's order differs by more than one neighbouring pair.
set -euo pipefail
cd "$(dirname "$0")/.."
out=results/ladders device=emu names=()
while [ $# -gt 0 ]; do
    case $1 in
    --out) out=$2; shift 2 ;;
    --device) device=$2; shift 2 ;;
    -*) echo "ladders.sh: unknown option $1; see the head of the file" >&2; exit 2 ;;
    *) names+=("$1"); shift ;;
    esac
done
./setup.sh --run
cmake --preset release >/dev/null
cmake --build --preset release --target keet-opt >/dev/null
mkdir -p "$out"
python3 bench/ladders/order.py --keet-opt build/release/keet-opt --device "$device" --out "$out" "${names[@]}"
