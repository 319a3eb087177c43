"""NumPy references, in double precision, of the tasks of kernels/hopper: name -> f(arrays, sizes), as oracle.py has them."""
import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def bf16(a):
    return f64((np.asarray(a, dtype=np.uint32) << 16).view(np.float32))


def rounded_bf16(x):
    """To the nearest bfloat16, ties to even; finite numbers."""
    bits = np.asarray(x, dtype=np.float32).view(np.uint32)
    return bf16((bits + 0x7FFF + (bits >> 16 & 1)) >> 16)


def e4m3_table():
    """The 256 numbers of OCP FP8 E4M3."""
    table = []
    for code in range(256):
        exponent, fraction = code >> 3 & 15, code & 7
        value = fraction * 2.0**-9 if exponent == 0 else (8 + fraction) * 2.0 ** (exponent - 10)
        table.append((-value if code & 128 else value) if code & 127 != 127 else np.nan)
    return np.array(table)


def matmul_fp8(a, _):
    numbers = e4m3_table()
    sums = numbers[a["A"]] @ numbers[a["B"]].T
    return {"C": sums * f64(a["scale_a"])[:, None] * f64(a["scale_b"])[None, :]}


def experts(a):
    first = a["first"]
    return [(e, slice(first[e], first[e + 1])) for e in range(len(first) - 1)]


def moe_forward(a, _):
    x, w = bf16(a["X"]), bf16(a["W"])
    y = np.zeros((x.shape[0], w.shape[1]))
    for e, rows in experts(a):
        y[rows] = x[rows] @ w[e].T
    return {"Y": y}


def moe_weight_grad(a, _):
    x, g = bf16(a["X"]), bf16(a["G"])
    return {"DW": np.stack([g[rows].T @ x[rows] for _, rows in experts(a)])}


def attend(scores, v):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ v


def flash_attention(a, _, causal=False):
    q, k, v = bf16(a["Q"]), bf16(a["K"]), bf16(a["V"])
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tri(scores.shape[-1], dtype=bool), scores, -np.inf)
    return {"O": attend(scores, v)}


def conv2d_f16(a, _):
    x, k = f64(a["X"]), f64(a["K"])
    h, w = x.shape[1:3]
    padded = np.pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)])
    return {"Y": sum(padded[:, r:r + h, s:s + w] @ k[:, r, s].T for r in range(3) for s in range(3))}


def paged_decode(a, s):
    q, k, v = bf16(a["Q"]), bf16(a["K"]), bf16(a["V"])
    out = np.zeros(q.shape)
    for b, length in enumerate(a["lengths"]):
        places = [(a["table"][b][t // s["PAGE"]], t % s["PAGE"]) for t in range(length)]
        pages, rows = np.array(places).T
        for h in range(q.shape[1]):
            scores = q[b, h] @ k[pages, rows, h].T / np.sqrt(q.shape[-1])
            out[b, h] = attend(scores, v[pages, rows, h])
    return {"O": out}


def rmsnorm_matmul(a, _):
    x = bf16(a["X"])
    rows = x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-6) * f64(a["gain"])
    return {"Y": rounded_bf16(rows) @ bf16(a["W"]).T}


def w4a16_matmul(a, _):
    words = np.asarray(a["W"], dtype=np.uint32)
    numbers = np.stack([words >> 4 * i & 15 for i in range(8)], axis=-1).reshape(words.shape[0], -1)
    weights = (f64(numbers) - 8) * np.repeat(f64(a["scale"]), 64, axis=1)
    return {"C": f64(a["A"]) @ weights.T}


def topk_bitonic(a, s):
    return {"TOP": -np.sort(-f64(a["X"]), axis=1)[:, :s["K"]]}


def softmax_compensated(a, _):
    x = f64(a["X"])
    return {"Y": attend(x[:, None, :], np.eye(x.shape[1]))[:, 0]}


REFERENCES = {
    "conv2d_f16": conv2d_f16,
    "flash_attention": flash_attention,
    "flash_attention_causal": lambda a, s: flash_attention(a, s, causal=True),
    "matmul_fp8": matmul_fp8,
    "moe_forward": moe_forward,
    "moe_weight_grad": moe_weight_grad,
    "paged_decode": paged_decode,
    "rmsnorm_matmul": rmsnorm_matmul,
    "softmax_compensated": softmax_compensated,
    "topk_bitonic": topk_bitonic,
    "w4a16_matmul": w4a16_matmul,
}
