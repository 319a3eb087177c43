#!/usr/bin/env python3
"""Compares what the kernels of bench/time compute, at the sizes of their checks, with NumPy in double precision.

    timed.py KEET-OPT [POINT]...

Exit status: 0 right, 1 wrong, 77 when there is no NumPy."""

import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "bench" / "time")]
import oracle  # noqa: E402 -- under a Python with NumPy from here on
import numpy as np  # noqa: E402
import points  # noqa: E402

f64 = oracle.f64


def erf(x):
    """By the series of its integral, for |x| < 3."""
    term, total = x, x.copy()
    for n in range(1, 80):
        term = term * -x * x / n
        total += term / (2 * n + 1)
    return total * 2 / np.sqrt(np.pi)


def log_softmax(x):
    return np.log(oracle.softmax(x))


def centred(x, axes):
    return oracle.normalise(x, axes, 1e-5)


UNARY = {
    "relu": lambda x: np.maximum(x, 0),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "gelu": lambda x: x / 2 * (1 + erf(x / np.sqrt(2))),
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * (np.exp(x) - 1)),
    "hard_sigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "softplus": lambda x: np.log(1 + np.exp(x)),
    "elu": lambda x: np.where(x > 0, x, np.exp(x) - 1),
    "hardtanh": lambda x: np.clip(x, -1, 1),
    "matrix_scalar": lambda x: 3.14 * x,
    "swish": lambda x: x / (1 + np.exp(-x)),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "gelu_chain": lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "softmax": oracle.softmax,
    "log_softmax": log_softmax,
    "sum_dim": lambda x: x.sum(axis=1),
    "mean_dim": lambda x: x.mean(axis=1),
    "instance_norm": lambda x: centred(x, 1),
    "rms_norm": lambda x: x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-5),
    "frobenius_norm": lambda x: x / np.sqrt((x * x).sum()),
    "l1_norm": lambda x: x / np.abs(x).mean(axis=1, keepdims=True),
    "l2_norm": lambda x: x / np.sqrt((x * x).sum(axis=1, keepdims=True)),
    "cumsum": lambda x: np.cumsum(x, axis=1),
    "cumprod": lambda x: np.cumprod(x, axis=1),
    "cumsum_reverse": lambda x: np.cumsum(x[:, ::-1], axis=1)[:, ::-1],
}


def extreme(find):
    def reference(a, s):
        at = find(a["X"], axis=1)
        return {"AT": at, "Y": np.take_along_axis(f64(a["X"]), at[:, None, :], axis=1)[:, 0, :]}
    return reference


def arg_extreme(find):
    return lambda a, s: {"AT": find(a["X"], axis=1)}


def windows(x, kernel, strides, pads, dilations, outer, fill):
    """[planes][results of each dimension][places of a window]; places outside hold `fill`. Also which places of the
    plane these are, -1 outside."""
    shape = x.shape[1:]
    grids = []
    for nr, k, stride, pad, dilation in zip(outer, kernel, strides, pads, dilations):
        grids.append(np.arange(nr)[:, None] * stride - pad + np.arange(k)[None, :] * dilation)
    dims = len(shape)
    at, inside = 0, True
    for d, grid in enumerate(grids):
        view = [1] * (2 * dims)
        view[d], view[dims + d] = grid.shape
        grid = grid.reshape(view)
        at = at * shape[d] + grid
        inside = inside & (grid >= 0) & (grid < shape[d])
    at = np.where(inside, at, -1).reshape(*outer, -1)
    values = x.reshape(x.shape[0], -1)[:, at]
    return np.where(at < 0, fill, values), at


def max_of(x, *geometry):
    values, at = windows(x, *geometry, -np.inf)
    best = values.argmax(axis=-1)
    return {"Y": values.max(axis=-1), "AT": np.take_along_axis(np.broadcast_to(at, values.shape), best[..., None], -1)[..., 0]}


def mean_of(x, kernel, strides, pads, outer):
    """Zeros beyond the edge count, within the padding."""
    padded = np.pad(x, [(0, 0)] + [(p, p) for p in pads])
    inside = np.ones(padded.shape)
    geometry = (kernel, strides, [0] * len(kernel), [1] * len(kernel), outer, 0)
    return {"Y": windows(padded, *geometry)[0].sum(-1) / windows(inside, *geometry)[0].sum(-1)}


def max_pool2d(a, s):
    pads = (0, 4) if s["KH"] == 1 else (1, 1)
    return max_of(f64(a["X"]), (s["KH"], s["KW"]), (1, 1), pads, (s["DIL"],) * 2, (s["OH"], s["OW"]))


def max_pool3d(a, s):
    return max_of(f64(a["X"]), (s["K"],) * 3, (s["S"],) * 3, (s["PAD"],) * 3, (s["DIL"],) * 3, (s["OT"], s["OH"], s["OW"]))


def avg_pool2d(a, s):
    return mean_of(f64(a["X"]), (s["KH"], s["KW"]), (s["SH"], s["SW"]), (0, 4 if s["KH"] == 1 else 0), (s["OH"], s["OW"]))


def avg_pool3d(a, s):
    return mean_of(f64(a["X"]), (s["K"],) * 3, (s["S"],) * 3, (s["PAD"],) * 3, (s["OT"], s["OH"], s["OW"]))


def depthwise(a, s):
    x, k = f64(a["X"]), f64(a["K"])
    view = np.lib.stride_tricks.sliding_window_view(x, k.shape[1:], axis=(2, 3))
    return {"Y": np.einsum("bchwij,cij->bchw", view, k)}


def group_norm(a, s):
    x = f64(a["X"])
    b, channels, hw = x.shape
    y = centred(x.reshape(b, s["G"], -1), 2).reshape(b, channels, hw)
    return {"Y": y * f64(a["GAIN"])[None, :, None] + f64(a["BIAS"])[None, :, None]}


def layer_norm(a, s):
    return {"Y": centred(f64(a["X"]), 1) * f64(a["G"]) + f64(a["B"])}


def triplet(a, s):
    distance = [np.sqrt(((f64(a["A"]) - f64(a[other]) + 1e-6) ** 2).sum(axis=1)) for other in "BC"]
    return {"Y": np.maximum(1 + distance[0] - distance[1], 0).mean(keepdims=True)}


def huber(a, s):
    d = np.abs(f64(a["X"]) - f64(a["T"]))
    return {"Y": np.where(d < 1, d * d / 2, d - 0.5).mean(keepdims=True)}


def kl_div(a, s):
    x, t = f64(a["X"]), f64(a["T"])
    return {"Y": (t * (np.log(t) - np.log(x))).sum(keepdims=True) / s["ROWS"]}


def hinge(a, s):
    return {"Y": np.maximum(1 - f64(a["X"]) * f64(a["T"]), 0).mean(keepdims=True)[0]}


def cross_entropy(a, s):
    return {"Y": -log_softmax(f64(a["X"]))[np.arange(s["ROWS"]), a["T"]].mean(keepdims=True)}


def product(a, s):
    return {"C": f64(a["A"]) @ f64(a["B"])}


OTHERS = {
    "max_dim": extreme(np.argmax), "min_dim": extreme(np.argmin),
    "argmax_dim": arg_extreme(np.argmax), "argmin_dim": arg_extreme(np.argmin),
    "max_pool_1d": max_pool2d, "max_pool_2d": max_pool2d, "max_pool_3d": max_pool3d,
    "avg_pool_1d": avg_pool2d, "avg_pool_2d": avg_pool2d, "avg_pool_3d": avg_pool3d,
    "depthwise_3x3_square": depthwise, "depthwise_3x1": depthwise, "depthwise_3x3_wide": depthwise, "depthwise_3x7": depthwise,
    "group_norm": group_norm, "layer_norm": layer_norm, "triplet_loss": triplet, "huber_loss": huber, "kl_div": kl_div,
    "hinge_loss": hinge, "cross_entropy": cross_entropy,
    "gemv": product,
    "mse_loss": lambda a, s: {"Y": ((f64(a["X"]) - f64(a["T"])) ** 2).mean(keepdims=True)},
    "cumsum_masked": lambda a, s: {"Y": np.cumsum(f64(a["X"]) * f64(a["MASK"]), axis=1)},
}


def reference_of(name):
    if name in UNARY:
        return lambda a, s: {"Y": UNARY[name](f64(a["X"]))}
    if name.startswith("vector_sum_"):
        return lambda a, s: {"Y": a["X"].sum(keepdims=True)}
    return OTHERS.get(name) or (product if name.startswith("gemm_") else None)

# Points whose shape is another than that of their file's check.
SMALL = {
    "max_pool_1d": {"P": 3, "H": 1, "W": 100, "OH": 1, "OW": 87, "KH": 1, "KW": 8, "DIL": 3},
    "avg_pool_1d": {"P": 3, "H": 1, "W": 100, "OH": 1, "OW": 101, "KH": 1, "KW": 8, "SH": 1, "SW": 1},
    "depthwise_3x1": {"KW": 1},
}


def small_text(row):
    text = points.text_of(row, small=True)
    for name, value in SMALL.get(row["name"], {}).items():
        text = re.sub(rf"^(#pragma keet (?:size|check) .*\b{name} = )\d+", rf"\g<1>{value}", text, flags=re.M)
    return text


def rounding(text):
    """rel and abs: those of the task, else 2^-17 of f32."""
    found = dict(re.findall(r"(rel|abs) = ([0-9.e+-]+)", (re.search(r"^#pragma keet tolerance.*$", text, re.M) or [""])[0]))
    return float(found.get("rel", 2.0**-17)), float(found.get("abs", 2.0**-17))


def check(program, row, folder):
    """Messages of what is wrong."""
    text, dump = small_text(row), folder / row["name"]
    file = folder / f"{row['name']}.cu"
    file.write_text(text)
    done = subprocess.run([program, "run", str(file), "--device", "emu", "--dump", str(dump)],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        return [done.stdout + done.stderr]
    arrays, sizes = oracle.load(dump)
    expected = reference_of(row["name"])(arrays, sizes)
    messages = [oracle.compare(name, arrays[name], want, *(rounding(text) if arrays[name].dtype.kind == "f" else (0, 0)))
                for name, want in expected.items()]
    return [message for message in messages if message]


def main(program, names):
    rows = points.read()
    unknown = set(names) - {row["name"] for row in rows}
    if unknown:
        sys.exit(f"no such point: {', '.join(sorted(unknown))}")
    wrong, seen = [], set()
    with tempfile.TemporaryDirectory(prefix="keet-timed-") as folder:
        for row in rows:
            text = small_text(row)
            if (names and row["name"] not in names) or text in seen:
                continue
            seen.add(text)
            messages = check(program, row, pathlib.Path(folder))
            print(f"{row['name']}: {'; '.join(messages) or 'agrees with NumPy'}")
            wrong += messages
    print(f"{len(seen)} kernels")
    return 1 if wrong or not seen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
