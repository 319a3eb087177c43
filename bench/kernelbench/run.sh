#!/usr/bin/env bash
# KernelBench without a card: a search for each problem that has plain kernels of ours (bench/time/points.txt, chains.txt), at the
# problem's real sizes on the emulator, beside the times that KernelBench publishes for PyTorch on an H100.
#
#   bench/kernelbench/run.sh [--budget N] [--jobs N] [--out FOLDER] [NAME...]
#   bench/kernelbench/run.sh --plain [--jobs N] [--out FOLDER]      times the plain kernels, without a search; FOLDER/plain.md
#
# Default: --budget 20 --jobs 1, all problems, results/kernelbench. Writes FOLDER/real_sizes.md. May be killed: the same command goes on.
# The searches are in keet-out/kernelbench-BUDGET*.campaign; `keet-opt stop` ends one neatly, and the table is then made of what there
# is. WORK=PATH stands for keet-out/kernelbench. No model is asked, and neither PyTorch nor KernelBench is needed.
set -euo pipefail
cd "$(dirname "$0")/../.."
plain= budget=20 jobs=1 out=results/kernelbench names=()
while [ $# -gt 0 ]; do
    case $1 in
    --plain) plain=yes ;;
    --budget) budget=$2 && shift ;;
    --jobs) jobs=$2 && shift ;;
    --out) out=$2 && shift ;;
    -*) sed -n '2,10s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
    *) names+=("$1") ;;
    esac
    shift
done

build=$(realpath "${BUILD:-build/release}")
export KEET_LIBRARY=$build/libkeet.so PYTHONPATH=src/python PYTHONDONTWRITEBYTECODE=1
python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || python=python3
work=${WORK:-keet-out/kernelbench}
if [ -n "$plain" ]; then
    mkdir -p "$out" "$work"
    new=$(mktemp -p "$work")
    made=$(cd bench && python3 -c 'import stamp; print("on", stamp.processor())')
    {
        cat <<END
# KernelBench's problems at their real sizes: plain kernels, without a search and without a card

\`bench/kernelbench/run.sh --plain\` $made; seed 1. PyTorch's times are measured, by KernelBench on an H100
(results/timing/H100_Modal, PyTorch 2.9 eager). Ours are modelled, by emu:h100, of plain kernels: products and convolutions are not tuned,
and PyTorch's are. The emulator runs a sample of the blocks of each launch.

Three problems of level 2 are not there, because their output says nothing of a kernel:

- 66_Matmul_Dropout_Softmax draws random numbers in its dropout, so that two right kernels differ.
- 80_Gemm_Max_Subtract_GELU subtracts from the one maximum of each row the mean of that one number: the output is GELU of 0, which is 0,
  whatever the inputs.
- 83_Conv3d_GroupNorm_Min_Clamp_Dropout takes the smaller of its values and 0 and clamps that to 0 to 1: the output is 0, whatever the
  inputs, and what its dropout draws changes nothing.

What KernelBench published of two others is not of the problem that is there now:

- 12_Matmul_with_diagonal_matrices has 16.8 million multiplications; 2.68 ms is the time of a dense product.
- 97_ScaledDotProductAttention had inputs of half precision until January 2026, after KernelBench's table was made: 8.45 ms would be 130
  TFLOP/s. Ours is in f32.

END
        "$python" bench/kernelbench/real_sizes.py plain "$work" --jobs "$jobs" --program "$build/keet-opt"
    } >"$new"
    mv "$new" "$out/plain.md"
    chmod 644 "$out/plain.md"
    exit
fi
"$python" bench/kernelbench/real_sizes.py tasks "$work" "${names[@]}"
campaign=$work-$budget$([ ${#names[@]} -eq 0 ] || printf -- '-%s' "${names[@]}").campaign
made=$(cd bench && python3 -c 'import stamp
print("at commit", stamp.commit("src", "search", "bench/kernelbench", "bench/time"), "on", stamp.processor())')
whole=
if [ -d "$campaign" ]; then
    "$build/keet-opt" campaign "$campaign" --resume --jobs "$jobs" >&2 || whole=no
else
    "$build/keet-opt" campaign "$work/list.txt" --out "$campaign" --budget "$budget" --jobs "$jobs" \
        --device emu:h100 --threads 1 >&2 || whole=no
fi
"$build/keet-opt" results "$campaign" --json >"$work/results.json"
mkdir -p "$out"
new=$(mktemp -p "$work")
{
    cat <<END
# KernelBench's problems at their real sizes, without a card

\`bench/kernelbench/run.sh --budget $budget${names[*]:+ ${names[*]}}\` $made; seed 1, judged with seed 2. No model was asked.${whole:+
The campaign was stopped before its budget was spent.}

PyTorch's times are measured, by KernelBench on an H100 (results/timing/H100_Modal, PyTorch 2.9 eager). Ours are modelled, by emu:h100.
"Measured over modelled" divides one by the other, so that it is no measured speedup: the column "modelled over measured" says how far the
model is off where a plain kernel of ours stands for the same operator. A winner is right when it passes the check once more, with
another seed than the search's.

END
    "$python" bench/kernelbench/real_sizes.py score "$work" "$work/results.json"
} >"$new"
mv "$new" "$out/real_sizes.md"
chmod 644 "$out/real_sizes.md"
