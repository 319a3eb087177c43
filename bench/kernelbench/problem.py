"""A KernelBench problem: its module with other constants, and what it computes.

A knob is a whole number of at least 16 that the file assigns to a name outside its functions and
classes (`N = 2048 * 2`, an element of `shape = (256, 256)`), or writes in get_inputs: a size, as far
as one can tell. Kernel sizes, strides, and numbers of groups and layers are smaller, and stay."""
import ast
import copy
import dataclasses
from unittest import mock

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

LEAST_KNOB = 16


@dataclasses.dataclass
class Knob:
    name: str
    value: int     # as the file has it
    line: int
    column: int
    is_name: bool  # the whole value of a name


class Refused(Exception):
    """The problem cannot be imported. kind: for the table; text: the details."""

    def __init__(self, kind, text=""):
        super().__init__(f"{kind}: {text}" if text else kind)
        self.kind = kind


def constant_of(node):
    """The whole number that an expression of literals is, or None."""
    if all(isinstance(n, (ast.Constant, ast.BinOp, ast.operator)) for n in ast.walk(node)):
        try:
            value = eval(compile(ast.Expression(node), "constant", "eval"))
        except Exception:
            return None
        return value if type(value) is int else None
    return None


class Problem:
    def __init__(self, path, text):
        self.path, self.text = path, text
        self.tree = ast.parse(text)
        self.knobs = []
        for node in self.tree.body:
            if isinstance(node, ast.Assign):
                self.add_assigned(node)
            if isinstance(node, ast.FunctionDef) and node.name == "get_inputs":
                self.add_literals(node)

    def add(self, name, node, is_name):
        value = constant_of(node)
        if value is not None and value >= LEAST_KNOB:
            self.knobs.append(Knob(name, value, node.lineno, node.col_offset, is_name))

    def add_assigned(self, node):
        target = node.targets[-1]
        if not isinstance(target, ast.Name):
            return
        self.add(target.id, node.value, True)
        if constant_of(node.value) is None:  # (256, 256), [1024] * 16
            items = [n for n in ast.walk(node.value) if isinstance(n, ast.Constant)]
            for i, item in enumerate(items):
                self.add(f"{target.id}_{i}", item, False)

    def add_literals(self, function):
        for n in ast.walk(function):
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) \
                    and n.func.attr in ("rand", "randn", "randint"):
                for item in ast.walk(n):
                    if isinstance(item, ast.Constant):
                        self.add(f"size_{len(self.knobs)}", item, False)

    def rewritten(self, values):
        """The text with other values for knobs; comments stay."""
        lines = self.text.split("\n")
        spans = []
        for node in ast.walk(self.tree):
            for knob in self.knobs:
                if getattr(node, "lineno", None) == knob.line and node.col_offset == knob.column \
                        and knob.name in values and isinstance(node, ast.expr) \
                        and constant_of(node) == knob.value:
                    spans.append((node.lineno, node.col_offset, node.end_col_offset,
                                  node.end_lineno, values[knob.name]))
        for line, start, end, last, value in sorted(set(spans), reverse=True):
            if last == line:
                at = lines[line - 1].encode()
                lines[line - 1] = (at[:start] + str(value).encode() + at[end:]).decode()
        return "\n".join(lines)

    def module(self, values):
        space = {"__name__": "problem"}
        exec(compile(self.rewritten(values), self.path, "exec"), space)
        return space


class Ops(TorchDispatchMode):
    """Counts the operations that forward comes down to, and the elements that they write."""

    def __init__(self):
        super().__init__()
        self.names, self.elements = {}, 0

    def __torch_dispatch__(self, function, types_, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        name = function.overloadpacket.__name__
        if not function.is_view:
            self.names[name] = self.names.get(name, 0) + 1
            for r in result if isinstance(result, (tuple, list)) else [result]:
                self.elements += r.numel() if isinstance(r, torch.Tensor) else 0
        return result


def flops_of(model, inputs):
    """Of products and convolutions as PyTorch counts them, one per element of all other results."""
    ops = Ops()
    with torch.no_grad(), FlopCounterMode(display=False) as counter, ops:
        copy.deepcopy(model)(*inputs)
    return counter.get_total_flops() + ops.elements, ops.names


def outputs_of(result):
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, (tuple, list)) and all(isinstance(r, torch.Tensor) for r in result):
        return list(result)
    raise Refused("an output that is no tensor", type(result).__name__)


def on_meta(problem, values):
    """Model and inputs without any data."""
    space = problem.module(values)
    inputs = space["get_inputs"]()
    return space["Model"](*space["get_init_inputs"]()), inputs


def recurrent(real):
    """The shapes that a recurrent layer's results have. Without data PyTorch still goes through all
    steps one by one, seconds for each size that is tried."""
    def layer(x, state, weights, *rest):
        if isinstance(weights, torch.Tensor):  # packed sequences come in another order
            return real(x, state, weights, *rest)
        states = state if isinstance(state, tuple) else (state,)
        ways = 2 if rest[4] else 1  # bias, layers, dropout, training, bidirectional, batch first
        return (x.new_empty(*x.shape[:-1], ways * states[0].shape[-1]),
                *(s.new_empty(s.shape) for s in states))
    return layer


def shapes(problem, values):
    """Shapes of inputs, weights and outputs, without computing anything."""
    with torch.device("meta"), torch.no_grad(), \
            mock.patch.object(torch._VF, "lstm", recurrent(torch._VF.lstm)), \
            mock.patch.object(torch._VF, "gru", recurrent(torch._VF.gru)):
        model, inputs = on_meta(problem, values)
        outputs = outputs_of(model(*inputs))
    tensors = [t for t in inputs if isinstance(t, torch.Tensor)]
    return ([tuple(t.shape) for t in tensors],
            [tuple(t.shape) for t in model.state_dict().values()],
            [tuple(t.shape) for t in outputs])


def needs_more(problem, values, most_flops):
    """Counting takes Python's time for each operation, much of it for 512 steps of six layers of an
    LSTM. So it is done only where everything else is small enough."""
    try:
        with torch.device("meta"):
            return flops_of(*on_meta(problem, values))[0] > most_flops
    except Exception:
        return True


def warm_up():
    """PyTorch loads much of itself at the first use; do that before processes part."""
    text = ("import torch\nclass Model(torch.nn.Module):\n"
            "    def __init__(self):\n        super().__init__()\n"
            "        self.conv, self.norm = torch.nn.Conv2d(2, 2, 3), torch.nn.BatchNorm2d(2)\n"
            "    def forward(self, x):\n"
            "        return torch.softmax(self.norm(self.conv(x)).flatten(1) @ torch.rand(72, 8), 1)\n"
            "def get_inputs():\n    return [torch.rand(2, 2, 8, 8)]\n"
            "def get_init_inputs():\n    return []\n")
    needs_more(Problem("warm-up", text), {}, 0)


def elements(all_shapes):
    total = 0
    for group in all_shapes:
        for shape in group:
            n = 1
            for d in shape:
                n *= d
            total += n
    return total


def can(problem, values):
    try:
        return shapes(problem, values)
    except Exception:
        return None


def smaller(problem, values, name, now):
    """The first set of smaller values that runs and has fewer elements, with its shapes."""
    value = values[name]
    equal = [n for n in values if values[n] == value]
    for names in [[name]] + ([equal] if len(equal) > 1 else []):
        for other in (value // 2, value * 3 // 4, value - value // 16):
            wanted = dict(values, **{n: other for n in names})
            then = can(problem, wanted) if 0 < other < value else None
            if then and (not now or elements(then) < elements(now)):
                return then, wanted
    return None, values


def reduced(problem, most_elements, most_flops):
    """Values for knobs: the largest is halved while the problem still runs and is too large; where
    it cannot be alone, together with all that are equal to it."""
    values = {k.name: k.value for k in problem.knobs}
    fixed = set()
    now = can(problem, values)
    while True:
        if now and elements(now) <= most_elements and not needs_more(problem, values, most_flops):
            return values
        free = [n for n in values if n not in fixed and values[n] > 2]
        if not free:
            return values
        name = max(free, key=lambda n: values[n])
        then, values = smaller(problem, values, name, now)
        if then:
            now = then
        else:
            fixed.add(name)


def dimension(name, pairs):
    """A dimension as a formula of one knob, from pairs of the knob's value and the dimension."""
    (v, d), *rest = pairs
    if d % v == 0 and all(e == u * (d // v) for u, e in rest):
        return name if d == v else f"{d // v}*{name}"
    if all(e - d == u - v for u, e in rest):
        return f"{name} {'+' if d > v else '-'} {abs(d - v)}"
    return None


def symbolic(problem, values, taken):
    """Formulas of all dimensions, in the order of shapes(), over knobs that may be sizes; what
    depends on a knob in another way makes that knob a constant."""
    base = shapes(problem, values)
    flat = [d for group in base for shape in group for d in shape]
    tried = {}
    for knob in problem.knobs:
        if not knob.is_name or knob.name in taken:
            continue
        v, seen = values[knob.name], []
        for other in (v + 1, v * 2, v * 3, v // 2, v + 8):
            then = can(problem, dict(values, **{knob.name: other})) if other > 0 else None
            if then:
                dims = [d for group in then for shape in group for d in shape]
                if len(dims) == len(flat):
                    seen.append((other, dims))
        if len(seen) >= 2:
            tried[knob.name] = seen
    formulas, sizes = [None] * len(flat), set(tried)
    for i, d in enumerate(flat):
        moves = [n for n, seen in tried.items() if any(dims[i] != d for _, dims in seen)]
        if len(moves) == 1:
            formulas[i] = dimension(moves[0], [(values[moves[0]], d)]
                                    + [(v, dims[i]) for v, dims in tried[moves[0]]])
        if moves and not formulas[i]:
            sizes -= set(moves)
    sizes = {n for n in sizes if any(f and n in f.replace("*", " ").split() for f in formulas)}
    names = [f if f and any(n in f.replace("*", " ").split() for n in sizes) else str(d)
             for f, d in zip(formulas, flat)]
    shaped, at = [], 0
    for group in base:
        shaped.append([])
        for shape in group:
            shaped[-1].append(names[at:at + len(shape)])
            at += len(shape)
    return shaped, sorted(sizes, key=[k.name for k in problem.knobs].index)
