#!/usr/bin/env bash
# Runs one kernel file on the emulator: the sanitizers say nothing of it, and the result at its first
# check shape agrees with NumPy in double precision.   oracle.sh KEET-OPT KERNEL.cu
set -euo pipefail
dump=$(mktemp -d)
trap 'rm -rf "$dump"' EXIT
"$1" run "$2" --device emu --sanitize all --dump "$dump" >"$dump/log" 2>&1 || { cat "$dump/log"; exit 1; }
grep -q '^0 found' "$dump/log" || { cat "$dump/log"; exit 1; }
python3 "$(dirname "$0")/oracle.py" "$2" "$dump"
