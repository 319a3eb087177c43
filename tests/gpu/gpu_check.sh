#!/usr/bin/env bash
# usage: gpu_check.sh keet-opt libkeet-cuda.so libkeet-fake-cupti.so
# bench/gpu_check.sh on the software driver: every step is gone through, the report says that it is a
# dry run and stays out of results/, and counters that do not agree (those of a library that plays
# CUPTI are made up) do not pass.
set -euo pipefail
export KEET_PROGRAM=$1
driver=$2
fake=$3
. "$(dirname "$0")/scratch.sh"
export TMPDIR=$folder
sed 's/N = 8388608/N = 65536/' "$source/kernels/saxpy.cu" >"$folder/saxpy.cu"
sed 's/size   M = 1024, N = 1024, K = 1024/size   M = 128, N = 128, K = 128/' \
    "$source/kernels/matmul.cu" >"$folder/matmul.cu"
results=$(ls "$source/results")

check() # how many variants
{
    KEET_CUDA_DRIVER=$driver "$source/bench/gpu_check.sh" --dry-run --variants "$1" --budget 3 \
        --jobs 2 --search "$folder/matmul.cu" "$folder/saxpy.cu" "$folder/matmul.cu"
}
check 6 >"$folder/log" || { cat "$folder/log"; exit 1; }
report=$(echo "$folder"/keet-gpu-check.*/README.md)
python3 - "$report" <<'PYTHON'
import pathlib
import re
import sys
import tarfile

report = pathlib.Path(sys.argv[1])
text = report.read_text()
assert text.startswith("# GPU check: DRY RUN"), text[:80]
assert "| results of emulator and GPU | yes | 2 of 2 kernels agree |" in text, text
assert "| counted metrics within 1% or explained | not looked at |" in text, text
assert "modelled speedup" in text and " speedup," not in text.replace("modelled speedup,", "")
# Driver and emulator have one time model: their order must be the same.
row = re.search(r"\| all, relative to their originals \| (\d+) \| ([\d.]+) \| ([\d.]+) \|", text)
assert row and int(row[1]) >= 6 and float(row[2]) > 0.9 and float(row[3]) > 0.8, row
for name in ("machine.json", "doctor.json", "kernels.tsv", "variants.tsv", "time_model.tsv"):
    assert (report.parent / name).stat().st_size > 0, name
with tarfile.open(report.parent / "variants.tar.xz") as sources:
    names = set(sources.getnames())
    assert b"#pragma keet launch" in sources.extractfile("saxpy.0.cu").read()
rows = [line.split("\t") for line in (report.parent / "variants.tsv").read_text().splitlines()[1:]]
assert names == {f"{row[0]}.{row[1]}.cu" for row in rows}, names
assert not (report.parent / "work").exists()
PYTHON
rm -rf "$folder"/keet-gpu-check.*

mkdir "$folder/cupti"
ln -s "$fake" "$folder/cupti/libcupti.so"
export KEET_CUPTI=$folder/cupti/libcupti.so
if check 1 >"$folder/log"; then
    echo "made-up counters passed"
    cat "$folder/log"
    exit 1
fi
grep -q 'DOES NOT HOLD: counted metrics within 1% or explained' "$folder/log" ||
    { cat "$folder/log"; exit 1; }

# Without a GPU, and without being asked for a dry run: a clear word and its own exit code.
if ! nvidia-smi >"$folder/smi" 2>&1; then
    status=0
    env -u KEET_CUDA_DRIVER "$source/bench/gpu_check.sh" >"$folder/log" 2>&1 || status=$?
    [ "$status" -eq 3 ] && grep -q 'no GPU answers here' "$folder/log"
fi
[ "$results" = "$(ls "$source/results")" ] || { echo "a dry run wrote into results/"; exit 1; }
