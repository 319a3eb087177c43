"""A KernelBench problem as a task of keet-opt: a contract with PyTorch's own numbers as .npy files."""
import inspect
import os
import re

import numpy as np
import torch

import problem as kb

TYPES = {torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16",
         torch.int64: "i64", torch.int32: "i32", torch.int16: "i16", torch.int8: "i8",
         torch.uint8: "u8", torch.bool: "bool"}
MOST_ARRAYS, MOST_DIMS = 200, 6
SCALES = (3, 0.01, -1)

RESERVED = set("""alignas alignof asm auto bool break case catch char class const constexpr continue
decltype default delete do double else enum explicit extern false float for friend goto if inline int
long mutable namespace new noexcept nullptr operator private protected public register return short
signed sizeof static struct switch template this throw true try typedef typename union unsigned using
virtual void volatile while blockIdx blockDim threadIdx gridDim warpSize dim3 ceil_div min max in file
cluster defined""".split())


class Run:
    """The problem once, from one seed, as KernelBench's harness makes it."""

    def __init__(self, space, seed):
        torch.manual_seed(seed)
        self.inputs = space["get_inputs"]()
        torch.manual_seed(seed)
        init = space["get_init_inputs"]()
        torch.manual_seed(seed)
        self.model = space["Model"](*init)
        self.state = {k: v.clone() for k, v in self.model.state_dict().items()}

    def outputs(self, inputs=None, state=None):
        """Each from the same weights: forward may change buffers."""
        self.model.load_state_dict({**self.state, **(state or {})})
        with torch.no_grad():
            return [o.contiguous() for o in
                    kb.outputs_of(self.model(*(self.inputs if inputs is None else inputs)))]


def same(a, b):
    return all(torch.equal(torch.nan_to_num(x), torch.nan_to_num(y)) for x, y in zip(a, b))


def moved(tensor):
    """Other values of the same kind."""
    if tensor.dtype == torch.bool:
        return ~tensor
    if not tensor.is_floating_point():
        return tensor.flip(0) if tensor.dim() else tensor
    return tensor * 0.5 + 0.25 * torch.rand_like(tensor)


def reached(run):
    """The parameters that gradients of the results reach; None: autograd cannot tell, which is so
    where forward overwrites what it has computed."""
    inputs = [i.clone() if isinstance(i, torch.Tensor) else i for i in run.inputs]
    run.model.load_state_dict(run.state)
    parameters = dict(run.model.named_parameters())
    try:
        results = [o for o in kb.outputs_of(run.model(*inputs)) if o.requires_grad]
        if not results or not parameters:
            return {n: False for n in parameters}
        grads = torch.autograd.grad(sum(o.sum() for o in results), list(parameters.values()),
                                    allow_unused=True)
    except RuntimeError:
        return None
    return {n: g is not None for n, g in zip(parameters, grads)}


def used_state(run):
    """The weights and buffers that forward's results depend on."""
    known = reached(run) or {}
    before = run.outputs()
    used = {n for n, does in known.items() if does}
    for name, tensor in run.state.items():
        if name not in known and not same(before, run.outputs(state={name: moved(tensor)})):
            used.add(name)
    return [n for n in run.state if n in used]


def changes(run, base, i, value):
    """Whether the outputs differ, beyond the tolerance, with another input i."""
    inputs = list(run.inputs)
    inputs[i] = value
    try:
        outputs = run.outputs(inputs)
    except Exception:  # other values are not allowed there: so they are looked at
        return True
    return not all(torch.allclose(a, b, rtol=1e-4, atol=1e-4, equal_nan=True)
                   for a, b in zip(base, outputs))


def degenerate(runs, names):
    """What is odd about the problem, in words."""
    found = []
    for index, outputs in enumerate(zip(*(r.outputs() for r in runs))):
        if any(not torch.isfinite(o).all() for o in outputs if o.is_floating_point()):
            found.append(f"output {index} is not finite")
        spread = max(float(o.double().max() - o.double().min()) for o in outputs)
        middle = max(float(o.double().abs().max()) for o in outputs)
        between = max(float((o.double() - outputs[0].double()).abs().max()) for o in outputs)
        if max(spread if outputs[0].numel() > 1 else 0, between) <= 1e-6 * max(middle, 1e-30) \
                or middle == 0:
            found.append(f"output {index} is constant")
    base = runs[0].outputs()
    for i, value in enumerate(runs[0].inputs):
        if isinstance(value, torch.Tensor):
            if not any(changes(runs[0], base, i, other)
                       for other in (moved(value), moved(moved(value.flip(-1)))
                                     if value.dim() else moved(value))):
                found.append(f"the output hardly depends on {names[i]}")
    return found


def forward_names(model, nr):
    parameters = list(inspect.signature(model.forward).parameters.values())
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        return [f"in{i}" for i in range(nr)]
    return [p.name for p in parameters][:nr]


def unique(name, taken):
    while name in taken or name in RESERVED or not re.fullmatch(r"[A-Za-z_]\w*", name):
        name = re.sub(r"\W", "_", name) + "_"
    taken.add(name)
    return name


class Task:
    def __init__(self, problem, values, seeds):
        self.problem, self.values = problem, values
        self.text = problem.rewritten(values)
        space = problem.module(values)
        self.runs = [Run(space, 42 + i) for i in range(seeds)]
        first = self.runs[0]
        if not same(first.outputs(), first.outputs()):
            raise kb.Refused("random", "forward draws random numbers")
        self.name_all(first)
        self.odd = degenerate(self.runs, self.input_names)
        self.flops, self.ops = kb.flops_of(first.model, first.inputs)
        self.find_dims()

    def name_all(self, run):
        taken = set()
        self.state = used_state(run)
        # Weights keep their names, dots as underscores: exports find them by these.
        self.state_names = {n: unique(n.replace(".", "_"), taken) for n in self.state}
        if any(self.state_names[n] != n.replace(".", "_") for n in self.state):
            raise kb.Refused("a weight's name that a kernel cannot have", ", ".join(self.state))
        names = forward_names(run.model, len(run.inputs))
        self.input_names = [unique(n, taken) for n in names]
        outputs = run.outputs()
        self.output_names = [unique("y" if len(outputs) == 1 else f"y{i}", taken)
                             for i in range(len(outputs))]
        for value in [*run.inputs, *outputs, *(run.state[n] for n in self.state)]:
            if isinstance(value, torch.Tensor):
                if value.dtype not in TYPES:
                    raise kb.Refused("an element type", str(value.dtype))
                if value.dim() > MOST_DIMS:
                    raise kb.Refused("more than six dimensions", str(tuple(value.shape)))
            elif type(value) not in (int, float, bool):
                raise kb.Refused("an input that is no tensor and no number", type(value).__name__)
        if len(taken) > MOST_ARRAYS:
            raise kb.Refused("more arrays than a task may have",
                             f"{len(taken)}, of which {len(self.state)} weights")
        self.taken = taken

    def find_dims(self):
        run = self.runs[0]
        tensors = [i for i in run.inputs if isinstance(i, torch.Tensor)]
        try:
            (ins, state, outs), self.sizes = kb.symbolic(self.problem, self.values,
                                                         self.taken | RESERVED)
        except Exception:  # what does not run without data
            ins, self.sizes = [[str(d) for d in t.shape] for t in tensors], []
            state = [[str(d) for d in t.shape] for t in run.state.values()]
            outs = [[str(d) for d in t.shape] for t in run.outputs()]
        self.dims = dict(zip(run.state, state))
        self.in_dims, self.out_dims = ins, outs

    def arrays(self, run, inputs):
        """Name, dimensions and values of what comes in."""
        dims = iter(self.in_dims)
        for name, value in zip(self.input_names, inputs):
            if isinstance(value, torch.Tensor):
                yield name, next(dims), value
        for key in self.state:
            yield self.state_names[key], self.dims[key], run.state[key]

    def cases(self):
        """Names, inputs and outputs: fresh weights and inputs per seed, then scaled inputs."""
        for i, run in enumerate(self.runs):
            yield f"seed{i}", run, run.inputs
        run = self.runs[0]
        for scale in SCALES:
            inputs = [v * scale if isinstance(v, torch.Tensor) and v.is_floating_point() else v
                      for v in run.inputs]
            if all(torch.isfinite(o).all() for o in run.outputs(inputs) if o.is_floating_point()):
                yield f"times{scale}", run, inputs

    def save(self, folder):
        names = []
        for name, run, inputs in self.cases():
            os.makedirs(os.path.join(folder, name), exist_ok=True)
            for array, _, value in self.arrays(run, inputs):
                write(os.path.join(folder, name, f"{array}.npy"), value)
            for array, value in zip(self.output_names, run.outputs(inputs)):
                write(os.path.join(folder, name, f"{array}.npy"), value)
            names.append(name)
        return names

    def contract(self, cases):
        run = self.runs[0]
        lines = [f"// KernelBench {self.problem.path}: {self.told_sizes()}."]
        lines += [f"// Odd: {odd}." for odd in self.odd]
        lines.append("// forward: " + ", ".join(f"{n} x{c}" if c > 1 else n
                                                for n, c in self.ops.items()))
        if self.sizes:
            lines.append("#pragma keet size   "
                         + ", ".join(f"{n} = {self.values[n]}" for n in self.sizes))
        for name, dims, value in self.arrays(run, run.inputs):
            lines.append(f"#pragma keet in     {name} : {array_type(value, dims)} = "
                         f'file("{cases[0]}/{name}.npy")')
        for name, value in zip(self.input_names, run.inputs):
            if not isinstance(value, torch.Tensor):
                lines.append(f"#pragma keet scalar {name} : "
                             + (f"f32 = {value!r}" if isinstance(value, float)
                                else f"i64 = {int(value)}"))
        for name, dims, value in zip(self.output_names, self.out_dims, run.outputs()):
            lines.append(f"#pragma keet out    {name} : {array_type(value, dims)}")
            lines.append(f'#pragma keet expect {name} = file("{cases[0]}/{name}.npy")')
        lines += [f'#pragma keet case   "{c}"' for c in cases[1:]]
        lines.append("#pragma keet tolerance rel = 1e-4, abs = 1e-4")
        lines.append(f"#pragma keet work   flops = {max(1, self.flops)}, bytes = {self.nr_bytes()}")
        return "\n".join(lines + self.pytorch()) + "\n"

    def told_sizes(self):
        changed = [f"{k.name} = {self.values[k.name]} of {k.value}" for k in self.problem.knobs
                   if self.values[k.name] != k.value]
        return "at reduced sizes, " + ", ".join(changed) if changed else "at its own sizes"

    def nr_bytes(self):
        run = self.runs[0]
        return sum(v.numel() * v.element_size() for v in
                   [*(v for _, _, v in self.arrays(run, run.inputs)), *run.outputs()])

    def pytorch(self):
        if "/*" in self.text or "\x00" in self.text:
            raise kb.Refused("PyTorch text that a pragma cannot hold", "/*")
        return [f"#pragma keet pytorch {line.rstrip()}".rstrip()
                for line in unbroken(self.text).split("\n")]


def unbroken(text):
    """A backslash at a line's end would join pragmas, too."""
    return re.sub(r"\\\n\s*", " ", text)


def array_type(value, dims):
    return TYPES[value.dtype] + ("".join(f"[{d}]" for d in dims) or "[]")


def write(path, value):
    if value.dtype == torch.bfloat16:
        np.save(path, value.view(torch.int16).numpy().view(np.uint16))
    else:
        np.save(path, np.ascontiguousarray(value.numpy()).reshape(tuple(value.shape)))
