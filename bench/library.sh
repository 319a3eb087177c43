#!/usr/bin/env bash
# What the library costs a Python program: checks a second over the suite, 10,000 candidates of which
# 5% are hostile, threads.
#
#   bench/library.sh [--out DIR]
#
# Writes DIR/README.md (default results/library). Needs Python with NumPy, and an hour. BUILD=FOLDER names
# another build than build/release.
set -euo pipefail
cd "$(dirname "$0")/.."
out=results/library
[ "${1-}" != --out ] || out=$2
mkdir -p "$out" keet-out
build=$(realpath "${BUILD:-build/release}")
export KEET_LIBRARY=$build/libkeet.so PYTHONPATH=src/python PYTHONDONTWRITEBYTECODE=1
python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || python=python3
made=$(cd bench && python3 -c 'import stamp
print(f"`bench/library.sh` at commit {stamp.commit()} on {stamp.processor()}")')
# A part that was done is kept, for a run that is cut off.
bench()
{
    local done=keet-out/library-$1.md
    [ -s "$done" ] || { "$python" bench/library/bench.py "$@" >"$done.new" && mv "$done.new" "$done"; }
    cat "$done"
}
for part in suite many threads; do
    bench "$part" >/dev/null
done
new=$(mktemp -p keet-out)
cat >"$new" <<END
# What the library costs

$made, $(nproc) cores, of which other programs took a part (load $(cut -d' ' -f1 /proc/loadavg) at the start). Seed 1. Figures by
processor time hardly depend on that; figures by the clock do.

## Checks a second

Four variants of each kernel, as a search proposes them (policy random), one process, emulator on one thread, compile cache warm
(\`bench.py suite\`). By processor time. A check is all of \`keet.check\`: the sizes of the check and the timed size. A run is all of
\`keet.run\`: the check, time and counters.

$(bench suite)

## Many candidates

\`bench.py many\`: 10,000 replies as rewards, by two processes. Of twenty, one is hostile (the replies of \`tests/hostile/replies.py\` in
turn, but the one that the compiler's limit of 60 s ends). The others are right, wrong, do not compile or hold no code: 1,000 texts, ten times
each, so that the first 1,000 candidates are compiled and the others are in the compile cache.

$(bench many)

## Threads

\`bench.py threads\`: \`check_many\` of 40 variants of argmax.cu (four, ten times). The results are equal member by member, which the bench asserts.

$(bench threads)
END
mv "$new" "$out/README.md"
rm keet-out/library-*.md
chmod 644 "$out/README.md"
