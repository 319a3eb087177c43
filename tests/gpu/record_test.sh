#!/usr/bin/env bash
# usage: record_test.sh keet-record keet-recorded libkeet-cuda.so libkeet-fake-cupti.so libkeet-fake-nvml.so
# tests/gpu/record and what decodes its folder, on stand-ins for the driver, CUPTI, NVML and Nsight
# Compute: a recording decodes to what was put in, and one that says something else does not pass.
set -euo pipefail
export KEET_RECORD=$1 KEET_CUDA_DRIVER=$3 KEET_CUPTI=$4 KEET_NVML=$5
recorded=$2
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Prints the table that Nsight Compute would, with what the stand-in for CUPTI counts.
cat >"$folder/ncu" <<'PYTHON'
#!/usr/bin/env python3
import csv
import sys

arguments = sys.argv[1:]
names = arguments[arguments.index("--metrics") + 1].split(",")
kernel = arguments[-1]
assert arguments[-2] == "--plain" and "--csv" in arguments, arguments
assert "--cache-control none --clock-control none" in " ".join(arguments), arguments
values = [float(sum(ord(c) * (i + 1) for i, c in enumerate(name))) for name in names]
units = {"pct": "%", "gpu__time_duration.sum": "ns"}
print("==PROF== Connected to process 1")
out = csv.writer(sys.stdout, quoting=csv.QUOTE_ALL)
first = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream",
         "Block Size", "Grid Size", "Device", "CC"]
out.writerow(first + names)
out.writerow([""] * len(first) +
             [units.get(n, "%" if ".pct" in n else "byte" if "bytes" in n else "") for n in names])
out.writerow(["0", "1", "keet-record", "127.0.0.1", kernel, "1", "7", "(256, 1, 1)", "(4096, 1, 1)",
              "0", "9.0"] + [f"{v:,.0f}" for v in values])
PYTHON
chmod +x "$folder/ncu"

KEET_NCU=$folder/ncu "$here/record" "$folder/good" --only saxpy --seconds 5 >"$folder/log"
for file in about.txt names.txt saxpy/counters.bin saxpy/trace.txt saxpy/energy.csv saxpy/ncu.csv; do
    grep -q "$folder/good/$file\$" "$folder/log" || { echo "no $file"; cat "$folder/log"; exit 1; }
done
grep -q '^chip GH100$' "$folder/good/about.txt"
grep -q 'software' "$folder/good/about.txt" # no recording of a stand-in may pass for a card's
"$recorded" "$folder/good" | tee "$folder/out"
compared=$(sed -n 's/.* kernels, \([0-9]*\) values compared.* 0 wrong$/\1/p' "$folder/out")
[ "${compared:-0}" -ge 30 ] || { echo "only ${compared:-0} values compared"; exit 1; }
# 350 W is what the stand-in for NVML draws.
watts=$(sed -n 's/.* \([0-9]*\) W$/\1/p' "$folder/out")
[ "$watts" -ge 330 ] && [ "$watts" -le 370 ] || { echo "$watts W, expected 350"; exit 1; }

must_fail()
{
    if "$recorded" "$folder/bad" >"$folder/out"; then
        echo "passed in spite of $1"
        cat "$folder/out"
        exit 1
    fi
    rm -rf "$folder/bad"
}

# scale METRIC FACTOR: of what Nsight Compute printed
scale()
{
    cp -r "$folder/good" "$folder/bad"
    python3 - "$folder/bad/saxpy/ncu.csv" "$1" "$2" <<'PYTHON'
import csv
import sys

rows = [row for row in csv.reader(open(sys.argv[1])) if len(row) > 1]
column = rows[0].index(sys.argv[2])
value = float(rows[2][column].replace(",", ""))
rows[2][column] = f"{value * float(sys.argv[3]):,.0f}"
csv.writer(open(sys.argv[1], "w"), quoting=csv.QUOTE_ALL).writerows(rows)
PYTHON
}
scale sm__inst_executed.sum 1.02
must_fail "instructions that are 2% off"
scale l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum 1.1
must_fail "conflicts that are off by more than noise"
scale dram__bytes.sum 100
must_fail "bytes of DRAM that are off by more than noise"
scale sm__cycles_elapsed.max 1.5
must_fail "cycles that are off by half"

# By Nsight Compute's own defaults caches were empty and clocks locked: cycles are not compared, and
# counts still are.
scale sm__cycles_elapsed.max 1.5
sed -i '/^ncu /d' "$folder/bad/about.txt"
"$recorded" "$folder/bad" >"$folder/out" || { cat "$folder/out"; exit 1; }
grep -q 'not compared: Nsight Compute had emptied the caches' "$folder/out"
rm -rf "$folder/bad"
scale sm__inst_executed.sum 1.02
sed -i '/^ncu /d' "$folder/bad/about.txt"
must_fail "instructions that are 2% off, under Nsight Compute's defaults"
cp -r "$folder/good" "$folder/bad"
sed -i '1s/^saxpy/other/' "$folder/bad/saxpy/trace.txt"
must_fail "another kernel in the trace"
cp -r "$folder/good" "$folder/bad"
head -c 10 "$folder/good/saxpy/counters.bin" >"$folder/bad/saxpy/counters.bin"
must_fail "an image that is cut off"
cp -r "$folder/good" "$folder/bad"
awk -F, 'NR == 1 || $1 < 2' "$folder/good/saxpy/energy.csv" >"$folder/bad/saxpy/energy.csv"
must_fail "two seconds of energy"

status=0
"$recorded" "$folder/nothing" >"$folder/out" || status=$?
[ "$status" -eq 77 ] && grep -q 'tests/gpu/record' "$folder/out" || { echo "no skip"; exit 1; }
echo "recorded, decoded, compared; nine wrong recordings refused"
