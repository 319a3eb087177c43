#!/usr/bin/env python3
"""Chips beside the H100, by the command line: chips.py PROGRAM [TEST...]."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = str(Path(sys.argv[1]).resolve())
CHIPS = {"h100": 3.35, "h200": 4.8, "a100": 2.039, "l40s": 0.864, "rtx4090": 1.008, "b200": 7.7}     # TB/s of DRAM
N = 1 << 22

# 32 MB through DRAM, by way of shared memory; and products of halves by mma.sync.
PLAIN = f"""#pragma keet size   N = {N}
#pragma keet check  N = 4096
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet launch twice<<<ceil_div(N, 256), 256>>>(X, Y, N)
__global__ void twice(const float *x, float *y, int n)
{{
    __shared__ float s[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    s[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n) y[i] = s[threadIdx.x] * 2;
}}
"""
MMA = """#pragma keet size   N = 32
#pragma keet in     A : f32[N] = integers(0, 3)
#pragma keet out    Y : f32[N]
#pragma keet launch mma<<<1, 32>>>(A, Y)
#include <cuda_fp16.h>
__global__ void mma(const float *a, float *y)
{
    __half2 h = __float2half2_rn(a[threadIdx.x]), one = __float2half2_rn(1.0f);
    unsigned u = *(unsigned *)&h, v = *(unsigned *)&one;
    float d[4] = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(u), "r"(v));
    y[threadIdx.x] = d[0] + d[3];
}
"""


def with_asm(text, smem=0, extra=""):
    """A kernel of 128 threads with this in it, before it writes its output."""
    return f"""#pragma keet size   N = 128
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet launch f<<<2, 64, {smem}>>>(X, Y){extra}
__global__ void f(const float *x, float *y)
{{
    {text}
    y[blockIdx.x * 64 + threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
}}
"""


WGMMA = with_asm('asm volatile("wgmma.fence.sync.aligned;");')
BULK = with_asm('__shared__ __align__(128) float s[64]; asm volatile("cp.async.bulk.commit_group;"); s[0] = 0;')
TCGEN05 = with_asm('asm volatile("tcgen05.fence::before_thread_sync;");')
FP8 = with_asm('float d[4] = {}; asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 '
               '{%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(0)); '
               'if (d[0] == 5) y[0] = 1;')


def call(*arguments, cwd):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, cwd=cwd)


def node(folder, text, device):
    (folder / "k.cu").write_text(text)
    done = call("run", "k.cu", "--device", device, "--json", cwd=folder)
    return json.loads(done.stdout) if done.stdout else {"verdict": "error", "verdict_text": done.stderr}


def all_chips_run(folder):
    times = {}
    for chip, rate in CHIPS.items():
        found = node(folder, PLAIN, f"emu:{chip}")
        assert found["verdict"] == "ok", (chip, found)
        times[chip] = found["time_ns"]
        least = 2 * 4 * N / (rate * 1e12) * 1e9
        assert least < found["time_ns"] < 4 * least, (chip, least, found["time_ns"])
        assert node(folder, MMA, f"emu:{chip}")["verdict"] == "ok", chip
    assert times["b200"] < times["h200"] < times["h100"] < times["a100"] < times["rtx4090"] < times["l40s"], times


def what_a_chip_lacks_is_refused(folder):
    for text, device, verdict, says in (
            (WGMMA, "emu:a100", "no_compile", "wgmma"), (WGMMA, "emu:b200", "no_compile", "wgmma"), (WGMMA, "emu:h100", "ok", ""),
            (BULK, "emu:l40s", "no_compile", "cp.async.bulk"), (BULK, "emu:b200", "ok", ""),
            (FP8, "emu:a100", "no_compile", "FP8"), (FP8, "emu:rtx4090", "ok", ""),
            (TCGEN05, "emu:b200", "error", "line 7: unsupported: instruction 'tcgen05'"),
            (with_asm("", extra=" cluster(2)"), "emu:a100", "error", "clusters of blocks need compute capability 9.0"),
            (with_asm("", extra=" cluster(2)"), "emu:b200", "ok", ""),
            (with_asm("", smem=101377), "emu:rtx4090", "error", "more than 99 KB of shared memory"),
            (with_asm("", smem=101376), "emu:rtx4090", "ok", ""),
            (with_asm("", smem=101377), "emu:a100", "ok", ""),
            (with_asm("", smem=166913), "emu:a100", "error", "more than 163 KB of shared memory")):
        found = node(folder, text, device)
        assert found["verdict"] == verdict and says in (found["verdict_text"] or ""), (device, says, found["verdict"], found["verdict_text"])


def chip_files(folder):
    (folder / "a30.chip").write_text("like = a100\nname = NVIDIA A30\nnr_sms = 56\ndram_bytes_per_s = 933e9\n")
    slower = node(folder, PLAIN, "emu:a30.chip")["time_ns"] / node(folder, PLAIN, "emu:a100")["time_ns"]
    assert 1.8 < slower < 2.4, slower     # 2039 over 933 GB/s
    said = call("explain", "k.cu", "--device", "emu:a30.chip", cwd=folder).stdout
    assert "On NVIDIA A30: figures by a chip file; times held to none." in said, said
    (folder / "bad.chip").write_text("like = a100\nname = NVIDIA A30\nnr_sms = many\n")
    for device, says in (("emu:bad.chip", 'bad.chip:3: nr_sms: "many" is no number'), ("emu:none.chip", "none.chip"),
                         ("emu:v100", 'no chip "v100"; there are h100'), ("h100", "emu:CHIP")):
        done = call("run", "k.cu", "--device", device, cwd=folder)
        assert done.returncode == 1 and says in done.stderr, (device, done.returncode, done.stderr)
    done = call("k.cu", "--device", "emu:a30.chip", "--budget", "2", "--no-memory", cwd=folder)
    assert done.returncode == 0, done.stderr
    page = call("report", "k.keet.db", "-o", "-", cwd=folder).stdout
    assert "NVIDIA A30" in page


def prompts_speak_of_the_chip(folder):
    (folder / "k.cu").write_text(PLAIN)
    for chip, there, not_there in (("a100", ("NVIDIA A100", "163 KB for one block", "int8 624 TOP/s"), ("Hopper's wgmma", "and\nclusters", "fp8 and")),
                                   ("b200", ("NVIDIA B200", "clusters, but no tcgen05"), ("Hopper's wgmma",)),
                                   ("rtx4090", ("f16 with sums in f16 330 TFLOP/s; f16 and bf16 with sums in f32 165 TFLOP/s",), ("and\nclusters", "(none), and inline")),
                                   ("h100", ("NVIDIA H100", "f16 and bf16 989 TFLOP/s; tf32 495 TFLOP/s; f64 67 TFLOP/s; fp8 and int8 1979 TOP/s",
                                             "Hopper's wgmma, TMA copies (bulk and tensor) and\nclusters, and inline PTX"), ())):
        said = call("k.cu", "--show-prompt", "--device", f"emu:{chip}", cwd=folder).stdout
        for words in there:
            assert words in said, (chip, words, said)
        for words in not_there:
            assert words not in said, (chip, words, said)


def moves_that_a_chip_lacks_are_not_offered(folder):
    kernel = Path(__file__).resolve().parents[2] / "kernels/matmul_bf16.cu"
    for chip, has in (("h100", True), ("a100", False), ("b200", False)):
        said = json.loads(call("run", str(kernel), "--moves", "--json", "--device", f"emu:{chip}", cwd=folder).stdout)
        assert any(m["move"] == "wgmma" for m in said["offered"]) == has, (chip, said)
        assert any(m["move"] == "wgmma" and m["why"].endswith("has none") for m in said["refused"]) != has, (chip, said)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for test in (all_chips_run, what_a_chip_lacks_is_refused, moves_that_a_chip_lacks_are_not_offered, chip_files, prompts_speak_of_the_chip):
            if not sys.argv[2:] or test.__name__ in sys.argv[2:]:
                test(folder)
                print(f"{test.__name__}: passed", flush=True)


main()
