#!/usr/bin/env bash
# keet-opt explain on a kernel and on profiles: what a reader must find in the output.
#
#   verb.sh KEET_OPT [large]      large: kernels of several launches, other sizes and contents
set -euo pipefail
keet=$1
part=${2-}
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
expect()
{
    grep -qF -- "$1" <<<"$out" || { echo "missing: $1"; echo "$out"; exit 1; }
}
refuse()
{
    ! grep -qF -- "$1" <<<"$out" || { echo "not wanted: $1"; echo "$out"; exit 1; }
}
if [ "$part" = large ]; then
    # Several launches: where the time goes comes first, then three findings; -v shows the rest.
    out=$("$keet" explain --threads 2 ../../kernels/attention.cu)
    expect "  of the launches' time  launches        each  kernel"
    expect "scores, 32 x 32 x 8 blocks of 16 x 16 x 1"
    expect "  softmax: load/store unit "
    grep -qE '^  [0-9]+ more findings? with less to gain: -v shows' <<<"$out" || { echo "$out"; exit 1; }
    [ "$(grep -cE '^  [0-9]\. \[' <<<"$out")" = 3 ] || { echo "not three findings: $out"; exit 1; }
    [ "$(grep -n "of the launches' time" <<<"$out" | cut -d: -f1)" -lt "$(grep -n '1\. \[' <<<"$out" | cut -d: -f1)" ]
    out=$("$keet" explain -v --threads 2 ../../kernels/attention.cu 2>/dev/null)
    [ "$(grep -cE '^  [0-9]\. \[' <<<"$out")" -gt 3 ] || { echo "not all findings: $out"; exit 1; }
    # Figures are of one launch: 4.1k threads walk rows, not the sum over launches.
    expect "softmax: 4.1k threads"
    out=$("$keet" explain --threads 2 --sweep S=64,128,256 ../../kernels/attention.cu)
    grep -qE '^S = 128: scores [0-9.]+ us, softmax [0-9.]+ us, weigh [0-9.]+ us\.$' <<<"$out" || { echo "$out"; exit 1; }
    # Without each cause, what limits then; other sizes and contents, which take the time of files that say so.
    bags=../../bench/explain/asked/bags.cu
    out=$("$keet" explain --threads 2 -v --what-if $bags)
    expect " in detail: "
    expect "units, and the time that each needs by itself: DRAM "
    grep -qE '^ +[0-9.]+ us \([0-9.]+x\) without the limit of DRAM: limited by (waiting for memory|L2)' <<<"$out" || { echo "$out"; exit 1; }
    other()
    {
        local said now
        said=$(grep -F "$1" <<<"$out" | sed -E 's/.*: ([0-9.]+) us, .*/\1/')
        sed "$2" "${3:-$bags}" >"$folder/other.cu"
        now=$("$keet" explain --threads 2 "$folder/other.cu" | sed -nE 's/^time ([0-9.]+) us .*/\1/p')
        awk -v a="$said" -v b="$now" 'BEGIN { exit !(a > 0 && b > 0 && a / b < 1.01 && b / a < 1.01) }' || { echo "$1: $said, not $now"; exit 1; }
    }
    other "BAGS = 6144 (3/8 times)" 's/BAGS = 16384/BAGS = 6144/'
    other "IDS = skewed(0, 262143), 80%" 's/= integers(0, ITEMS-1)/= skewed(0, ITEMS-1)/'
    other "IDS = constant(131071), all the same" 's/= integers(0, ITEMS-1)/= constant(ITEMS\/2-1)/'
    out=$("$keet" explain --threads 2 --what-if ../../kernels/sum.cu)
    other "CHUNK = 512, not 1024" 's/CHUNK = 1024/CHUNK = 512/' ../../kernels/sum.cu
    # A move that a finding asks for is made and run: its text, timed by itself, takes the time that is said.
    out=$("$keet" explain --threads 2 --json --what-if kernels/serial_row_sum.cu)
    python3 - "$keet" "$folder/moved.cu" 3<<<"$out" <<'END' || exit 1
import json, os, subprocess, sys
keet, path = sys.argv[1:]
tried = [run for run in json.load(os.fdopen(3))["what_if"] if "source" in run]
assert tried and all(run["change"].startswith("the move ") for run in tried), tried
open(path, "w").write(tried[0]["source"])
now = json.loads(subprocess.run([keet, "run", "--json", "--threads", "2", path], capture_output=True, check=True).stdout)
assert now["verdict"] == "ok" and abs(now["time_ns"] / tried[0]["time_ns"] - 1) < 0.01, (now["time_ns"], tried[0]["time_ns"])
END
    # Lanes that read both halves of what neighbours read use all of each sector: what is touched once comes once.
    out=$("$keet" explain --threads 2 blind2/kernels/halve_precision.cu)
    refuse "[coalescing"
    # A function of one approximate instruction has no cheaper form.
    out=$("$keet" explain --threads 2 blind/kernels/gravity_tiles.cu)
    refuse "[special_functions"
    # What the model of time says is said in full, also above 33 times.
    out=$("$keet" explain --threads 2 kernels/atomic_max.cu)
    [ "$(sed -nE 's/.*\[atomics, about ([0-9]+)\.[0-9]*x.*/\1/p' <<<"$out")" -gt 40 ] || { echo "$out"; exit 1; }
    out=$("$keet" explain --threads 2 --json --what-if $bags)
    expect '"change": "IDS = sorted(0, 262143), in rising order"'
    exit
fi
out=$("$keet" explain --threads 2 kernels/serial_row_sum.cu)
expect "latency-bound"
expect "The task is memory-bound (0.25 flops per byte), but this kernel is latency-bound: 100 of the chip's 132 multiprocessors have no block; over the chip, "
! grep -qE "Confidence|theory goes first|FP64 pipe" <<<"$out" || { echo "noise: $out"; exit 1; }
expect "Speed of light: load/store unit"
expect "Figures: load/store unit "
expect "% (of the 32 SMs that have a block); "
expect "31 registers; 64 of 64 warps fit (limit: "
expect " resident; "
expect "a global load touches 32 sectors in 32 wavefronts"
expect "Little's law: full DRAM bandwidth needs 8.33 KB in flight per SM."
expect "1. [serial_rows"
expect "Line 17:"
expect "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum = "
# A sentence is true of the kernel that it is about: loads of fragments are held against tensor instructions; distinct
# bytes are those of the loads; lanes that share a row do not walk it alone; block sums are not told to be block sums.
out=$("$keet" explain -v --threads 2 kernels/shared_fragments.cu)
expect "2.0 loads of a warp from shared memory per tensor instruction (sampled)"
refuse "per arithmetic instruction"
out=$("$keet" explain -v --threads 2 kernels/reload_small_table.cu)
expect "to use 16.4k distinct ones, 1024 times each (counted)"
expect "keet__global_loaded_bytes.sum = 16384 byte (counted)"
out=$("$keet" explain -v --threads 2 kernels/rows_of_four_lanes.cu)
refuse "serial_rows"
refuse "far apart"
out=$("$keet" explain -v --threads 2 kernels/coalesce_gather.cu)
expect "): a warp's lanes are at several places in memory, some side by side."
refuse "far apart"
out=$("$keet" explain -v --threads 2 kernels/latency_unrolled_chase.cu)
expect "1. [latency, "
refuse "coalescing"
out=$("$keet" explain -v --threads 2 kernels/atomic_after_shared.cu)
expect "Line 15:"
expect "Blocks combine in shared memory first as it is"
out=$("$keet" explain -v --threads 2 kernels/clean_dot_bytes.cu)
expect "No finding."
# Nothing bounds a finding from a profile that knows no distinct bytes: no figure.
out=$("$keet" explain ncu/raw_stalls.csv)
expect "1. [latency] "
! grep -q "at most" <<<"$out" || { echo "a bound from nothing: $out"; exit 1; }
out=$("$keet" explain --md ncu/raw_several.csv)
expect '| `first` | 2 | 100.0% |'
expect '| `second` |'
out=$("$keet" explain ncu/raw_plain.csv ncu/raw_thousands.csv)
expect "raw_thousands.csv against ncu/raw_plain.csv"
expect "dram__bytes.sum"
out=$("$keet" explain --json ncu/details_plain.csv)
expect '"kernel": "gemm"'
expect '"time_ns": 25600.0'
# The details page says how busy memory and compute were, without a name of the part.
out=$("$keet" explain ncu/details_busy.csv)
expect "This kernel keeps memory and pipes busy alike: memory is 92% busy, compute 92% (measured)."
out=$(sed 's/"Compute (SM) Throughput","%","92.10"/"Compute (SM) Throughput","%","31.00"/' ncu/details_busy.csv \
    >"$folder/memory.csv" && "$keet" explain "$folder/memory.csv")
expect "This kernel is memory-bound: memory is 92% busy, compute 31% (measured)."
out=$("$keet" explain ncu/none.csv 2>&1) && exit 1
expect "no Nsight Compute table"
out=$("$keet" explain ncu/raw_plain.csv kernels/atomic_sum.cu 2>&1) && exit 1
expect "explain takes one kernel"
# A range of more numbers than an int64_t counts has no parts.
cat >"$folder/wide.cu" <<'END'
#pragma keet size   N = 4096
#pragma keet check  N = 100
#pragma keet in     X : i64[N] = integers(-9223372036854775807 - 1, 9223372036854775807)
#pragma keet out    Y : i64[N]
#pragma keet launch copy<<<ceil_div(N, 128), 128>>>(X, Y, N)
__global__ void copy(const long long *x, long long *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}
END
out=$("$keet" explain --threads 2 --what-if "$folder/wide.cu")
expect "N = 1536 (3/8 times)"
refuse "of the range"
# Two versions, and one kernel over a size.
sed 's/Y\[i\] = 0;/float sum = 0;/; s/Y\[i\] += /sum += /' \
    kernels/store_accumulate.cu >"$folder/better.cu"
echo '// the end' >>"$folder/better.cu"
sed -i 's/^}$/    Y[i] = sum;\n}/' "$folder/better.cu"
out=$("$keet" explain --threads 2 kernels/store_accumulate.cu "$folder/better.cu")
expect "x faster, "
expect "Paid: waiting for global memory took "
expect "No longer a finding: dead_stores"
out=$("$keet" explain --threads 2 --sweep N=1024,8192,65536,524288,4194304 kernels/clean_copy.cu)
expect "over N, 5 values"
expect "the knee is at "
expect "4194304"
out=$("$keet" explain --sweep Q=1,2,3 kernels/clean_copy.cu 2>&1) && exit 1
expect 'has no `size Q = ...` and no `tune Q = ...`'
out=$("$keet" explain --threads 2 kernels/coalesce_structures.cu)
grep -qE '1\. \[coalescing.* Without it: [0-9.]+ us, limited by ' <<<"$out" || { echo "$out"; exit 1; }
