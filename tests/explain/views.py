#!/usr/bin/env python3
"""The views of keet-opt explain over several profiles: made-up profiles whose story is known.

    views.py KEET_OPT [SECONDS]      at most so much processor time for 300 profiles (default 5)"""
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile

keet = os.path.abspath(sys.argv[1])
most_s = float(sys.argv[2]) if len(sys.argv) > 2 else 5
os.chdir(tempfile.mkdtemp())

UNITS = {"gpu__time_duration.sum": "nsecond", "dram__bytes.sum": "byte"}
TIME = "gpu__time_duration.sum"
DRAM = "dram__throughput.avg.pct_of_peak_sustained_elapsed"
FMA = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active"
LSU = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"
REGISTERS = "launch__registers_per_thread"
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.pct"
LOADS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
STORES = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"
ATOMICS = "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum"


def write(name, launches, fill=0):
    """launches: [(kernel, grid, {metric: value})], all with the same metrics."""
    metrics = list(launches[0][2]) + [f"smsp__filler_{i}.sum" for i in range(fill)]
    with open(name, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, quoting=csv.QUOTE_ALL)
        out.writerow(["ID", "Kernel Name", "Block Size", "Grid Size", "CC"] + metrics)
        out.writerow([""] * 5 + [UNITS.get(m, "%" if ".pct" in m else "inst") for m in metrics])
        for i, (kernel, grid, values) in enumerate(launches):
            out.writerow([i, kernel, "(256, 1, 1)", f"({grid}, 1, 1)", "9.0"] +
                         [values.get(m, i) for m in metrics])


def run(*arguments, code=0):
    done = subprocess.run([keet, "explain", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == code, (arguments, done.returncode, done.stdout, done.stderr)
    return done.stderr if code else done.stdout


def expect(text, *parts):
    for part in parts:
        assert part in text, f"missing: {part}\n{text}"


def test_two_versions():
    # 70% of 20 us waited, then 30% of 10 us: 11 of the 10 us saved. FMA: 2 us before and after.
    old = {TIME: 20000, DRAM: 20, FMA: 10, LSU: 30, STALL.format("long_scoreboard"): 70,
           STALL.format("barrier"): 10, STALL.format("wait"): 20, REGISTERS: 32}
    new = {TIME: 10000, DRAM: 40, FMA: 20, LSU: 40, STALL.format("long_scoreboard"): 30,
           STALL.format("barrier"): 20, STALL.format("wait"): 50, REGISTERS: 64}
    write("old.csv", [("f", 1024, old), ("other", 8, {**old, TIME: 100})])
    write("new.csv", [("other", 8, {**new, TIME: 9000}), ("f", 1024, new)])
    text = run("old.csv", "new.csv")
    expect(text, "new.csv against old.csv: 2.00x faster",
           "Paid: waiting for global memory took 14 us and now takes 3 us",
           "No longer a finding: latency")
    assert "Paid: FMA" not in text and "Paid: waiting at barriers" not in text
    expect(run("--md", "old.csv", "new.csv"), f"| `{REGISTERS}` | 32 | 64 | +100% |")
    expect(run("new.csv", "old.csv"), "2.00x slower",
           "Costs more: waiting for global memory took 3 us and now takes 14 us",
           "A finding only now: latency")
    change = json.loads(run("--json", "old.csv", "new.csv"))["change"]
    paid = [c["what"] for c in change["changes"] if c["paid"]]
    assert paid == ["waiting for global memory"], change
    assert abs(change["changes"][0]["saved_ns"] - 11000) < 1


def test_equal_versions():
    """Times that differ by less than 1% are equal: nothing costs more, nothing was paid."""
    old = {TIME: 20000, DRAM: 20, FMA: 10, STALL.format("long_scoreboard"): 70,
           STALL.format("barrier"): 20, REGISTERS: 32}
    new = {**old, TIME: 20190, STALL.format("long_scoreboard"): 20, STALL.format("barrier"): 70}
    write("a.csv", [("f", 1024, old)])
    write("b.csv", [("f", 1024, new)])
    write("c.csv", [("f", 1024, {**new, TIME: 20300})])
    for other in ("a.csv", "b.csv"):
        text = run("a.csv", other)
        expect(text, f"{other} against a.csv: equal within what repeats (1%), 20 us before")
        for word in ("faster", "slower", "Costs more", "Paid"):
            assert word not in text.splitlines()[0] + "".join(
                line for line in text.splitlines() if line.startswith("  ")), text
        change = json.loads(run("--json", "a.csv", other))["change"]
        assert change["equal"] is True and change["changes"] == [], change
    expect(run("a.csv", "c.csv"), "c.csv against a.csv: 1.01x slower", "Costs more:")
    assert json.loads(run("--json", "a.csv", "c.csv"))["change"]["equal"] is False


def test_an_equal_sweep():
    for i, n in enumerate((64, 128, 256, 512, 1024)):
        write(f"flat_N{n}.csv", [("f", 8, {**sweep_point(2048), TIME: 5000 + 10 * i})])
    names = [f"flat_N{n}.csv" for n in (64, 128, 256, 512, 1024)]
    expect(run(*names), "Time is equal within what repeats (1%) over the whole range.")
    sweep = json.loads(run("--json", *names))["sweep"]
    assert sweep["equal"] is True and sweep["knee"] is None, sweep


def sweep_point(n):
    return {TIME: max(5000, 5000 * n / 2048), DRAM: min(88, 88 * n / 2048), FMA: 5,
            "dram__bytes.sum": 4096 * n, REGISTERS: 40}


def test_a_sweep():
    sizes = [256 << i for i in range(8)]
    for n in sizes:
        write(f"scan_N{n}.csv", [("scan", n // 64, sweep_point(n))])
    names = [f"scan_N{n}.csv" for n in reversed(sizes)]
    text = run(*names)
    expect(text, "scan over N, 8 values", "the knee is at 2048",
           f"What turns there most is `{DRAM}`", "few_blocks (N = 256 to 4096)", "as N^1.00")
    assert REGISTERS not in text
    expect(run("--md", "--sweep", "N", *names), "| N | time | first finding |", "| 256 | 5 us |")
    sweep = json.loads(run("--json", *names))["sweep"]
    assert sweep["parameter"] == "N" and [p["x"] for p in sweep["points"]] == sizes
    knee = sweep["knee"]
    assert knee["x"] == 2048 and abs(knee["exponent_before"]) < 0.01
    assert abs(knee["exponent_after"] - 1) < 0.01
    assert "As a line" not in text
    # What does not change and what grows: a straight line. A point far above: none.
    for n in (100, 200, 400, 800):
        write(f"line_N{n}.csv", [("f", 8, {**sweep_point(2048), TIME: 3000 + 10 * n})])
    lines = [f"line_N{n}.csv" for n in (100, 200, 400, 800)]
    expect(run(*lines), "As a line: 3 us, and 10 ns for each of N; all values are within 3% of it.")
    write("line_N400.csv", [("f", 8, {**sweep_point(2048), TIME: 9000})])
    assert "As a line" not in run(*lines)
    # Without a knee; and by the grid of several launches in one file.
    write("one.csv", [("scan", g, {**sweep_point(2048), TIME: 10 * g}) for g in (8, 64, 512, 1024, 2048)])
    expect(run("--sweep", "grid", "one.csv"), "Time goes as grid^1.00 over the whole range, without")
    expect(run("--sweep", "M", *names, code=1), "--sweep M: expected")


def test_an_application():
    atomics = {TIME: 60000, DRAM: 10, FMA: 5, LSU: 50, LOADS: 1e6, STORES: 1e6, ATOMICS: 4e6}
    latency = {**atomics, ATOMICS: 0}
    launches = [("histogram", 1024, atomics), ("scale", 1024, {**latency, TIME: 20000})]
    launches += [("tiny", 1024, {**latency, TIME: 1000})] * 20
    write("app.csv", launches)
    write("app2.csv", [("count", 1024, {**atomics, TIME: 30000})])
    text = run("app.csv", "app2.csv", "app2.csv")
    expect(text, "24 launches of 4 kernels, 160 us")
    view = json.loads(run("--json", "app.csv", "app2.csv", "app2.csv"))["application"]
    assert [k["kernel"] for k in view["by_kernel"][:2]] == ["histogram", "count"] or \
           [k["kernel"] for k in view["by_kernel"][:2]] == ["count", "histogram"]
    first = view["by_bottleneck"][0]
    assert (first["cluster"], first["kernels"], first["launches"]) == ("atomics", 2, 3)
    assert first["time_ns"] == 120000 and view["time_ns"] == 160000
    assert view["tiny_launches"] == 20 and view["tiny_ns"] == 20000
    expect(text, "20 of 24 launches are shorter than", "12.5% of the time is in them")
    expect(run("--md", "app.csv", "app2.csv", "app2.csv"), "| atomics | 2 | 3 | 75.0% |")


def test_three_hundred_are_quick():
    values = sweep_point(2048)
    for i in range(300):
        write(f"p{i}.csv", [(f"kernel_{(i + k) % 50}<float, {k}>(float *, int)", 1024,
                             {**values, TIME: 1000 + i}) for k in range(4)], fill=600)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    text = run(*[f"p{i}.csv" for i in range(300)])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    expect(text, "1200 launches of 200 kernels", "and 175 more:")
    print(f"300 profiles of 4 kernels and 600 metrics: {took:.2f} s of processor time")
    assert took < most_s


for name, function in list(globals().items()):
    if name.startswith("test_"):
        function()
        print("ok", name)
