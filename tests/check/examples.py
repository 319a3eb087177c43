"""Faults that the checker once let through and right kernels that it once refused, each against its original.

usage: examples.py KEET_OPT
"""
import json
import os
import sqlite3
import struct
import subprocess
import sys
import tempfile

keet = os.path.abspath(sys.argv[1])
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(root, "bench", "checker"))
import mutate  # noqa: E402
import tuning  # noqa: E402
import tuning_more  # noqa: E402

OPERATORS = {o.name: o for o in tuning.OPERATORS + tuning_more.OPERATORS}


def check(original, texts, *options):
    """The document of `keet-opt check`, and its exit status."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, text in [("original", original)] + [(f"c{i}", t) for i, t in enumerate(texts)]:
            paths.append(os.path.join(folder, name + ".cu"))
            with open(paths[-1], "w") as file:
                file.write(text)
        done = subprocess.run([keet, "check", *paths, "--json", "--device", "emu", *options], capture_output=True, text=True,
                              timeout=250)
        assert done.returncode in (0, 3), done.stderr
        return json.loads(done.stdout), done.returncode


def expect(name, right, faulty, hacks=(), original=None, *options):
    """Checks variants by name, faults by name or as (verdicts, text); hacks by name, in the first variant."""
    o = OPERATORS[name]
    first = o.variants[next(iter(o.first.values()))]
    by_name = {what: text for _, what, text in o.faults}
    by_hack = dict(mutate.hacks(first, o.out))
    cases = [(r, o.variants[o.first[r]], ("ok",)) for r in right]
    cases += [(f, by_name[f], None) for f in faulty] + [(h, by_hack[h], None) for h in hacks]
    document, status = check(original or o.original, [text for _, text, _ in cases], *options)
    assert len(document["candidates"]) == len(cases)
    for (what, _, verdicts), got in zip(cases, document["candidates"]):
        ok = got["verdict"] in verdicts if verdicts else got["verdict"] not in ("ok", "no_compile", "contract", "unsupported")
        assert ok, f"{name}: {what}: {got['verdict']}: {got['reason']}"
        assert (got["verdict"] == "ok") == (got["reason"] is None)
    assert status == (3 if faulty or hacks else 0)
    assert document["right"] == len(right)
    return document["candidates"]


def test_sums_in_f64_may_be_in_another_order():
    """Terms that cancel leave the rounding of larger ones, and nothing wider than f64 tells how much of it."""
    head = """#pragma keet size   R = 512, C = 256
#pragma keet check  R = 511, C = 255
#pragma keet in     A : f64[R*C]
#pragma keet in     X : f64[C]
#pragma keet out    Y : f64[R]
"""
    original = head + """#pragma keet launch matvec<<<ceil_div(R, 128), 128>>>(A, X, Y, R, C)
__global__ void matvec(const double *a, const double *x, double *y, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = 0;
    for (int c = 0; c < cols; c++) sum += a[row * cols + c] * x[c];
    y[row] = sum;
}
"""
    warps = head + """#pragma keet launch matvec<<<ceil_div(32*R, 128), 128>>>(A, X, Y, R, C)
__global__ void matvec(const double *a, const double *x, double *y, int rows, int cols)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    double sum = 0;
    for (int c = lane; c < cols; c += 32) sum += a[row * cols + c] * x[c];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
    if (lane == 0) y[row] = sum;
}
"""
    in_floats = warps.replace("double sum = 0;", "float sum = 0;")
    got = check(original, [warps, in_floats])[0]["candidates"]
    assert [g["verdict"] for g in got] == ["ok", "wrong"], [(g["verdict"], g["reason"]) for g in got]


def test_the_timed_size_counts():
    got = expect("gemm", ["tile", "rows"],
                 ["tile: 256 of K", "tile: index of 16 bits", "tile: a quarter of K where M is large", "rows: grid capped",
                  "tile: alpha folded", "tile: beta folded"])
    for g in got[:2]:
        assert "all 262144 outputs at the timed size compared" in g["compared"], g["compared"]
        assert "M and N and K at the timed value by itself" in g["compared"], g["compared"]
        assert 0 <= g["error_of_allowed"] <= 1 and g["worst_array"] == "C"


def test_inputs_that_tell_kernels_apart():
    expect("softmax", ["block", "warp"], ["block: maximum begins at 0", "block: maximum begins at -10", "block: no maximum subtracted"],
           ["returns after 60 calls", "returns where the output is known", "returns by the clock"])
    expect("argmax", ["warp", "key"], ["warp: the last of equal ones in a lane", "warp: ties between lanes go anywhere"])
    expect("quantise", ["block", "same"], ["block: no guard for zeros"])
    expect("layernorm", ["block"], ["block: no eps"])                 # rows of zeros
    expect("gemm", ["rows"], ["rows: sums in half precision"])        # sums beyond f16
    expect("histogram", ["clear"], ["clear: bins of 8 bits"], [],     # one index again and again
           OPERATORS["histogram"].original.replace("N = 1048576", "N = 65536"))
    expect("segment_sum", ["block"], ["block: at most 1024 elements", "warp: empty segments not written", "block: length in 8 bits"])


def test_order_between_blocks():
    for threads in "1", "2":
        expect("total", ["last_block", "inc"],
               ["last_block: no fence", "last_block: fence behind the atomic", "last_block: count without an atomic",
                "last_block: part stored after the atomic", "inc: no fence", "last_block: count not put back"],
               [], None, "--threads", threads)
    expect("scan", ["chain", "three"], ["chain: no wait", "chain: no fence before the flag", "chain: flag before the sum",
                                        "chain: flag without volatile"])


def test_right_kernels_pass():
    expect("cross_entropy", ["queue"], [])        # a ticket that one lane draws and a shuffle hands round
    expect("transpose", ["padded"], [])           # padding that nothing wrote, left out by a select
    assert "nothing comes of that" in expect("transpose", ["padded"], [])[0]["compared"]


CONTRACT = """#pragma keet size  N = 4096, D = 64
#pragma keet check N = 100, D = 16
#pragma keet in    X : f32[N][D]
#pragma keet out   Y : f32[N][D]
#pragma keet scalar alpha : f32 = 0.5
"""
CODE = """#pragma keet launch scale<<<ceil_div(N*D,128), 128>>>(X, Y, N*D, alpha)
__global__ void scale(const float *X, float *Y, int n, float alpha)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) Y[i] = alpha * X[i];
}
"""


def verdicts(original, *texts):
    document, _ = check(original, texts)
    return [c["verdict"] for c in document["candidates"]], [c["compared"] or c["reason"] for c in document["candidates"]]


def test_lines_of_the_contract():
    folded = CODE.replace("alpha * X", "0.5f * X")
    vector = CODE.replace("i < n) Y[i] = alpha * X[i]", "4 * i < n) ((float4 *)Y)[i] = make_float4(alpha * X[4 * i], alpha * X[4 * i + 1], "
                          "alpha * X[4 * i + 2], alpha * X[4 * i + 3])")
    assert verdicts(CONTRACT + CODE, folded)[0] == ["wrong"]
    assert verdicts(CONTRACT + "#pragma keet fixed alpha\n" + CODE, folded)[0] == ["ok"]
    assert verdicts(CONTRACT + CODE, vector)[0] == ["ok"]  # all given sizes are multiples of four
    odd = CONTRACT.replace("check N = 100, D = 16", "check N = 101, D = 17")
    assert verdicts(odd + CODE, vector)[0] != ["ok"]
    dropped = CODE.replace("alpha * X[i]", "X[i] == X[i] ? alpha * X[i] : 0")
    assert verdicts(CONTRACT + CODE, dropped)[0] == ["ok"]
    assert verdicts(CONTRACT + "#pragma keet inputs nan\n" + CODE, dropped)[0] == ["wrong"]
    loose = verdicts(CONTRACT + "#pragma keet tolerance abs = 3\n" + CODE, CODE)
    assert loose[0] == ["ok"] and "exceeds what Y typically has" in loose[1][0], loose


def test_state_that_outlives_a_launch():
    """Outputs that are kept by address, or by a look at some of the inputs."""
    kept = """#pragma keet launch scale<<<ceil_div(N*D,128), 128>>>(X, Y, N*D, alpha)
__device__ float kept[4096 * 64];
__device__ KEY kept_of[4096];
__global__ void scale(const float *X, float *Y, int n, float alpha)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    const KEY key = SEEN;
    const bool known = kept_of[blockIdx.x] == key;
    __syncthreads();
    if (i < n && !known) kept[i] = alpha * X[i];
    if (threadIdx.x == 0) kept_of[blockIdx.x] = key;
    if (i < n) Y[i] = kept[i];
}
"""
    by_address = kept.replace("KEY", "const float *").replace("SEEN", "X")
    by_contents = kept.replace("KEY", "float").replace("SEEN", "X[0] + X[n / 2] * alpha + n")
    got, why = verdicts(CONTRACT + CODE, by_address, by_contents)
    assert all(g not in ("ok", "no_compile", "contract", "unsupported") for g in got), (got, why)


def test_assumptions():
    even = """#pragma keet size  N = 4096
#pragma keet check N = 101
#pragma keet check N = 350
#pragma keet in    X : f32[N]
#pragma keet out   Y : f32[N]
"""
    code = """#pragma keet launch f<<<ceil_div(N,128), 128>>>(X, Y, N)
__global__ void f(const float *X, float *Y, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) Y[i] = 2 * X[i];
}
"""
    without_two = code.replace("i < n)", "i < n && n % 5 != 2)")
    assert verdicts(even + code, without_two)[0] == ["wrong"]  # a derived size leaves a rest of 2
    assert verdicts(even + "#pragma keet assume N % 5 != 2\n" + code, without_two)[0] == ["ok"]


def test_a_slow_variant_is_no_endless_one():
    few = """#pragma keet size  M = 1024, N = 4
#pragma keet check M = 250, N = 3
#pragma keet in    X : f32[M][N]
#pragma keet out   Y : f32[M]
#pragma keet tolerance rel = 1e-5, abs = 1e-6
#pragma keet launch f<<<ceil_div(M,128), 128>>>(X, Y, M, N)
__global__ void f(const float *X, float *Y, int M, int N)
{
    int r = blockIdx.x * 128 + threadIdx.x;
    float a = 0;
    if (r >= M) return;
    for (int i = 0; i < N; i++) a += X[r * N + i];
    Y[r] = a;
}
"""
    wide = """#pragma keet launch f<<<M, 1024>>>(X, Y, M, N)
__global__ void f(const float *X, float *Y, int M, int N)
{
    __shared__ float part[1024];
    int t = threadIdx.x;
    float a = 0;
    for (int i = t; i < N; i += 1024) a += X[blockIdx.x * N + i];
    part[t] = a;
    __syncthreads();
    for (int h = 512; h > 0; h /= 2) { if (t < h) part[t] += part[t + h]; __syncthreads(); }
    if (t == 0) Y[blockIdx.x] = part[0];
}
"""
    endless = wide.replace("h /= 2", "h += 0")
    assert verdicts(few, wide, endless)[0] == ["ok", "timeout"]


def searched(original, replies, budget):
    """A run in which a model answers with the texts, one after the other: (nodes, calls)."""
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "script"))
        with open(os.path.join(folder, "f.cu"), "w") as file:
            file.write(original)
        for purpose in "write", "repair":
            for i, text in enumerate(replies, 1):
                with open(os.path.join(folder, "script", f"{purpose}-{i}.md"), "w") as file:
                    file.write(f"```cuda\n{text}```\n")
        done = subprocess.run([keet, "f.cu", "--device", "emu", "--model", "script:script", "--model-only", "--no-plan",
                               "--in-flight", "1", "--budget", str(budget), "--db", "run.db", "--no-memory", "-q"],
                              cwd=folder, capture_output=True, text=True, timeout=250)
        db = sqlite3.connect(os.path.join(folder, "run.db"))
        nodes = db.execute("select verdict, verdict_text, speedup from node order by number").fetchall()
        calls = db.execute("select number, verdict, verdict_text from model_call where verdict is not null order by id")
        assert nodes, done.stderr
        return nodes, calls.fetchall()


LONG = """#pragma keet size  N = 100000
#pragma keet check N = 1000
#pragma keet in    A : f32[N]
#pragma keet out   C : f32[N]
#pragma keet launch f<<<ceil_div(N,64), 64>>>(A, C, N)
__global__ void f(const float *A, float *C, int N)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) { float s = 0; for (int k = 0; k < 20; k++) s += A[(i * 7 + k * 31) % N]; C[i] = s; }
}
"""


def test_a_fault_at_the_timed_size_is_on_record():
    # The first evaluation spends the budget, and the others are equal to it: none is repaired, all are on record.
    late = LONG.replace("k < 20", "k < (i > 50000 ? 2 : 20)").replace("ceil_div(N,64), 64", "ceil_div(N,256), 256")
    for budget in 1, 4:
        nodes, calls = searched(LONG, [late] * 6, budget)
        assert nodes[0][0] == "ok" and nodes[1][0] == "wrong" and "timed" in nodes[1][1], nodes
        of_node = {}
        for number, verdict, text in calls:
            of_node[number] = verdict, text
        for number, (verdict, text, _) in enumerate(nodes):
            assert number == 0 or of_node[number] == (verdict, text), (number, nodes, calls)


def test_a_sample_of_few_long_blocks():
    # Eight of the 32 blocks would take too long: fewer of them are the sample.
    with open(os.path.join(os.environ["KEET_SHARE"], "kernels", "softmax.cu")) as file:
        softmax = file.read()
    late = softmax.replace("int i = 0; i < cols; i++)\n            sum", "int i = 0; i < cols >> (rows > 4000 && cols > 1000); i++)\n            sum")
    assert late != softmax
    nodes, _ = searched(softmax, [late], 1)
    assert nodes[1][0] == "wrong" and "timed" in nodes[1][1], nodes


def test_one_block_of_many_works():
    # A sample of the blocks would miss the one that works.
    one = LONG.replace("ceil_div(N,64), 64", "65536, 64").replace("    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < N)",
        "    if (blockIdx.x != 40000) return;\n    for (int i = threadIdx.x; i < N; i += 64)")
    assert one.count("40000") == 1
    nodes, _ = searched(LONG, [one], 1)
    assert nodes[1][0] in ("ok", "suspicious") and (nodes[1][2] or 0) < 1, nodes


def test_sanitizers_on_every_set():
    # Only where numbers are equal do two threads store to the place that nobody reads.
    argmax = """#pragma keet size  M = 1000, N = 256
#pragma keet check M = 60, N = 100
#pragma keet in    X : f32[M][N]
#pragma keet out   Y : f32[M]
#pragma keet launch f<<<M, 128>>>(X, Y, N)
__global__ void f(const float *X, float *Y, int N)
{
    __shared__ float part[128];
    __shared__ int tie[1];
    int t = threadIdx.x;
    float m = -INFINITY;
    for (int i = t; i < N; i += 128) m = fmaxf(m, X[blockIdx.x * N + i]);
    part[t] = m;
    __syncthreads();
    for (int h = 64; h > 0; h /= 2) { if (t < h) part[t] = fmaxf(part[t], part[t + h]); __syncthreads(); }
    EXTRA
    if (t == 0) Y[blockIdx.x] = part[0];
}
"""
    racy = argmax.replace("EXTRA", "if (m == part[0]) tie[0] = t; if (N < 0) Y[0] = tie[0];")
    document, _ = check(argmax.replace("EXTRA", ""), [racy, argmax.replace("EXTRA", "if (t == 0) tie[0] = t;")])
    got = document["candidates"]
    assert got[0]["verdict"] == "race" and "inputs:" in got[0]["reason"], got[0]
    assert got[1]["verdict"] == "ok", got[1]


def test_candidates_that_are_programs():
    """What a user has are two versions of a program, each with its main; the blocks are other ones."""
    text = """#include <cstdio>
#include <vector>
__global__ void scale(const float *x, float *y, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) y[i] = 2 * x[i]MORE;
}
int main()
{
    const int n = 50000;
    std::vector<float> host(n, 1.0f);
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    scale<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(x, y, n);
    cudaDeviceSynchronize();
}
"""
    original = text.replace("BLOCK", "128").replace("MORE", "")
    document, _ = check(original, [original.replace("128", "256"), original.replace("* x[i]", "* x[i] + 1")])
    got = document["candidates"]
    assert [c["verdict"] for c in got] == ["ok", "wrong"], got
    assert got[1]["line"] == 6, got[1]
    kernel = original[original.index("__global__"):original.index("int main")]
    others = [kernel, "// as in scale<<<8, 128>>>(x, y, n)\n" + kernel, original.replace("scale<<<", "other<<<")]
    got = check(original, others)[0]["candidates"]
    assert [c["verdict"] for c in got[:2]] == ["ok", "ok"] and got[2]["verdict"] != "ok", got
    assert "read as a program:" in got[2]["reason"], got[2]


def test_a_thin_check_says_so():
    fixed = LONG.split("\n", 2)[2].replace("[N]", "[4096]").replace("A, C, N)", "A, C, 4096)").replace("ceil_div(N,64)", "64")
    kinds, said = verdicts(fixed, fixed)
    assert kinds == ["ok"] and said[0].startswith("A THIN CHECK, at one size"), said
    assert not verdicts(LONG, LONG)[1][0].startswith("A THIN CHECK")


def test_sizes_that_the_kernel_repeats():
    """C and K are numbers in the kernel, too; nothing in the contract says so. Other sizes are still tried."""
    text = """#pragma keet size   C = 24, K = 12, H = 128, W = 96
#pragma keet in     X : f32[C][H][W]
#pragma keet in     F : f32[K]
#pragma keet out    Y : f32[C][H][W]
#pragma keet launch f<<<dim3(ceil_div(W,32), H), 32>>>(X, F, Y, H, W)
#define C 24
template <int K> __device__ float filtered(const float *x, const float *f, int w, int W)
{
    float s = 0;
    for (int k = 0; k < K; k++) s += w + k < W ? f[k] * x[k] : 0;
    return s;
}
__global__ void f(const float *X, const float *F, float *Y, int H, int W)
{
    int w = blockIdx.x * 32 + threadIdx.x, h = blockIdx.y;
    if (GUARD)
        for (int c = 0; c < C; c++) Y[(c * H + h) * W + w] = filtered<12>(X + (c * H + h) * W + w, F, w, W);
}
"""
    right, faulty = text.replace("GUARD", "w < W"), text.replace("GUARD", "w < (W & ~15)")
    document, _ = check(right, [right, faulty])
    got = document["candidates"]
    assert got[0]["verdict"] == "ok" and "C = 24, K = 12 everywhere" in got[0]["compared"], got[0]
    assert got[1]["verdict"] == "wrong", got[1]
    large = right.replace("K = 12, H = 128, W = 96", "K = 12, H = 700, W = 500").replace("C = 24, K = 12, H = 700, W = 500", "H = 700, W = 500, C = 24, K = 12")
    got = check(large, [large])[0]["candidates"]
    assert "C = 24, K = 12 everywhere" in got[0]["compared"], got[0]
    # N must be a multiple of four, which looks as if it were tied: it is tried at other multiples all the same.
    rows = """#pragma keet size   M = 96, N = 1024
#pragma keet in     X : f32[M][N]
#pragma keet out    Y : f32[M][N]
#pragma keet launch twice<<<M, 64>>>(X, Y, N)
__global__ void twice(const float *X, float *Y, int N)
{
    for (int i = threadIdx.x; i < WIDTH / 4; i += 64) {
        float4 x = ((const float4 *)(X + blockIdx.x * WIDTH))[i];
        ((float4 *)(Y + blockIdx.x * WIDTH))[i] = make_float4(2 * x.x, 2 * x.y, 2 * x.z, 2 * x.w);
    }
}
"""
    got = check(rows.replace("WIDTH", "N"), [rows.replace("WIDTH", "N"), rows.replace("WIDTH", "1024")])[0]["candidates"]
    assert got[0]["verdict"] == "ok" and "everywhere" not in got[0]["compared"], got[0]
    assert got[1]["verdict"] != "ok", got[1]


def test_expect_is_held_whatever_it_costs():
    """`expect` is held at the timed size alone, whatever that costs; where arrays are too large, the note says that nothing was."""
    text = """#pragma keet size   N = NR
#pragma keet check  N = 1000
#pragma keet in     X : f32[N] = uniform(0, 1)
#pragma keet out    Y : f32[N]
#pragma keet expect Y = file("y.npy")
#pragma keet launch ones<<<ceil_div(N, 256), 256>>>(X, Y, N)
__global__ void ones(const float *X, float *Y, int N)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i < N ? X[i] : 0;
    for (int k = 0; k < N / 8; k++)
        x = x * x;
    if (i < N)
        Y[i] = x < 1.0f ? 1.0f : 2.0f;
}
"""
    for nr, value, code, said in ((16384, 1, 0, "(2 given,"), (16384, 3, 1, "does not compute what `expect` says"),
                                  (262144, 1, 0, "NOT HELD TO THE TASK'S FILES")):
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({nr},), }}".ljust(117) + "\n"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "k.cu")
            with open(path, "w") as file:
                file.write(text.replace("NR", str(nr)).replace("N / 8", "N / 8" if nr < 99999 else "1"))
            with open(os.path.join(folder, "y.npy"), "wb") as file:
                file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
                file.write(struct.pack("<f", value) * nr)
            done = subprocess.run([keet, "check", path, path, "--device", "emu"], capture_output=True, text=True, timeout=250)
        assert done.returncode == code and said in done.stdout + done.stderr, (done.stdout, done.stderr)


def test_one_data_set_is_not_all():
    """Where files give all inputs, and there is one size, a kernel is held to other inputs of that size as well: one
    that is right for these numbers alone is wrong."""
    text = """#pragma keet inout X : f32[1000] = file("x.npy", uniform(1, 3))
#pragma keet expect X = file("y.npy")
#pragma keet launch twice<<<4, 256>>>(X)
__global__ void twice(float *X)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 1000)
        X[i] = RESULT;
}
"""
    with tempfile.TemporaryDirectory() as folder:
        for name, value in (("x", 2), ("y", 4)):
            header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1000,), }".ljust(117) + "\n"
            with open(os.path.join(folder, name + ".npy"), "wb") as file:
                file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
                file.write(struct.pack("<f", value) * 1000)
        for name, result in (("original", "2 * X[i]"), ("right", "X[i] + X[i]"), ("fitted", "4")):
            with open(os.path.join(folder, name + ".cu"), "w") as file:
                file.write(text.replace("RESULT", result))
        for name, code in (("right", 0), ("fitted", 3)):
            done = subprocess.run([keet, "check", f"{folder}/original.cu", f"{folder}/{name}.cu", "--device", "emu"],
                                  capture_output=True, text=True, timeout=250)
            assert done.returncode == code, (name, done.stdout, done.stderr)


def main():
    for name, function in list(globals().items()):
        if name.startswith("test_"):
            function()
            print("ok", name, flush=True)


main()
