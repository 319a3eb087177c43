#!/usr/bin/env bash
# usage: counters.sh keet-opt libkeet-cuda.so libkeet-fake-cupti.so
# Counters, gaps and stalls by line on their whole way, from a library that plays CUPTI, through the
# worker that counts, into profiles, advice and database; and what becomes of a run when CUPTI
# refuses, or crashes.
set -euo pipefail
program=$1
export KEET_CUDA_DRIVER=$2
fake=$3
. "$(dirname "$0")/scratch.sh"
cd "$folder"
sed 's/N = 8388608/N = 65536/' "$source/kernels/saxpy.cu" >saxpy.cu

# run NAME [FUNCTION CODE]: with a library that fails there.
run()
{
    mkdir "$1"
    ln -s "$fake" "$1/libcupti.so"
    [ $# -eq 1 ] || echo "fail $2 $3" >"$1/fake.txt"
    KEET_CUPTI=$folder/$1/libcupti.so "$program" run saxpy.cu --device gpu --json -v \
        >"$1/out.json" 2>"$1/log" || { cat "$1/log"; exit 1; }
}
absent()
{
    python3 - "$1/out.json" "$2" <<'PYTHON'
import json
import sys

node = json.load(open(sys.argv[1]))
node = node.get("best", node)
origin = node["metrics"]["smsp__inst_executed.sum"]["from"]
assert origin == "counted on the emulator", f"{origin} in spite of a failure"
assert node["metrics"]["gpu__time_duration.sum"]["value"] > 0
assert sys.argv[2] in node["no_counters"], node["no_counters"]
PYTHON
    [ "$(grep -c 'no hardware counters' "$1/log")" -eq 1 ] ||
        { echo "$1: the reason was not said once"; cat "$1/log"; exit 1; }
}

run good
python3 - good/out.json <<'PYTHON'
import json
import sys

node = json.load(open(sys.argv[1]))
node = node.get("best", node)
metrics = node["metrics"]
value = sum(ord(c) * (i + 1) for i, c in enumerate("sm__inst_executed.sum"))
assert metrics["smsp__inst_executed.sum"]["value"] == value, metrics
assert node["no_counters"] is None
assert len(metrics) >= 54, len(metrics)
# A stand-in measures nothing, and nothing may say that it did.
assert {m["from"] for m in metrics.values()} == {"modelled", "counted", "counted on the emulator"}
span = metrics["keet__launches_span.sum"]["value"]
assert 0 < span <= metrics["gpu__time_duration.sum"]["value"], (span, metrics)
assert metrics["keet__launches_gap.sum"]["value"] == 0  # one launch
PYTHON
! grep -q 'no hardware counters\|no gaps\|no stalls' good/log || { cat good/log; exit 1; }

run forbidden cuptiRangeProfilerEnable 35
absent forbidden NVreg_RestrictProfilingToAdminUsers=0
run sliced cuptiRangeProfilerEnable 43
absent sliced 'nvidia-smi -mig 0'
run crashed cuptiRangeProfilerStart 666
absent crashed 'ended by signal 9'
run broken cuptiProfilerHostConfigAddMetrics 999
absent broken FAKE_RESULT_999

# What one part of CUPTI refuses, the others still tell.
run no_spans cuptiActivityEnable 35
python3 - no_spans/out.json <<'PYTHON'
import json
import sys

node = json.load(open(sys.argv[1]))
metrics = node.get("best", node)["metrics"]
assert "smsp__inst_executed.sum" in metrics and "keet__launches_span.sum" not in metrics
PYTHON
grep -q 'no gaps between launches.*35' no_spans/log

# Two launches: what lies between them on the software driver's clock is its launch overhead.
sed 's/ROWS = 4096, COLS = 2048/ROWS = 64, COLS = 256/' "$source/kernels/bias_gelu.cu" >saxpy.cu
run gaps
python3 - gaps/out.json <<'PYTHON'
import json
import sys

node = json.load(open(sys.argv[1]))
node = node.get("best", node)
metrics = node["metrics"]
span, gap = (metrics[f"keet__launches_{what}.sum"]["value"] for what in ("span", "gap"))
assert 0 < gap < span, (gap, span)
assert abs(gap - 950) <= 2, gap  # core/chip.c; CUPTI's times are whole ns
PYTHON
sed 's/N = 8388608/N = 65536/' "$source/kernels/saxpy.cu" >saxpy.cu

# A whole search: the best is found all the same, its counters and lines are stored, and a reason is
# said once for all variants.
export KEET_CUPTI=$folder/good/libcupti.so
"$program" saxpy.cu --device gpu --budget 3 --seed 3 -v --db good.db >good.txt 2>good.log
export KEET_CUPTI=$folder/forbidden/libcupti.so
"$program" saxpy.cu --device gpu --budget 3 --seed 3 -v --db bad.db >bad.txt 2>bad.log
[ "$(grep -c 'no hardware counters' bad.log)" -eq 1 ] || { cat bad.log; exit 1; }
python3 - <<'PYTHON'
import sqlite3

good, bad = sqlite3.connect("good.db"), sqlite3.connect("bad.db")
count = "select count(*) from counter where metric = 'smsp__inst_executed.sum' and launch = -1 " \
    "and provenance not like '% on the emulator'"
profiled = good.execute("select count(*) from measurement").fetchone()[0]
assert profiled >= 2
assert good.execute(count).fetchone()[0] == profiled
assert bad.execute(count).fetchone()[0] == 0
# Five instructions from the kernel's beginning, of which 105 samples of 120 wait, 100 of those for
# memory: of all of the kernel's warp-cycles, shared out over the lines that the code is of.
rows = good.execute(
    "select line, stall_cycles, stall_long, stall_barrier, stall_wait from line_cost join node on node.id = line_cost.node "
    "where launch = 0 and number = 0 order by line").fetchall()
resident = sum(ord(c) * (i + 1) for i, c in enumerate("smsp__warps_active.sum"))
text = open("saxpy.cu").read().splitlines()
first = next(i for i, line in enumerate(text, 1) if "__global__" in line)
assert rows and all(first <= row[0] <= len(text) for row in rows), (first, rows)
for column, samples in ((1, 105), (2, 100), (3, 5), (4, 0)):
    cycles = sum(row[column] for row in rows)
    assert abs(cycles - samples / 120 * resident) <= 1e-6 * resident, (column, cycles)
PYTHON
echo "counters, gaps and lines from end to end; five ways of refusing"
