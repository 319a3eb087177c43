#!/usr/bin/env bash
# The emulator's speed: thread instructions per second of CPU time over the kernels in bench/emulator/, for each
# instruction set that this machine has, with all sanitizers, with the time model, and on two threads; time to load a
# module; and host instructions per emulated one by callgrind, which do not depend on how busy the machine is.
#
#   bench/emulator.sh [--seconds S] [--rounds N] [--out DIR] [KERNEL.cu...]
#
# S: CPU time per kernel and column (default 0.3). N: rounds of one thread, two threads and two emulators side by side
# (default 9; see the head of bench/emulator/bench.c). Writes DIR/speed.md (default results/emulator); takes about ten
# minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=0.3 rounds=9 out=results/emulator kernels=()
while [ $# -gt 0 ]; do
    case $1 in
    --seconds) seconds=$2; shift 2 ;;
    --rounds) rounds=$2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    -*) echo "emulator.sh: unknown option $1; see the head of the file" >&2; exit 2 ;;
    *) kernels+=("$1"); shift ;;
    esac
done
[ ${#kernels[@]} -gt 0 ] || kernels=(bench/emulator/*.cu)
./setup.sh --run
cmake --preset release >/dev/null
cmake --build --preset release --target emulator_bench >/dev/null

work=keet-out/emulator
bench=build/release/emulator_bench
mkdir -p "$work" "$out"
rm -f "$work"/*.tsv "$work"/callgrind.*
isas=()
for isa in base avx2 avx512; do
    if "$bench" --isa "$isa" 2>/dev/null; then
        isas+=("$isa")
    fi
done
"$bench" --seconds 0 --blocks 1 "${kernels[@]}" >/dev/null # compiles: later runs find it in the cache
for isa in "${isas[@]}"; do
    "$bench" --isa "$isa" --seconds "$seconds" "${kernels[@]}" >"$work/$isa.tsv"
done
"$bench" --sanitize --seconds "$seconds" "${kernels[@]}" >"$work/sanitize.tsv"
"$bench" --time --seconds "$seconds" "${kernels[@]}" >"$work/time.tsv"
"$bench" --scaling "$rounds" "${kernels[@]}" >"$work/scaling.tsv"
if command -v valgrind >/dev/null; then
    # valgrind knows no AVX-512
    for isa in "${isas[@]}"; do
        [ "$isa" != avx512 ] || continue
        valgrind -q --tool=callgrind --callgrind-out-file="$work/callgrind.$isa" --collect-atstart=no \
            --toggle-collect=exec_block --dump-after=emu_launch \
            "$bench" --isa "$isa" --seconds 0 --blocks 4 "${kernels[@]}" >"$work/callgrind.$isa.tsv" &
    done
    wait
fi
python3 bench/emulator_table.py --work "$work" --out "$out/speed.md" --seconds "$seconds" --rounds "$rounds" "${isas[@]}"
