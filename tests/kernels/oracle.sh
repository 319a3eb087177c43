#!/usr/bin/env bash
# Runs one kernel file on the emulator at its first check shape and compares the result with
# NumPy in double precision.   oracle.sh KEET-OPT KERNEL.cu
set -euo pipefail
python=
for candidate in /usr/bin/python3 python3; do
    "$candidate" -c 'import numpy' 2>/dev/null && { python=$candidate; break; }
done
[ -n "$python" ] || { echo "skipped: no Python with NumPy (setup.sh installs it)"; exit 77; }
dump=$(mktemp -d)
trap 'rm -rf "$dump"' EXIT
"$1" run "$2" --device emu --dump "$dump" >"$dump/log" 2>&1 || { cat "$dump/log"; exit 1; }
"$python" "$(dirname "$0")/oracle.py" "$2" "$dump"
