#!/usr/bin/env python3
"""Peaks by type: what keet-opt explain and a search say of integer products and of a kernel without
a work line, and that no time is below its roofline.

usage: peaks.py KEET_OPT texts | floors | all
"""
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
KERNELS = HERE.parent.parent / "kernels"


def explain(path, *more):
    done = subprocess.run([sys.argv[1], "explain", str(path), *more], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def expect(text, *parts):
    for part in parts:
        assert part in text, f"missing: {part}\n{text}"


def limits_of(path):
    """The limits and the time; no share of the time that work needs is above all of it."""
    answer = json.loads(explain(path, "--json"))
    limits = answer["limits"]
    for name in ("roofline_memory_pct", "roofline_compute_pct"):
        assert 0 <= limits[name] <= 100, f"{path}: {name} = {limits[name]}"
    assert limits["roofline_ns"] <= answer["time_ns"], f"{path}: {limits}"
    return limits, answer["time_ns"]


def search(path, budget, *more):
    """All variants of a search as (time, roofline) in ns, the best time, and why it stopped."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.argv[1], str(path), "--budget", str(budget), *more], cwd=folder,
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        with sqlite3.connect(next(Path(folder).glob("*.keet.db"))) as db:
            rows = db.execute("SELECT time_ns, roofline_ns, verdict FROM node JOIN measurement m "
                              "ON m.node = id JOIN explanation e ON e.node = id "
                              "WHERE time_ns > 0 AND recalled_from IS NULL").fetchall()
            why = db.execute("SELECT why_stopped FROM run").fetchone()[0]
    assert rows and all(row[2] != "suspicious" for row in rows), rows
    return [row[:2] for row in rows], min(row[0] for row in rows), why


def test_integer_product_on_tensor_cores():
    n = 1024
    limits, time_ns = limits_of(HERE / "peaks/int8_mma.cu")
    assert abs(limits["roofline_compute_pct"] / 100 * time_ns - 2 * n**3 / 1979e3) < 1
    assert limits["roofline_compute_pct"] < 10, limits
    text = explain(HERE / "peaks/int8_mma.cu")
    expect(text, "operations per byte", "us by dp4a, ", "us on tensor cores")
    # Tensor work of 8% must not look like a kernel at its end.
    assert search(HERE / "peaks/int8_mma.cu", 2)[2] != "roofline"


def test_page_has_the_roof_of_tensor_cores():
    for kernel, above in ((HERE / "peaks/f16_mma.cu", True), (KERNELS / "saxpy.cu", False)):
        with tempfile.TemporaryDirectory() as folder:
            run = [sys.argv[1], str(kernel), "--budget", "1", "-q"]
            subprocess.run(run, cwd=folder, check=True, capture_output=True)
            base = next(Path(folder).glob("*.keet.db"))
            subprocess.run([sys.argv[1], "report", str(base)], cwd=folder, check=True,
                           capture_output=True)
            page = next(Path(folder).glob("*.html")).read_text()
        assert "FP32 66.9 TFLOP/s" in page
        assert ("tensor cores, f16 989 TFLOP/s" in page) == above, kernel


def test_integer_product_by_dp4a():
    n = 512
    limits, time_ns = limits_of(HERE / "peaks/int8_dp4a.cu")
    dp4a_per_ns = 132 * 512 * 1.98
    assert abs(limits["roofline_vector_pct"] / 100 * time_ns - 2 * n**3 / dp4a_per_ns) < 1
    expect(explain(HERE / "peaks/int8_dp4a.cu"), "% by dp4a, ", "% on tensor cores")


def test_counted_bytes_without_work():
    limits, time_ns = limits_of(HERE / "peaks/stream.cu")
    assert limits["roofline_from"] == "counted bytes"
    assert abs(limits["roofline_ns"] - 2 * 4 * 8388608 * (1.0345 + 1.146) / 2 / (0.989 * 3350)) < 1, limits
    assert limits["roofline_memory_pct"] > 50, limits
    expect(explain(HERE / "peaks/stream.cu"), "This kernel is memory-bound: DRAM is ",
           "the bytes that it moved at least (67.1 MB, ",
           "Roofline of the bytes that it moved at least (67.1 MB, ")


def test_text_is_for_people():
    text = explain(KERNELS / "matmul.cu")
    expect(text, "The task is compute-bound (171 flops per byte), but this kernel spends its time on "
           "memory accesses: the load/store unit is ",
           "us by f32 FMA, ", "us where tensor cores do it within the tolerance")
    line = next(row for row in text.splitlines() if row.startswith("Speed of light"))
    assert all(float(pct) >= 0.5 for pct in re.findall(r"([0-9.e+-]+)%", line)), line
    assert "Confidence" not in text and "confidence" in explain(KERNELS / "matmul.cu", "--json")


def floors_of_the_suite():
    kernels = sorted(KERNELS.glob("*.cu"))
    assert len(kernels) >= 44
    for kernel in kernels:
        limits, _ = limits_of(kernel)
        assert limits["roofline_from"] == "work" and limits["roofline_ns"] > 0, kernel


def floors_of_variants():
    """Kernels of bytes, of rows, of gathers and of products: every variant that is found."""
    for name in ("layernorm", "embedding", "masked_softmax", "gemv", "matmul_f16", "attention"):
        variants, _, _ = search(KERNELS / f"{name}.cu", 15)
        for time_ns, roofline_ns in variants:
            assert 0 < roofline_ns <= time_ns, f"{name}: {time_ns} ns, roofline {roofline_ns} ns"


def floor_stops_at_the_end_only():
    """A search that a roofline ends leaves less than 5% to any variant. Of 800 MB: what a launch takes beyond its bytes is
    little then."""
    large = Path(tempfile.mkdtemp()) / "saxpy.cu"
    large.write_text((KERNELS / "saxpy.cu").read_text().replace("N = 8388608", "N = 67108864"))
    variants, best, why = search(large, 30)
    assert why == "roofline" and len(variants) < 30, why
    assert best <= variants[0][1] / 0.95


TEXTS = [value for name, value in sorted(globals().items()) if name.startswith("test_")]
PARTS = {"texts": TEXTS, "floors": [floor_stops_at_the_end_only], "all": [floors_of_the_suite, floors_of_variants]}

for function in PARTS[sys.argv[2]]:
    function()
    print("ok", function.__name__)
