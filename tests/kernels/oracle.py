#!/usr/bin/env python3
# Compares what a kernel of kernels/, kernels/hopper/, bench/ladders/ or tests/kernels/tensor/ computed with a NumPy reference in double precision.
#
#   oracle.py KERNEL.cu DIR            # and of kernels/ with the elements that are stored
#   oracle.py --store KERNEL.cu DIR    # store some of the reference's, for a new kernel of kernels/
#
# DIR is what `keet-opt run KERNEL.cu --dump DIR` wrote: shape.json (sizes and scalars by name), one
# <array>.npy per array after the run, and for an inout array <array>.in.npy, its contents before.
# The tolerance is the one of the kernel file. Exit status: 0 equal, 1 different, 2 cannot tell.
import importlib.util
import json
import os
import re
import sys

PYTHON = "/usr/bin/python3"  # the system's has NumPy where setup.sh ran
if importlib.util.find_spec("numpy") is None:
    if sys.executable == PYTHON or not os.path.exists(PYTHON):
        print("skipped: no Python with NumPy (setup.sh installs it)")
        sys.exit(77)
    os.execv(PYTHON, [PYTHON, *sys.argv])

import numpy as np  # noqa: E402

import hopper_references  # noqa: E402

def f64(a):
    return np.asarray(a, dtype=np.float64)


def bf16(a):
    """The upper halves of float32, as stored in a .npy of u2."""
    return f64((np.asarray(a, dtype=np.uint32) << 16).view(np.float32))


def e4m3(a):
    """OCP FP8 E4M3: bias 7, subnormals at 2^-9, no infinities, 0x7f is NaN."""
    a = np.asarray(a, dtype=np.int64)
    exponent, fraction = a >> 3 & 15, a & 7
    value = np.where(exponent == 0, fraction * 2.0**-9, (1 + fraction / 8) * 2.0 ** (exponent - 7))
    value = np.where((a & 127) == 127, np.nan, value)
    return np.where(a >> 7 & 1, -value, value)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def normalise(x, axes, eps):
    d = x - x.mean(axis=axes, keepdims=True)
    return d / np.sqrt((d * d).mean(axis=axes, keepdims=True) + eps)


def windows(x, nr_rows, nr_cols, top, left):
    """All nr_rows x nr_cols windows of the last two axes of x, padded with zeros: (..., H, W, r, s)."""
    h, w = x.shape[-2:]
    pad = [(0, 0)] * (x.ndim - 2) + [(top, nr_rows - 1 - top), (left, nr_cols - 1 - left)]
    view = np.lib.stride_tricks.sliding_window_view(np.pad(x, pad), (nr_rows, nr_cols), axis=(-2, -1))
    assert view.shape[-4:-2] == (h, w)
    return view


def saxpy(a, s):
    return {"Y": s["alpha"] * f64(a["X"]) + f64(a["Y.in"])}


def transpose(a, s):
    return {"OUT": f64(a["IN"]).T}


def matmul(a, s):
    return {"C": f64(a["A"]) @ f64(a["B"])}


def gemv(a, s):
    return {"Y": f64(a["A"]) @ f64(a["X"])}


def matvec_t(a, s):
    return {"Y": f64(a["A"]).T @ f64(a["X"])}


def softmax_rows(a, s):
    return {"Y": softmax(f64(a["X"]))}


def layernorm(a, s):
    return {"Y": normalise(f64(a["X"]), -1, 1e-5) * f64(a["GAMMA"]) + f64(a["BETA"])}


def rmsnorm(a, s):
    x = f64(a["X"])
    scale = np.sqrt((x * x).mean(axis=-1, keepdims=True) + s["eps"])
    return {"Y": x / scale * f64(a["WEIGHT"])}


def group_norm(a, s):
    scale, shift = f64(a["GAMMA"])[None, :, :, None], f64(a["BETA"])[None, :, :, None]
    return {"Y": normalise(f64(a["X"]), (2, 3), 1e-5) * scale + shift}


def total(a, s):
    return {"TOTAL": f64(a["X"]).sum(keepdims=True)}


def dot(a, s):
    return {"RESULT": (f64(a["X"]) * f64(a["Y"])).sum(keepdims=True)}


def argmax(a, s):
    return {"INDEX": f64(a["X"]).argmax(axis=1)}


def prefix_sum(a, s):
    return {"Y": np.cumsum(np.asarray(a["X"], dtype=np.int64))}


def histogram(a, s):
    return {"BINS": np.bincount(a["DATA"].ravel(), minlength=256)}


def conv2d(a, s):
    rows, cols = s["R"], s["S"]
    view = windows(f64(a["X"]), rows, cols, rows // 2, cols // 2)
    return {"Y": np.einsum("cyxij,ocij->oyx", view, f64(a["F"]))}


def max_pool(a, s):
    x, p = f64(a["X"]), s["P"]
    c, h, w = x.shape[0], x.shape[1] // p, x.shape[2] // p
    return {"Y": x[:, : h * p, : w * p].reshape(c, h, p, w, p).max(axis=(2, 4))}


def stencil3d(a, s):
    x = f64(a["A"])
    y = x.copy()
    inner = slice(1, -1)
    neighbours = (x[:-2, inner, inner] + x[2:, inner, inner] + x[inner, :-2, inner]
                  + x[inner, 2:, inner] + x[inner, inner, :-2] + x[inner, inner, 2:])
    y[inner, inner, inner] = s["c0"] * x[inner, inner, inner] + s["c1"] * neighbours
    return {"B": y}


def spmv_csr(a, s):
    rows = np.repeat(np.arange(s["M"]), np.diff(a["OFFSETS"]))
    y = np.zeros(s["M"])
    np.add.at(y, rows, f64(a["VALUES"]) * f64(a["X"])[a["COLUMNS"]])
    return {"Y": y}


def nbody(a, s):
    place = np.stack([f64(a["PX"]), f64(a["PY"]), f64(a["PZ"])])
    d = place[:, None, :] - place[:, :, None]
    pull = f64(a["MASS"]) * ((d * d).sum(axis=0) + 0.01) ** -1.5
    return dict(zip(("AX", "AY", "AZ"), (pull * d).sum(axis=2)))


def embedding(a, s):
    return {"OUT": f64(a["TABLE"])[a["IDS"]]}


def cross_entropy(a, s):
    x = f64(a["LOGITS"])
    top = x.max(axis=1)
    log_sum = np.log(np.exp(x - top[:, None]).sum(axis=1)) + top
    return {"LOSS": log_sum - x[np.arange(x.shape[0]), a["LABELS"]]}


def bias_gelu(a, s):
    v = f64(a["X"]) + f64(a["BIAS"])
    return {"Y": 0.5 * v * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v**3)))}


def attention(a, s):
    q, k, v = f64(a["Q"]), f64(a["K"]), f64(a["V"])
    return {"O": softmax(q @ k.transpose(0, 2, 1) / np.sqrt(s["D"])) @ v}


def swiglu(a, s):
    x = f64(a["X"])
    g = x @ f64(a["WG"])
    return {"Y": (g / (1 + np.exp(-g)) * (x @ f64(a["WU"]))) @ f64(a["WD"])}


def distance(a, s):
    d = f64(a["P"])[:, None, :] - f64(a["C"])[None, :, :]
    return {"DIST": (d * d).sum(axis=2)}


def box_blur(a, s):
    n, r = 2 * s["RADIUS"] + 1, s["RADIUS"]
    x = np.asarray(a["IN"], dtype=np.int64)
    totals = windows(x, n, n, r, r).sum(axis=(-2, -1))
    return {"OUT": totals // windows(np.ones_like(x), n, n, r, r).sum(axis=(-2, -1))}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def relu(x):
    return np.maximum(x, 0)


def matmul_bias_relu(a, s):
    return {"Y": relu(f64(a["X"]) @ f64(a["W"]) + f64(a["BIAS"]))}


def matmul_sigmoid_sum(a, s):
    return {"Y": sigmoid(f64(a["X"]) @ f64(a["W"])).sum(axis=1)}


def residual_layernorm(a, s):
    return layernorm(dict(a, X=f64(a["X"]) + f64(a["R"])), s)


def masked_softmax(a, s):
    x = f64(a["X"]) * s["scale"]
    return {"P": softmax(np.where(np.tri(x.shape[-1], dtype=bool), x, -np.inf))}


def conv1d_bias_relu(a, s):
    view = windows(f64(a["X"]), 1, s["K"], 0, s["K"] // 2)[..., 0, :]
    y = np.einsum("bclk,ock->bol", view, f64(a["F"]))
    return {"Y": relu(y + f64(a["BIAS"])[:, None])}


def batchnorm_relu(a, s):
    scale, shift = f64(a["GAMMA"])[:, None], f64(a["BETA"])[:, None]
    return {"Y": relu(normalise(f64(a["X"]), (0, 2), 1e-5) * scale + shift)}


def rotary(a, s):
    """A turn of the plane is a product of complex numbers."""
    x, half = f64(a["X"]), s["E"] // 2
    angle = np.outer(np.arange(s["T"]), 10000.0 ** (-np.arange(half) / half))
    turned = (x[..., :half] + 1j * x[..., half:]) * np.exp(1j * angle)[:, None, :]
    return {"Y": np.concatenate([turned.real, turned.imag], axis=-1)}


def sgd_momentum(a, s):
    gradient = f64(a["G"]) + s["decay"] * f64(a["W.in"])
    velocity = s["momentum"] * f64(a["V.in"]) + gradient
    return {"V": velocity,
            "W": f64(a["W.in"]) - s["rate"] * (gradient + s["momentum"] * velocity)}


def mlp(a, s):
    x = f64(a["X"])
    for n in "12":
        x = relu(x @ f64(a["W" + n]) + f64(a["B" + n]))
    return {"Y": x @ f64(a["W3"]) + f64(a["B3"])}


def transformer_block(a, s):
    x, heads = f64(a["X"]), s["H"]
    qkv = layernorm(a, s)["Y"] @ f64(a["WQKV"])
    q, k, v = qkv.reshape(len(x), 3, heads, -1).transpose(1, 2, 0, 3)
    o = attention({"Q": q, "K": k, "V": v}, {"D": s["E"]})["O"]
    return {"Y": x + o.transpose(1, 0, 2).reshape(x.shape) @ f64(a["WO"])}


def conv_3x3(x, filters):
    return conv2d({"X": x, "F": filters}, {"R": 3, "S": 3})["Y"]


def scaled(x, a, n=""):
    return x * f64(a["SCALE" + n])[:, None, None] + f64(a["SHIFT" + n])[:, None, None]


def conv_bn_relu_pool(a, s):
    return max_pool({"X": relu(scaled(conv_3x3(a["X"], a["F"]), a))}, {"P": 2})


def residual_block(a, s):
    inner = relu(scaled(conv_3x3(a["X"], a["F1"]), a, "1"))
    return {"Y": relu(f64(a["X"]) + scaled(conv_3x3(inner, a["F2"]), a, "2"))}


def separable_conv(a, s):
    view = windows(f64(a["X"]), 3, 3, 1, 1)
    inner = np.einsum("cyxij,cij->cyx", view, f64(a["FD"])) + f64(a["BD"])[:, None, None]
    outer = np.einsum("oc,cyx->oyx", f64(a["FP"]), np.clip(inner, 0, 6))
    return {"Y": np.clip(outer + f64(a["BP"])[:, None, None], 0, 6)}


def squeeze_excite(a, s):
    x = f64(a["X"])
    weight = sigmoid(relu(x.mean(axis=2) @ f64(a["W1"])) @ f64(a["W2"]))
    return {"Y": x * weight[..., None]}


def lstm_cell(a, s):
    gates = f64(a["X"]) @ f64(a["WX"]) + f64(a["H0"]) @ f64(a["WH"]) + f64(a["BIAS"])
    i, f, g, o = np.split(gates, 4, axis=1)
    cell = sigmoid(f) * f64(a["C0"]) + sigmoid(i) * np.tanh(g)
    return {"C1": cell, "H1": sigmoid(o) * np.tanh(cell)}


def gru_cell(a, s):
    h = f64(a["H0"])
    rx, zx, nx = np.split(f64(a["X"]) @ f64(a["WX"]) + f64(a["BX"]), 3, axis=1)
    rh, zh, nh = np.split(h @ f64(a["WH"]) + f64(a["BH"]), 3, axis=1)
    z = sigmoid(zx + zh)
    return {"H1": (1 - z) * np.tanh(nx + sigmoid(rx + rh) * nh) + z * h}


def gemm(a, s, convert=f64, by_columns=False):
    right = convert(a["B"])
    return {"C": convert(a["A"]) @ (right.T if by_columns else right)}


def gemm_epilogue(a, s):
    return {"C": np.maximum(gemm(a, s)["C"] * 0.5 + 1, 0)}


def block_sums(a, s):
    x = f64(a["X"])
    return {"SUMS": x.reshape(len(a["SUMS"]), -1).sum(axis=1)}


def total_added(a, s):
    return {"TOTAL": np.asarray(a["X"], dtype=np.int64).sum(keepdims=True) + a["TOTAL.in"]}


def copied(a, s):
    return {"Y": a["X"]}


def neighbours_in_rounds(a, s):
    y = np.asarray(a["X"], dtype=np.int64).reshape(-1, 256)
    for r in range(3):
        y = np.roll(y, -1, axis=1) + r
    return {"Y": y.ravel()}


def called_by_address(a, s):
    x, w = np.asarray(a["X"], dtype=np.int64), np.asarray(a["W"], dtype=np.int64)

    def twisted(a, b):
        return np.where(b > 3, a * b - 1, (a + b) * 2)

    v = np.choose(w % 3, [x + w, x * w, twisted(x, w)])
    v = np.where(w % 2 == 0, twisted(v, w), v + w)
    virtual = np.where(w > 2, v + 1000, v * 3)
    return {"Y": np.where(np.arange(x.size) % 5 != 0, virtual, v)}


def column_sums(a, s):
    x = np.asarray(a["X"], dtype=np.int64)
    return {"Y": x[: x.size // 96 * 96].reshape(-1, 96).sum(axis=0)}


def next_column_sums(a, s):
    return {"Y": np.roll(np.asarray(a["X"], dtype=np.int64).reshape(-1, 128).sum(axis=0), -1)}


def of_columns(convert=f64):
    return lambda a, s: gemm(a, s, convert, by_columns=True)


# The kernels of tests/kernels/tensor and truth by name, those of bench/ladders by their folder.
TENSOR = {
    "mma_bf16_k16": of_columns(bf16),
    "mma_e4m3_k32": of_columns(e4m3),
    "mma_f16_k16": of_columns(),
    "mma_f16_k8": of_columns(),
    "mma_ldmatrix": of_columns(),
    "mma_s8_k32": of_columns(),
    "mma_tf32_k4": of_columns(),
    "mma_tf32_k8": of_columns(),
    "mma_u8_k16": of_columns(),
    "wgmma_bf16": of_columns(bf16),
    "wgmma_cute": of_columns(bf16),
    "cutlass_collective": of_columns(bf16),
    "tma_cute": of_columns(bf16),
    "wgmma_cluster": of_columns(bf16),
    "wgmma_stored": of_columns(bf16),
    "wmma_bf16": lambda a, s: gemm(a, s, bf16),
    "wmma_epilogue": gemm_epilogue,
    "wmma_f16_f32": gemm,
    "wmma_f16_tall": of_columns(),
    "wmma_f16_wide": gemm,
    "wmma_f64": gemm,
    "wmma_s8": of_columns(),
    "wmma_shared": gemm,
    "wmma_tf32": gemm,
    "wmma_u8_wide": gemm,
}
TRUTH = {
    "barrier_roles": column_sums,
    "barrier_rounds": neighbours_in_rounds,
    "calls_by_address": called_by_address,
    "pipeline_copies": next_column_sums,
    "tile_sums": block_sums,
}
LADDERS = {
    "copy": copied,
    "reduction": block_sums,
    "sgemm": matmul,
    "softmax": softmax_rows,
    "transpose": transpose,
    "vector_sum": total_added,
}


REFERENCES = {
    "argmax": argmax,
    "attention": attention,
    "batched_matmul": matmul,
    "batchnorm_relu": batchnorm_relu,
    "bias_gelu": bias_gelu,
    "box_blur": box_blur,
    "conv1d_bias_relu": conv1d_bias_relu,
    "conv2d": conv2d,
    "conv_bn_relu_pool": conv_bn_relu_pool,
    "cross_entropy": cross_entropy,
    "distance": distance,
    "dot": dot,
    "embedding": embedding,
    "gemv": gemv,
    "group_norm": group_norm,
    "gru_cell": gru_cell,
    "histogram": histogram,
    "layernorm": layernorm,
    "lstm_cell": lstm_cell,
    "masked_softmax": masked_softmax,
    "matmul": matmul,
    "matmul_bf16": of_columns(bf16),
    "matmul_bias_relu": matmul_bias_relu,
    "matmul_f16": matmul,
    "matmul_sigmoid_sum": matmul_sigmoid_sum,
    "matvec_t": matvec_t,
    "max_pool": max_pool,
    "mlp": mlp,
    "nbody": nbody,
    "prefix_sum": prefix_sum,
    "residual_block": residual_block,
    "residual_layernorm": residual_layernorm,
    "rmsnorm": rmsnorm,
    "rotary": rotary,
    "saxpy": saxpy,
    "separable_conv": separable_conv,
    "sgd_momentum": sgd_momentum,
    "softmax": softmax_rows,
    "spmv_csr": spmv_csr,
    "squeeze_excite": squeeze_excite,
    "stencil3d": stencil3d,
    "sum": total,
    "swiglu": swiglu,
    "transformer_block": transformer_block,
    "transpose": transpose,
}


class CannotTell(Exception):
    pass


# ---- what was generated once: some elements of each output of kernels/, as the references gave them ----

STORED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected.json")
MOST_STORED = 48


def sample(array):
    """Evenly spaced elements, the first and the last among them."""
    flat = f64(array).ravel()
    return flat[np.unique(np.linspace(0, flat.size - 1, MOST_STORED).astype(int))]


def store(kernel, folder):
    name = os.path.splitext(os.path.basename(kernel))[0]
    arrays, sizes = load(folder)
    known = {}
    if os.path.exists(STORED):
        with open(STORED) as f:
            known = json.load(f)
    known[name] = {array: {"shape": list(want.shape), "values": [float(f"{v:.9g}") for v in sample(want)]}
                   for array, want in REFERENCES[name](arrays, sizes).items()}
    lines = [f"{json.dumps(k)}: {json.dumps(known[k])}" for k in sorted(known)]
    with open(STORED, "w") as f:
        f.write("{\n" + ",\n".join(lines) + "\n}\n")


def compare_stored(name, arrays, rel, abs_):
    with open(STORED) as f:
        known = json.load(f).get(name)
    if not known:
        raise CannotTell(f"expected.json has nothing of {name}; oracle.py --store makes it")
    messages = []
    for array, held in known.items():
        if list(arrays[array].shape) != held["shape"]:
            messages.append(f"{array}: shape {arrays[array].shape}, stored {held['shape']}")
        else:
            messages.append(compare(array + " (stored elements)", sample(arrays[array]),
                                    np.array(held["values"]), rel, abs_))
    return messages


def tolerance(path):
    """rel and abs of the file's tolerance line; integers without one must be equal."""
    with open(path) as f:
        line = re.search(r"^#pragma keet\s+tolerance\s+(.*)$", f.read(), re.M)
    found = dict(re.findall(r"(\w+)\s*=\s*([0-9.eE+-]+)", line.group(1))) if line else {}
    return float(found.get("rel", 0)), float(found.get("abs", 0))


def load(folder):
    arrays = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".npy"):
            arrays[name[: -len(".npy")]] = np.load(os.path.join(folder, name))
    with open(os.path.join(folder, "shape.json")) as f:
        return arrays, json.load(f)


def compare(name, got, want, rel, abs_):
    """A message that says how `got` differs from `want`, or None."""
    if got.shape != want.shape:
        return f"{name}: shape {got.shape}, expected {want.shape}"
    got, want = f64(got), f64(want)
    error = np.abs(got - want)
    bad = ~(error <= abs_ + rel * np.abs(want))
    if not bad.any():
        return None
    worst = np.unravel_index(np.where(np.isnan(error), np.inf, error).argmax(), error.shape)
    where = "".join(f"[{i}]" for i in worst)
    return (f"{name}: {bad.sum()} of {bad.size} elements differ; worst {name}{where} = {got[worst]:.9g},"
            f" expected {want[worst]:.9g}")


def check(kernel, folder):
    name = os.path.splitext(os.path.basename(kernel))[0]
    folder_name = os.path.basename(os.path.dirname(os.path.abspath(kernel)))
    table = {"tensor": TENSOR, "cute": TENSOR, "truth": TRUTH,
             "hopper": hopper_references.REFERENCES}.get(folder_name, REFERENCES)
    reference = LADDERS.get(folder_name) or table.get(name)
    if not reference:
        raise CannotTell(f"no reference for {name}")
    arrays, sizes = load(folder)
    rel, abs_ = tolerance(kernel)
    expected = reference(arrays, sizes)
    missing = [n for n in expected if n not in arrays]
    if missing:
        raise CannotTell(f"{folder} has no {missing[0]}.npy")
    with open(kernel, encoding="utf-8") as file:
        text = file.read()
    for n in expected:
        if re.search(rf"#pragma keet out +{n} *: *bf16", text):
            arrays[n] = bf16(arrays[n])
    messages = [compare(n, arrays[n], want, rel, abs_) for n, want in expected.items()]
    if folder_name == "kernels":
        messages += compare_stored(name, arrays, rel + 1e-8, abs_)
    return [m for m in messages if m]


def main(argv):
    if len(argv) == 4 and argv[1] == "--store":
        store(argv[2], argv[3])
        return 0
    if len(argv) != 3:
        print("usage: oracle.py [--store] KERNEL.cu DIR", file=sys.stderr)
        return 2
    try:
        messages = check(argv[1], argv[2])
    except (CannotTell, OSError, KeyError, ValueError) as problem:
        print(f"oracle: {problem}", file=sys.stderr)
        return 2
    for message in messages:
        print(message)
    if not messages:
        print(f"{os.path.basename(argv[1])}: agrees with NumPy")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
