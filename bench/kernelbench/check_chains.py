#!/usr/bin/env python3
"""Are the kernels of chains.txt what PyTorch computes? Each chain runs once on the emulator at its check sizes, on random inputs, and its
output is held against PyTorch's operators, element by element. Needs PyTorch (the CPU is enough) and NumPy.

    check_chains.py KEET_OPT [NAME...]

Exit status: 0 when all agree."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

import chains

POINTWISE = {
    "relu": F.relu, "leaky": F.leaky_relu, "sigmoid": torch.sigmoid, "tanh": torch.tanh, "gelu": F.gelu, "swish": F.silu, "mish": F.mish,
    "hardswish": F.hardswish, "hardswish2": lambda x: x * F.hardswish(x), "mishx": lambda x: x * F.mish(x),
    "sigmoid3": lambda x: x * torch.sigmoid(x + 3) / 6, "clamp": torch.clamp, "atleast": lambda x, a: x.clamp(min=a),
    "atmost": lambda x, a: x.clamp(max=a), "plus": lambda x, a: x + a, "minus": lambda x, a: x - a, "mul": lambda x, a: x * a,
    "div": lambda x, a: x / a, "twice": lambda x: x + x, "triu": torch.triu, "tril": torch.tril}
AXES = {"channels": (1,), "space": (2, 3, 4), "all": (1, 2, 3, 4), "depth": (2,), "height": (3,)}


def numbers(options, key, standard, rank):
    found = [int(n) for n in options.get(key, str(standard)).split(",")]
    return found if len(found) == rank else found * rank


class Reference:
    """The chain's operators by PyTorch; x always has five dimensions."""

    def __init__(self, arrays, shape):
        self.arrays, self.kept = iter(arrays), {}
        self.x = next(self.arrays).reshape(shape)

    def take(self, *shape):
        return next(self.arrays).reshape(shape)

    def apply(self, operator, outs):
        words = operator.split()
        kind, options = words[0], dict(w.split("=") for w in words if "=" in w)
        words, x = [w for w in words[1:] if "=" not in w], self.x
        b, c, *space = x.shape
        if kind in ("conv", "convt"):
            dims = [i for i in (0, 1, 2) if self.named[i]] or [2]
            rank, g = len(dims), int(options.get("g", 1))
            k, s, p, d, op = (numbers(options, key, standard, rank) for key, standard in (("k", 1), ("s", 1), ("p", 0), ("d", 1), ("op", 0)))
            flat = x.reshape(b, c, *(space[i] for i in dims))
            w = self.take(*((outs, c // g) if kind == "conv" else (c, outs // g)), *k)
            bias = None if "nobias" in words else self.take(outs)
            call = {("conv", 1): F.conv1d, ("conv", 2): F.conv2d, ("conv", 3): F.conv3d, ("convt", 1): F.conv_transpose1d,
                    ("convt", 2): F.conv_transpose2d, ("convt", 3): F.conv_transpose3d}[kind, rank]
            more = {"output_padding": op} if kind == "convt" else {}
            y = call(flat, w, bias, stride=s, padding=p, dilation=d, groups=g, **more)
            at = iter(y.shape[2:])
            self.x = y.reshape(b, outs, *(next(at) if i in dims else 1 for i in (0, 1, 2)))
        elif kind == "linear":
            w = self.take(outs, c)
            self.x = F.linear(x.reshape(b, c), w, None if "nobias" in words else self.take(outs)).reshape(b, outs, 1, 1, 1)
        elif kind == "matmul" and "batched" in words:
            right = self.take(b, outs, space[0]).transpose(1, 2) if "tb" in words else self.take(b, space[0], outs)
            self.x = torch.bmm(x.reshape(b, c, space[0]), right).reshape(b, c, outs, 1, 1)
        elif kind == "matmul":
            left = x.reshape(c, b).T if "ta" in words else x.reshape(b, c)
            right = self.take(outs, c).T if "tb" in words else self.take(c, outs)
            self.x = (left @ right).reshape(b, outs, 1, 1, 1)
        elif kind in ("triu", "tril"):
            self.x = POINTWISE[kind](x.reshape(b, c)).reshape(x.shape)
        elif kind in POINTWISE:
            self.x = POINTWISE[kind](x, *map(float, words))
        elif kind in ("bias", "scale", "less"):
            q = self.take(1, c, 1, 1, 1)
            self.x = x + q if kind == "bias" else x * q if kind == "scale" else x - q
        elif kind == "rows":
            self.x = x * self.take(b, 1, 1, 1, 1)
        elif kind in ("max", "avg"):
            k = int(words[0])
            if x[0, 0].numel() == 1:
                self.x = (F.max_pool1d if kind == "max" else F.avg_pool1d)(x.reshape(b, 1, c), k).reshape(b, -1, 1, 1, 1)
            else:
                k = [k if self.named[i] else 1 for i in (0, 1, 2)]
                self.x = (F.max_pool3d if kind == "max" else F.avg_pool3d)(x, k)
        elif kind == "softmax":
            self.x = torch.softmax(x.flatten(AXES[words[0]][0], AXES[words[0]][-1]), AXES[words[0]][0]).reshape(x.shape)
        elif kind in chains.REDUCTIONS:
            call = {"sum": torch.sum, "mean": torch.mean, "amax": torch.amax, "amin": torch.amin, "lse": torch.logsumexp}[kind]
            self.x = call(x, AXES[words[0]], keepdim=True)
        elif kind == "bn":
            self.x = F.batch_norm(x, None, None, self.take(c), self.take(c), training=True)
        elif kind == "gn":
            self.x = F.group_norm(x, int(words[0]), self.take(c), self.take(c))
        elif kind == "in":
            self.x = F.instance_norm(x)
        elif kind == "rn":
            self.x = F.layer_norm(x.reshape(b, c), (c,)).reshape(x.shape)
        elif kind == "ln":
            self.x = F.layer_norm(x, (space[2],), self.take(space[2]), self.take(space[2]))
        elif kind == "cut":
            self.x = x.narrow(1, 0, c - 1)
        elif kind == "cumsum":
            self.x = torch.cumsum(x, 1)
        elif kind == "zero":
            self.x = torch.cat((torch.zeros_like(x[:, :1]), x), 1)
        elif kind == "outer":
            self.x = (x.reshape(b, 1) + self.take(1, outs, 1, 1)).reshape(1, outs, b, 1, 1)
        elif kind in ("save", "input"):
            self.kept[words[0]] = x if kind == "save" else self.take(*x.shape)
        elif kind in chains.KEPT:
            v, p = x, self.kept[words[0]]
            self.x = p + v if kind == "add" else p * v if kind == "times" else p - v
        else:
            raise ValueError(kind)


def extent(text, sizes):
    """Of an array, as keet-opt computes it: integers, so that / is a division without a remainder."""
    return int(eval(text.replace("/", "//"), {}, dict(sizes)))     # our own text


def holds(program, row, folder, most=0.5):
    """(does it agree, a sentence), with inputs from -most to most; larger ones where PyTorch's output is one number, which says nothing."""
    chain = chains.Chain(row["chain"][0])
    for operator in row["chain"][1:]:
        chain.apply(operator)
    text = chain.text("check")
    sizes = chain.checks
    text = re.sub(r"^(#pragma keet size ).*$", r"\1  " + ", ".join(f"{k} = {v}" for k, v in sizes.items()), text, flags=re.M)
    generator = np.random.default_rng(1)
    arrays = []
    for name, shape in chain.arrays:
        arrays.append(generator.uniform(-most, most, extent(shape, sizes)).astype(np.float32))
        np.save(folder / f"{name}.npy", arrays[-1])
        text = re.sub(rf"^(#pragma keet in +{name} : \S.*) = uniform.*$", rf'\1 = file("{name}.npy")', text, flags=re.M)
    reference = Reference([torch.from_numpy(a) for a in arrays], [sizes.get(n, 1) for n in "BCDHW"])
    reference.named = [n in chain.values for n in "DHW"]
    for number, operator in enumerate(row["chain"][1:]):
        reference.apply(operator, next((v for v in [sizes.get(f"O{chain.outs[number]}")] if v), 0) if number in chain.outs else 0)
    theirs = reference.x.reshape(-1).numpy()
    if np.ptp(theirs) == 0:
        return holds(program, row, folder, 4 * most) if most < 8 else (False, f"PyTorch has {theirs[0]:.9g} everywhere")
    (folder / "k.cu").write_text(text)
    done = subprocess.run([program, "run", "k.cu", "--device", "emu", "-q", "--dump", "dump"], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        return False, (done.stderr or done.stdout).strip().split("\n")[-1]
    return compared(np.load(folder / "dump" / "Y.npy").ravel(), theirs)


def compared(ours, theirs):
    """(do they agree, a sentence): within 1e-4 of each element, or 1e-5 of the largest."""
    if ours.shape != theirs.shape:
        return False, f"{ours.size} elements, PyTorch has {theirs.size}"
    error = np.abs(ours - theirs) / (1e-4 * np.abs(theirs) + 1e-5 * np.abs(theirs).max())
    at = int(np.argmax(np.where(np.isnan(error), np.inf, error)))
    return bool((error <= 1).all()), f"Y[{at}] = {ours[at]:.9g}, PyTorch has {theirs[at]:.9g}"


def main():
    bad, rows = 0, {name: row for name, row in chains.read().items() if not sys.argv[2:] or name in sys.argv[2:]}
    for name, row in rows.items():
        with tempfile.TemporaryDirectory() as folder:
            try:
                ok, said = holds(str(Path(sys.argv[1]).resolve()), row, Path(folder))
            except Exception as error:
                ok, said = False, f"{type(error).__name__}: {error}"
        bad += not ok
        print(f"{name}: {'agrees' if ok else said}", flush=True)
    print(f"{len(rows)} chains, {bad} do not agree")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
