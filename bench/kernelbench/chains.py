"""Kernel files of chains.txt: a problem of KernelBench as plain kernels, one launch or a few for each operator of PyTorch's.

    chains.py FOLDER [NAME...]      writes FOLDER/NAME.cu

A chain begins with the shape of its input and goes on with operators:

    B=128 C=64 H=128 W=128 | conv 128 k=3 | relu | bias

| operator | is |
|---|---|
| `conv O`, `convt O`; `k= s= p= d= g= op=` (a number, or one for each dimension as 3,5), `nobias` | a convolution, transposed or not |
| `linear O`, `nobias` | rows times a matrix [O][C], plus a bias |
| `matmul N`, `ta`, `tb`, `batched` | the input [B][C] times a matrix of N columns |
| `relu`, `gelu`, `mul 2`, `clamp 0 1`, ... | a function of each element (FUNCTIONS) |
| `bias`, `scale`, `less` | + * - a parameter for each channel |
| `max 2`, `avg 2` | pools; of rows of `linear` over the row |
| `sum D`, `mean D`, `amax D`, `amin D`, `lse D` | reductions over D: `channels`, `space`, `all` (both), `depth`, `height` |
| `softmax D` | over the same |
| `bn`, `gn G`, `in`, `ln`, `rn` | norms, of batches in training; `in` and `rn` (rows of `linear`) without parameters, `ln` over the last dimension |
| `rows`, `triu`, `tril` | * a parameter for each row; triangles of a matrix |
| `cut`, `cumsum`, `zero` | of rows: a copy without the last element; running sums; a copy with a zero in front |
| `outer N` | one number a row [B] + each of N parameters: [N][B] |
| `save A`, `input A` | keeps what is there; one more input of this shape |
| `add A`, `times A`, `from A` | A + x, A * x, A - x; x may lack the last extents of A |

`matmul N batched` of an input [B][C][D] has a matrix for each of B, [D][N], with `tb` [N][D]. Extents that are not given are 1. `check`
sizes are small ones, made here; `check=N` of `linear` is the number of its outputs there."""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FILE = HERE / "chains.txt"

FUNCTIONS = {
    "relu": "fmaxf(v, 0.0f)", "leaky": "v > 0 ? v : v * {0}f", "sigmoid": "1 / (1 + expf(-v))", "tanh": "tanhf(v)",
    "gelu": "0.5f * v * (1 + erff(v * 0.70710678f))", "swish": "v / (1 + expf(-v))",
    "mish": "v * tanhf(v > 20 ? v : log1pf(expf(v)))", "hardswish": "v * fminf(fmaxf(v + 3, 0.0f), 6.0f) / 6",
    "hardswish2": "v * v * fminf(fmaxf(v + 3, 0.0f), 6.0f) / 6", "mishx": "v * v * tanhf(v > 20 ? v : log1pf(expf(v)))",
    "sigmoid3": "v / (1 + expf(-v - 3)) / 6", "clamp": "fminf(fmaxf(v, {0}f), {1}f)", "atleast": "fmaxf(v, {0}f)",
    "atmost": "fminf(v, {0}f)", "plus": "v + {0}f", "minus": "v - {0}f", "mul": "v * {0}f", "div": "v / {0}f", "twice": "v + v"}
PARAMETERS = {"bias": "v + p", "scale": "v * p", "less": "v - p"}
KEPT = {"add": "v + p", "times": "v * p", "from": "p - v"}
REDUCTIONS = {"sum": ("0.0f", "a + v", "a"), "mean": ("0.0f", "a + v", "a / len"), "amax": ("-INFINITY", "fmaxf(a, v)", "a"),
              "amin": ("INFINITY", "fminf(a, v)", "a"), "lse": None}
BLOCK = 256

CONV = """__global__ void {name}(const float *__restrict__ x, const float *__restrict__ w, {b_arg}float *__restrict__ y, int C, int D, int H, int W,
    int O, int OD, int OH, int OW, size_t n)
{{
    size_t i = (size_t)blockIdx.x * {block} + threadIdx.x;
    if (i >= n) return;
    int ow = i % OW, oh = i / OW % OH, od = i / ((size_t)OW * OH) % OD, o = i / ((size_t)OW * OH * OD) % O;
    size_t image = i / ((size_t)OW * OH * OD * O);
    int per_group = C / {g}, c0 = o / (O / {g}) * per_group;
    float sum = {b_read};
    for (int c = 0; c < per_group; c++)
        for (int kd = 0; kd < {kd}; kd++)
            for (int kh = 0; kh < {kh}; kh++)
                for (int kw = 0; kw < {kw}; kw++) {{
                    int d = od * {sd} - {pd} + kd * {dd}, h = oh * {sh} - {ph} + kh * {dh}, v = ow * {sw} - {pw} + kw * {dw};
                    if (d >= 0 && d < D && h >= 0 && h < H && v >= 0 && v < W)
                        sum += x[(((image * C + c0 + c) * D + d) * H + h) * W + v] *
                               w[((((size_t)o * per_group + c) * {kd} + kd) * {kh} + kh) * {kw} + kw];
                }}
    y[i] = sum;
}}
"""
CONVT = """__global__ void {name}(const float *__restrict__ x, const float *__restrict__ w, {b_arg}float *__restrict__ y, int C, int D, int H, int W,
    int O, int OD, int OH, int OW, size_t n)
{{
    size_t i = (size_t)blockIdx.x * {block} + threadIdx.x;
    if (i >= n) return;
    int ow = i % OW, oh = i / OW % OH, od = i / ((size_t)OW * OH) % OD, o = i / ((size_t)OW * OH * OD) % O;
    size_t image = i / ((size_t)OW * OH * OD * O);
    int per_group = C / {g}, outs = O / {g}, c0 = o / outs * per_group;
    float sum = {b_read};
    for (int kd = 0; kd < {kd}; kd++)
        for (int kh = 0; kh < {kh}; kh++)
            for (int kw = 0; kw < {kw}; kw++) {{
                int d = od + {pd} - kd * {dd}, h = oh + {ph} - kh * {dh}, v = ow + {pw} - kw * {dw};
                if (d < 0 || h < 0 || v < 0 || d % {sd} || h % {sh} || v % {sw}) continue;
                d /= {sd}, h /= {sh}, v /= {sw};
                if (d >= D || h >= H || v >= W) continue;
                for (int c = 0; c < per_group; c++)
                    sum += x[(((image * C + c0 + c) * D + d) * H + h) * W + v] *
                           w[((((size_t)(c0 + c) * outs + o % outs) * {kd} + kd) * {kh} + kh) * {kw} + kw];
            }}
    y[i] = sum;
}}
"""
MATMUL = """__global__ void {name}(const float *__restrict__ x, const float *__restrict__ w, {b_arg}float *__restrict__ y, int M, int N, int K)
{{
    __shared__ float s[32][33], t[32][33];
    int m = blockIdx.y * 32, n = blockIdx.x * 32, tx = threadIdx.x, ty = threadIdx.y;
    float sum[4] = {{0, 0, 0, 0}};
    x += (size_t)blockIdx.z * M * K, w += (size_t)blockIdx.z * {w_batch}, y += (size_t)blockIdx.z * M * N;
    for (int k = 0; k < K; k += 32) {{
        for (int j = ty; j < 32; j += 8) {{
            s[{a_at}] = {a_in} ? x[{a_read}] : 0;
            t[{w_at}] = {w_in} ? w[{w_read}] : 0;
        }}
        __syncthreads();
        for (int q = 0; q < 32; q++)
            for (int r = 0; r < 4; r++)
                sum[r] += s[ty + 8 * r][q] * t[q][tx];
        __syncthreads();
    }}
    for (int r = 0; r < 4; r++)
        if (m + ty + 8 * r < M && n + tx < N)
            y[(size_t)(m + ty + 8 * r) * N + n + tx] = sum[r]{b_read};
}}
"""
ELEMENT = """__global__ void {name}(const float *__restrict__ x, {more}float *__restrict__ y, {ints}size_t n)
{{
    size_t i = (size_t)blockIdx.x * {block} + threadIdx.x;
    if (i >= n) return;
    float v = x[i]{p};
    {f};
}}
"""
POOL = """__global__ void {name}(const float *__restrict__ x, float *__restrict__ y, int D, int H, int W, int OD, int OH, int OW, size_t n)
{{
    size_t i = (size_t)blockIdx.x * {block} + threadIdx.x;
    if (i >= n) return;
    int ow = i % OW, oh = i / OW % OH, od = i / ((size_t)OW * OH) % OD;
    const float *from = x + i / ((size_t)OW * OH * OD) * D * H * W;
    float a = {start};
    for (int kd = 0; kd < {kd}; kd++)
        for (int kh = 0; kh < {kh}; kh++)
            for (int kw = 0; kw < {kw}; kw++) {{
                float v = from[((size_t)(od * {kd} + kd) * H + oh * {kh} + kh) * W + ow * {kw} + kw];
                a = {step};
            }}
    y[i] = {end};
}}
"""
# Over `len` elements that are `inner` apart: by a block where they are neighbours, else by a thread.
BY_BLOCK = """__device__ float all_{name}(float v, float *s)
{{
    s[threadIdx.x] = v;
    for (int h = {block} / 2; h > 0; h /= 2) {{
        __syncthreads();
        if (threadIdx.x < h) {{
            float a = s[threadIdx.x], v = s[threadIdx.x + h];
            s[threadIdx.x] = {step};
        }}
    }}
    __syncthreads();
    v = s[0];
    __syncthreads();
    return v;
}}
"""
REDUCE_BLOCK = """__global__ void {name}(const float *__restrict__ x, float *__restrict__ y, int len)
{{
    __shared__ float s[{block}];
    const float *from = x + (size_t)blockIdx.x * len;
    float a = {start};
    for (int k = threadIdx.x; k < len; k += {block}) {{
        float v = from[k];
        a = {step};
    }}
    a = all_{name}(a, s);
    if (threadIdx.x == 0) y[blockIdx.x] = {end};
}}
"""
REDUCE_THREAD = """__global__ void {name}(const float *__restrict__ x, float *__restrict__ y, int len, int inner, size_t n)
{{
    size_t i = (size_t)blockIdx.x * {block} + threadIdx.x;
    if (i >= n) return;
    const float *from = x + i / inner * len * inner + i % inner;
    float a = {start};
    for (int k = 0; k < len; k++) {{
        float v = from[(size_t)k * inner];
        a = {step};
    }}
    y[i] = {end};
}}
"""
# Logarithm of the sum of exponentials, and softmax.
LSE_BLOCK = """__global__ void {name}(const float *__restrict__ x, float *__restrict__ y, int len)
{{
    __shared__ float s[{block}];
    const float *from = x + (size_t)blockIdx.x * len;
    float most = -INFINITY, sum = 0;
    for (int k = threadIdx.x; k < len; k += {block}) most = fmaxf(most, from[k]);
    most = all_{name}_max(most, s);
    for (int k = threadIdx.x; k < len; k += {block}) sum += expf(from[k] - most);
    sum = all_{name}(sum, s);
    {end_block}
}}
"""
LSE_THREAD = """__global__ void {name}(const float *__restrict__ x, float *__restrict__ y, int len, int inner, size_t n)
{{
    size_t i = (size_t)blockIdx.x * {block} + threadIdx.x;
    if (i >= n) return;
    size_t at = i / inner * len * inner + i % inner;
    const float *from = x + at;
    float most = -INFINITY, sum = 0;
    for (int k = 0; k < len; k++) most = fmaxf(most, from[(size_t)k * inner]);
    for (int k = 0; k < len; k++) sum += expf(from[(size_t)k * inner] - most);
    {end_thread}
}}
"""
NORM = """__global__ void {name}(const float *__restrict__ x, {more}float *__restrict__ y, int len, {ints}int unused)
{{
    __shared__ float s[{block}];
    const float *from = x + (size_t)blockIdx.x * len;
    float sum = 0, squares = 0;
    for (int k = threadIdx.x; k < len; k += {block}) sum += from[k];
    float mean = all_{name}(sum, s) / len;
    for (int k = threadIdx.x; k < len; k += {block}) squares += (from[k] - mean) * (from[k] - mean);
    float factor = rsqrtf(all_{name}(squares, s) / len + 1e-5f);
    for (int k = threadIdx.x; k < len; k += {block}) {{
        size_t i = (size_t)blockIdx.x * len + k;
        float v = (from[k] - mean) * factor;
        y[i] = {f};
    }}
}}
"""
STATISTICS = """__global__ void {name}_stats(const float *__restrict__ x, float *__restrict__ m, int B, int C, int inner)
{{
    __shared__ float s[{block}];
    size_t len = (size_t)B * inner;
    float sum = 0, squares = 0;
    for (size_t k = threadIdx.x; k < len; k += {block}) sum += x[(k / inner * C + blockIdx.x) * inner + k % inner];
    float mean = all_{name}(sum, s) / len;
    for (size_t k = threadIdx.x; k < len; k += {block}) {{
        float v = x[(k / inner * C + blockIdx.x) * inner + k % inner] - mean;
        squares += v * v;
    }}
    squares = all_{name}(squares, s);
    if (threadIdx.x == 0) m[2 * blockIdx.x] = mean, m[2 * blockIdx.x + 1] = rsqrtf(squares / len + 1e-5f);
}}
"""
# Rows of `from` elements become rows of `to`, with `zeros` in front.
MOVE = """__global__ void {name}(const float *__restrict__ x, float *__restrict__ y, int from, int to, int zeros)
{{
    const float *row = x + (size_t)blockIdx.x * from;
    for (int k = threadIdx.x; k < to; k += {block})
        y[(size_t)blockIdx.x * to + k] = k < zeros ? 0 : row[k - zeros];
}}
"""
OUTER = """__global__ void {name}(const float *__restrict__ x, const float *__restrict__ q, float *__restrict__ y, int rows, int n)
{{
    int i = blockIdx.x * {block} + threadIdx.x;
    if (i < n) y[i] = x[i % rows] + q[i / rows];
}}
"""


def times(*extents):
    kept = [f"({e})" if re.search(r"[^\w]", e) else e for e in extents if e != "1"]
    return " * ".join(kept) or "1"


class Chain:
    def __init__(self, first):
        self.values = {k: int(v) for k, v in (pair.split("=") for pair in first.split())}
        self.shape = [name if name in self.values else "1" for name in "BCDHW"]
        self.checks = dict(self.values)
        self.arrays, self.temps, self.launches, self.code = [], [], [], []
        self.saved, self.at, self.nr = {}, "X", 0
        self.work = []    # products' operations
        self.outs, self.applied = {}, 0    # of operators, by their place: the number in the name of their size O<number>
        self.groups, self.least = 1, {name: 6 for name in "DHW"}
        self.row = 33    # of a matrix, at check sizes
        self.arrays.append(("X", self.elements()))

    def elements(self, shape=None):
        return times(*(shape or self.shape))

    def space(self):
        return times(*self.shape[2:])

    def name(self):
        self.nr += 1
        return f"op{self.nr}"

    def parameter(self, extent):
        self.arrays.append((f"P{len(self.arrays)}", extent))
        return self.arrays[-1][0]

    def temp(self, extent):
        self.temps.append((f"T{len(self.temps)}", extent))
        return self.temps[-1][0]

    def launch(self, name, blocks, arguments, threads=str(BLOCK)):
        self.launches.append((name, blocks, threads, arguments))

    def each(self, name, more, ints, to):
        n = self.elements()
        self.launch(name, f"ceil_div({n}, {BLOCK})", [self.at, *more, to, *ints, n])

    # ---- operators ----

    def convolution(self, words, options, transposed):
        name, out = self.name(), int(words[0])
        self.values[f"O{self.nr}"], outs = out, f"O{self.nr}"
        dims = [i for i in (2, 3, 4) if self.shape[i] != "1"] or [4]
        g = int(options.get("g", "1"))
        self.groups = max(self.groups, g)
        self.checks[outs] = max(g, min(out, 8))
        v = {"name": name, "block": BLOCK, "g": g}

        def of(key, standard, place):
            numbers = [int(n) for n in options.get(key, str(standard)).split(",")]
            return 1 if place is None and standard == 1 else 0 if place is None else numbers[place % len(numbers)]
        old, new = list(self.shape), list(self.shape)
        for i, letter in zip((2, 3, 4), "dhw"):
            place = dims.index(i) if i in dims else None
            k, s, p, d, op = (of(*pair, place) for pair in (("k", 1), ("s", 1), ("p", 0), ("d", 1), ("op", 0)))
            v |= {f"k{letter}": k, f"s{letter}": s, f"p{letter}": p, f"d{letter}": d}
            if place is not None and transposed:
                new[i] = f"({old[i]} - 1) * {s} - {2 * p} + {d * (k - 1) + op + 1}"
            elif place is not None:
                new[i] = f"({old[i]} + {2 * p} - {d * (k - 1) + 1}) / {s} + 1"
                self.least["DHW"[i - 2]] = max(self.least["DHW"[i - 2]], d * (k - 1) + 1 + 4 * s)
        taps = str(v["kd"] * v["kh"] * v["kw"])
        weights = self.parameter(times(f"{old[1]} / {g}" if g > 1 else old[1], outs, taps))
        bias = [] if "nobias" in words else [self.parameter(outs)]
        v |= {"b_arg": "const float *__restrict__ b, " if bias else "", "b_read": "b[o]" if bias else "0"}
        self.code.append((CONVT if transposed else CONV).format(**v))
        new[1] = outs
        n = self.elements(new)
        to = self.temp(n)
        per_group = f"{old[1]} / {g}" if g > 1 else old[1]
        self.work.append(times("2", *(([old[0], outs, *old[2:]] if transposed else new)), per_group, taps))
        self.launch(name, f"ceil_div({n}, {BLOCK})", [self.at, weights, *bias, to, *old[1:], *new[1:], n])
        self.shape, self.at = new, to

    def product(self, words, linear, check=64):
        name, out = self.name(), int(words[0])
        outs = f"O{self.nr}"
        self.values[outs], self.checks[outs] = out, min(out, check)
        ta, tb, batched = "ta" in words, linear or "tb" in words, "batched" in words
        b, k = self.shape[0], self.shape[1]
        rows, z = (self.shape[0], "1") if not batched else (self.shape[1], self.shape[0])
        k = self.shape[1] if not batched else self.shape[2]
        weights = self.parameter(times(k, outs, z if batched else "1"))
        bias = [self.parameter(outs)] if linear and "nobias" not in words else []
        v = {"name": name, "w_batch": "K * N" if batched else "0", "b_arg": "const float *__restrict__ b, " if bias else "",
             "b_read": " + b[n + tx]" if bias else ""}
        v |= ({"a_at": "tx][j", "a_in": "m + tx < M && k + j < K", "a_read": "(size_t)(k + j) * M + m + tx"} if ta else
              {"a_at": "j][tx", "a_in": "m + j < M && k + tx < K", "a_read": "(size_t)(m + j) * K + k + tx"})
        v |= ({"w_at": "tx][j", "w_in": "k + tx < K && n + j < N", "w_read": "(size_t)(n + j) * K + k + tx"} if tb else
              {"w_at": "j][tx", "w_in": "k + j < K && n + tx < N", "w_read": "(size_t)(k + j) * N + n + tx"})
        self.code.append(MATMUL.format(**v))
        self.work.append(times("2", rows, outs, k, z))
        new = [b, rows, outs, "1", "1"] if batched else [rows, outs, "1", "1", "1"]
        to = self.temp(self.elements(new))
        self.launch(name, f"dim3(ceil_div({outs}, 32), ceil_div({rows}, 32), {z})", [self.at, weights, *bias, to, rows, outs, k], "dim3(32, 8)")
        self.shape, self.at = new, to

    def element(self, text, more=(), ints=(), more_args="", int_args="", p=""):
        name = self.name()
        head, _, text = text.rpartition("} ")
        self.code.append(ELEMENT.format(name=name, f=f"{head}{'} ' if head else ''}y[i] = {text}", more=more_args, ints=int_args, p=p, block=BLOCK))
        to = self.temp(self.elements())
        self.each(name, more, ints, to)
        self.at = to

    def by_channel(self, text):
        self.element(text, [self.parameter(self.shape[1])], [self.shape[1], self.space()], "const float *__restrict__ q, ",
                     "int C, int inner, ", ", p = q[i / inner % C]")

    def with_saved(self, text, which):
        """What was kept is p; what is there may lack its last extents, over which it is then the same."""
        other, shape = self.saved[which]
        lacking = [extent for extent, own in zip(shape, self.shape) if own != extent]
        if not lacking:
            self.element(text, [other], [], "const float *__restrict__ q, ", "", ", p = q[i]")
            return
        small, self.at, self.shape = self.at, other, list(shape)
        self.element(f"{{ float u = v; v = p; p = u; }} {text}", [small], [times(*lacking)], "const float *__restrict__ q, ", "int inner, ",
                     ", p = q[i / inner]")

    def pool(self, kind, words):
        name, numbers = self.name(), [int(n) for n in words[0].split(",")]
        flat = self.shape[2:] == ["1", "1", "1"]
        shape = [self.shape[0], "1", "1", "1", self.shape[1]] if flat else list(self.shape)
        dims = [i for i in (2, 3, 4) if shape[i] != "1"]
        new, v = list(shape), {"name": name, "block": BLOCK}
        for i, letter in zip((2, 3, 4), "dhw"):
            k = numbers[dims.index(i) % len(numbers)] if i in dims else 1
            v[f"k{letter}"] = k
            new[i] = f"({shape[i]}) / {k}" if k > 1 else shape[i]
            if k > 1 and not flat:
                self.least["DHW"[i - 2]] = max(self.least["DHW"[i - 2]], 2 * k) + 2
        v |= ({"start": "-INFINITY", "step": "fmaxf(a, v)", "end": "a"} if kind == "max" else
              {"start": "0", "step": "a + v", "end": f"a / {v['kd'] * v['kh'] * v['kw']}"})
        self.code.append(POOL.format(**v))
        n = self.elements(new)
        to = self.temp(n)
        self.launch(name, f"ceil_div({n}, {BLOCK})", [self.at, to, *shape[2:], *new[2:], n])
        self.shape, self.at = [new[0], new[4], "1", "1", "1"] if flat else new, to

    def axis(self, which):
        """(outer, len, inner) and the shape after a reduction."""
        b, c, d, h, w = self.shape
        if which == "channels":
            return b, c, self.space(), [b, "1", d, h, w]
        if which == "space":
            return times(b, c), self.space(), "1", [b, c, "1", "1", "1"]
        if which == "all":
            return b, times(c, d, h, w), "1", [b, "1", "1", "1", "1"]
        if which == "depth":
            return times(b, c), d, times(h, w), [b, c, "1", h, w]
        if which == "height":
            return times(b, c, d), h, w, [b, c, d, "1", w]
        raise ValueError(which)

    def reduce(self, kind, which, keeps_shape=False):
        name, (outer, length, inner, new) = self.name(), self.axis(which)
        block = inner == "1"
        if keeps_shape:
            new = list(self.shape)
        if REDUCTIONS.get(kind):
            start, step, end = REDUCTIONS[kind]
            v = {"name": name, "block": BLOCK, "start": start, "step": step, "end": end}
            self.code.append((BY_BLOCK + REDUCE_BLOCK if block else REDUCE_THREAD).format(**v))
        else:
            ends = (("if (threadIdx.x == 0) y[blockIdx.x] = logf(sum) + most;", "y[i] = logf(sum) + most;") if kind == "lse" else
                    ("for (int k = threadIdx.x; k < len; k += {0}) y[(size_t)blockIdx.x * len + k] = expf(from[k] - most) / sum;".format(BLOCK),
                     "for (int k = 0; k < len; k++) y[at + (size_t)k * inner] = expf(from[(size_t)k * inner] - most) / sum;"))
            v = {"name": name, "block": BLOCK, "end_block": ends[0], "end_thread": ends[1]}
            if block:
                self.code.append(BY_BLOCK.format(name=name + "_max", block=BLOCK, step="fmaxf(a, v)") +
                                 BY_BLOCK.format(name=name, block=BLOCK, step="a + v"))
            self.code.append((LSE_BLOCK if block else LSE_THREAD).format(**v))
        to = self.temp(self.elements(new))
        if block:
            self.launch(name, outer, [self.at, to, length])
        else:
            n = times(outer, inner)
            self.launch(name, f"ceil_div({n}, {BLOCK})", [self.at, to, length, inner, n])
        self.shape, self.at = new, to

    def norm(self, outer, length, affine, index, ints, names):
        name = self.name()
        self.code.append(BY_BLOCK.format(name=name, block=BLOCK, step="a + v"))
        more = "const float *__restrict__ q, const float *__restrict__ r, " if affine else ""
        f = f"v * q[{index}] + r[{index}]" if affine else "v"
        self.code.append(NORM.format(name=name, more=more, f=f, ints="".join(f"int {n}, " for n in names), block=BLOCK))
        to = self.temp(self.elements())
        parameters = [self.parameter(affine), self.parameter(affine)] if affine else []
        self.launch(name, outer, [self.at, *parameters, to, length, *ints, "0"])
        self.at = to

    def batch_norm(self):
        name, c = self.name(), self.shape[1]
        self.code.append((BY_BLOCK + STATISTICS).format(name=name, block=BLOCK, step="a + v"))
        statistics = self.temp(times("2", c))
        self.launch(f"{name}_stats", c, [self.at, statistics, self.shape[0], c, self.space()])
        self.code.append(ELEMENT.format(
            name=name, block=BLOCK, more="const float *__restrict__ m, const float *__restrict__ q, const float *__restrict__ r, ",
            ints="int C, int inner, ", p=";\n    int c = i / inner % C", f="y[i] = (v - m[2 * c]) * m[2 * c + 1] * q[c] + r[c]"))
        to = self.temp(self.elements())
        self.each(name, [statistics, self.parameter(c), self.parameter(c)], [c, self.space()], to)
        self.at = to

    def move(self, length, zeros):
        name, (b, c) = self.name(), self.shape[:2]
        self.code.append(MOVE.format(name=name, block=BLOCK))
        self.shape[1] = length
        to = self.temp(self.elements())
        self.launch(name, b, [self.at, to, c, length, str(zeros)])
        self.at = to

    def running_sum(self):
        """By the kernel of bench/time, which is made as PyTorch's is."""
        self.row = 100    # more than three of the kernel's steps
        self.code.append((HERE.parent / "time" / "scan.cuh").read_text())
        to = self.temp(self.elements())
        self.launch("scan", f"ceil_div({self.shape[0]}, 32)", [self.at, to, *self.shape[:2], "4"], "dim3(16, 32), 4096")
        self.at = to

    def outer(self, words):
        name, rows = self.name(), self.shape[0]
        outs = f"O{self.nr}"
        self.values[outs], self.checks[outs] = int(words[0]), 64
        self.code.append(OUTER.format(name=name, block=BLOCK))
        self.shape = ["1", outs, rows, "1", "1"]
        n = self.elements()
        more, to = self.parameter(outs), self.temp(n)
        self.launch(name, f"ceil_div({n}, {BLOCK})", [self.at, more, to, rows, n])
        self.at = to

    def apply(self, operator):
        words = operator.split()
        if words[0] in ("conv", "convt", "linear", "matmul", "outer"):
            self.outs[self.applied] = self.nr + 1
        self.applied += 1
        kind, options = words[0], dict(w.split("=") for w in words if "=" in w)
        words = [w for w in words[1:] if "=" not in w]
        b, c, d, h, w = self.shape
        if kind in ("conv", "convt"):
            self.convolution(words, options, kind == "convt")
        elif kind in ("linear", "matmul"):
            self.product(words, kind == "linear", int(options.get("check", 64)))
        elif kind in FUNCTIONS:
            self.element(FUNCTIONS[kind].format(*(f"{float(n)!r}" for n in words)))
        elif kind in PARAMETERS:
            self.by_channel(PARAMETERS[kind])
        elif kind in ("max", "avg"):
            self.pool(kind, words)
        elif kind in REDUCTIONS:
            self.reduce(kind, words[0])
        elif kind == "softmax":
            self.reduce(kind, words[0], keeps_shape=True)
        elif kind == "bn":
            self.batch_norm()
        elif kind == "gn":
            self.groups = max(self.groups, int(words[0]))
            self.norm(times(b, words[0]), times(f"{c} / {words[0]}", d, h, w), c, "i / inner % C", [c, self.space()], ["C", "inner"])
        elif kind == "in":
            self.norm(times(b, c), self.space(), None, "", [], [])
        elif kind == "ln":
            self.norm(times(b, c, d, h), w, w, "k", [], [])
        elif kind == "save":
            self.saved[words[0]] = self.at, list(self.shape)
        elif kind == "input":
            self.saved[words[0]] = self.parameter(self.elements()), list(self.shape)
        elif kind in KEPT:
            self.with_saved(KEPT[kind], words[0])
        elif kind in ("triu", "tril"):
            self.element(f"i / C {'<=' if kind == 'triu' else '>='} i % C ? v : 0", (), [c], "", "int C, ")
        elif kind == "rows":
            self.element("v * p", [self.parameter(b)], [times(c, d, h, w)], "const float *__restrict__ q, ", "int C, ", ", p = q[i / C]")
        elif kind == "rn":
            self.norm(b, c, None, "", [], [])
        elif kind == "cut":
            self.move(f"{c} - 1", 0)
        elif kind == "zero":
            self.move(f"{c} + 1", 1)
        elif kind == "cumsum":
            self.running_sum()
        elif kind == "outer":
            self.outer(words)
        else:
            raise ValueError(f"no operator {kind}")

    # ---- the file ----

    def small(self):
        """Check sizes."""
        for name in self.values:
            if name == "B":
                self.checks[name] = min(self.values[name], 3)
            elif name == "C":
                self.checks[name] = min(self.values[name], self.row if "D" not in self.values and "W" not in self.values else
                                        self.groups * (1 if self.groups > 1 else 3))
            elif name in self.least:
                self.checks[name] = min(self.values[name], self.least[name] + 1)
            else:
                self.checks[name] = max(self.checks[name], self.groups * (2 if self.values[name] >= 2 * self.groups else 1))
        return self.checks

    def share_temps(self):
        """An array takes the place of one of the same extent that is not read any more, as PyTorch's allocator has it."""
        used = {name: [i for i, launch in enumerate(self.launches) if name in launch[3]] for name, _ in self.temps}
        places, kept = {}, []    # of arrays: whose place they take; the arrays that have a place of their own, and when it is free
        for name, extent in self.temps:
            free = next((own for own in kept if own["extent"] == extent and own["until"] < used[name][0]), None)
            if not free:
                free = {"name": name, "extent": extent}
                kept.append(free)
            free["until"] = used[name][-1]
            places[name] = free["name"]
        self.temps, self.at = [(own["name"], own["extent"]) for own in kept], places[self.at]
        self.launches = [(*launch[:3], [places.get(a, a) for a in launch[3]]) for launch in self.launches]

    def text(self, note):
        sizes, smaller = self.values, self.small()
        self.share_temps()
        last = self.temps.pop(next(i for i, (name, _) in enumerate(self.temps) if name == self.at))
        lines = [f"// {note}",
                 "#pragma keet size   " + ", ".join(f"{k} = {v}" for k, v in sizes.items()),
                 "#pragma keet check  " + ", ".join(f"{k} = {v}" for k, v in smaller.items())]
        lines += [f"#pragma keet in     {name} : f32[{extent}] = uniform(-0.5, 0.5)" for name, extent in self.arrays]
        lines += [f"#pragma keet out    Y : f32[{last[1]}]"]
        if self.work:
            lines += [f"#pragma keet work   flops = {' + '.join(self.work)}"]
        lines += [f"#pragma keet temp   {name} : f32[{extent}]" for name, extent in self.temps]
        for name, blocks, threads, arguments in self.launches:
            arguments = ", ".join("Y" if a == last[0] else a for a in arguments)
            lines.append(f"#pragma keet launch {name}<<<{blocks}, {threads}>>>({arguments})")
        return "\n".join(lines) + "\n" + "\n".join(self.code)


def read():
    """{name: {level, problem, chain, measured_us}}"""
    found = {}
    for line in FILE.read_text().splitlines():
        if line and line[0] != "#":
            level, problem, measured_us, *chain = (cell.strip() for cell in line.split("|"))
            name = f"l{level}_{problem}".rstrip("_")
            found[name] = {"level": int(level), "problem": problem, "measured_us": float(measured_us), "chain": chain}
    return found


def text_of(row):
    chain = Chain(row["chain"][0])
    for operator in row["chain"][1:]:
        chain.apply(operator)
    row["launches"] = len(chain.launches)
    return chain.text(f"KernelBench level {row['level']}, {row['problem']}: {' | '.join(row['chain'])}")


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, row in read().items():
        if not sys.argv[2:] or name in sys.argv[2:]:
            (folder / f"{name}.cu").write_text(text_of(row))


if __name__ == "__main__":
    main()
