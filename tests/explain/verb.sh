#!/usr/bin/env bash
# keet-opt explain on a kernel and on profiles: what a reader must find in the output.
set -euo pipefail
keet=$1
cd "$(dirname "$0")"
expect()
{
    grep -qF -- "$1" <<<"$out" || { echo "missing: $1"; echo "$out"; exit 1; }
}
out=$("$keet" explain --threads 2 kernels/serial_row_sum.cu)
expect "latency-bound"
expect "Confidence 75%."
expect "Speed of light: load/store unit"
expect "Little's law: full DRAM bandwidth needs 8.33 KB in flight per SM."
expect "1. [serial_rows"
expect "Line 17:"
expect "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum = "
out=$("$keet" explain --md ncu/raw_several.csv)
expect '| `first` | 2 | 100.0% |'
expect '| `second` |'
out=$("$keet" explain ncu/raw_plain.csv ncu/raw_thousands.csv)
expect "raw_thousands.csv against ncu/raw_plain.csv"
expect "dram__bytes.sum"
out=$("$keet" explain --json ncu/details_plain.csv)
expect '"kernel": "gemm"'
expect '"time_ns": 25600.0'
out=$("$keet" explain ncu/none.csv 2>&1) && exit 1
expect "no Nsight Compute table"
out=$("$keet" explain ncu/raw_plain.csv kernels/atomic_sum.cu 2>&1) && exit 1
expect "explain takes one kernel"
