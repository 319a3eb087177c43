#!/usr/bin/env bash
# The suite: every kernel in kernels/ to the end, by one or more policies, at equal budget.
#
#   bench/suite.sh [--budget N] [--seed N]... [--policy NAME]... [--jobs N] [--out DIR] [--continue]
#                  [KERNEL.cu...]
#
# Without --policy: all five; without --seed: 1. Writes DIR/suite.md and DIR/suite.json (default
# results/suite); per-run files go to keet-out/suite. On the emulator all times are modelled, and
# evaluations are kept over runs (--reuse), a pool for each kernel; what a pool holds changes no
# result. --continue keeps the runs that have ended: for one that was interrupted, with the same
# options and sources.
set -euo pipefail
cd "$(dirname "$0")/.."
budget=30 seeds=() jobs=$(nproc) out=results/suite policies=() kernels=() keep=
while [ $# -gt 0 ]; do
    case $1 in
    --budget) budget=$2; shift 2 ;;
    --seed) seeds+=("$2"); shift 2 ;;
    --policy) policies+=("$2"); shift 2 ;;
    --jobs) jobs=$2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    --continue) keep=1; shift ;;
    -*) echo "suite.sh: unknown option $1; see the head of the file" >&2; exit 2 ;;
    *) kernels+=("$1"); shift ;;
    esac
done
[ ${#seeds[@]} -gt 0 ] || seeds=(1)
[ ${#policies[@]} -gt 0 ] || policies=(mcts random greedy beam evolution)
[ ${#kernels[@]} -gt 0 ] || kernels=(kernels/*.cu)
./setup.sh --run
cmake --preset release >/dev/null
cmake --build --preset release --target keet-opt >/dev/null

work=keet-out/suite
mkdir -p "$work/pools" "$out"
[ -n "$keep" ] || rm -f "$work"/*.json "$work"/pools/*
one() { # kernel policy budget seed work
    local name pool
    name=$(basename "$1" .cu)-$2-$4
    pool=$5/pools/$(basename "$1" .cu).keet.db
    [ ! -f "$5/$name.json" ] || return 0
    rm -f "$5/$name.db" "$5/$name.db-wal" "$5/$name.db-shm"
    if ./build/release/keet-opt "$1" --budget "$3" --policy "$2" --seed "$4" --threads 1 --json -q \
        --reuse "$pool" --db "$5/$name.db" -o "$5/$name.cu" >"$5/$name.part" 2>"$5/$name.err"; then
        mv "$5/$name.part" "$5/$name.json"
        echo "ok    $name"
    else
        echo "ERROR $name: $(tail -n 1 "$5/$name.err")"
    fi
}
export -f one
for seed in "${seeds[@]}"; do
    for kernel in "${kernels[@]}"; do
        for policy in "${policies[@]}"; do
            printf '%s\0' "$kernel" "$policy" "$budget" "$seed" "$work"
        done
    done
done | xargs -0 -n 5 -P "$jobs" bash -c 'one "$@"' _
list() { (IFS=,; echo "$*"); }
python3 bench/suite_table.py --work "$work" --out "$out" --budget "$budget" \
    --seeds "$(list "${seeds[@]}")" --policies "$(list "${policies[@]}")" "${kernels[@]}"
