#!/usr/bin/env bash
# Other people's CUDA files through the emulator's parser, verifier and decoder.
#
#   bench/corpus.sh PTX-DIR [CHECKOUT...]
#
# The CHECKOUTs (of CUDA samples, HeCBench, llm.c, ...) are read and never copied here: compile.sh puts their PTX
# into PTX-DIR, outside the repository, with nvcc -ptx -arch=compute_90; what is there already stays. Writes
# results/corpus/decode.md and fails when fewer than 99% of the kernels decode.
set -euo pipefail
cd "$(dirname "$0")/.."
ptx=${1:?usage: corpus.sh PTX-DIR [CHECKOUT...]}
shift
[ $# -eq 0 ] || bench/corpus/compile.sh "$ptx" "$@"
./setup.sh --run
cmake --preset release >/dev/null
cmake --build --preset release --target corpus_decode >/dev/null
mkdir -p results/corpus
names=$(find "$ptx" -name '*.ptx' -printf '%f\n' | sed 's/_.*//' | sort | uniq -c | awk '{printf "%s%s (%s files)", sep, $2, $1; sep = ", "}')
find "$ptx" -name '*.ptx' -print0 | sort -z | xargs -0 ./build/release/corpus_decode |
    python3 bench/corpus/table.py --command "bench/corpus.sh PTX-DIR CHECKOUT..." --files "$(find "$ptx" -name '*.ptx' | wc -l)" --sources "$names" >results/corpus/decode.md ||
    status=$?
head -n 5 results/corpus/decode.md
exit "${status:-0}"
