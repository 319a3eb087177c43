#!/usr/bin/env python3
"""Exports of two short runs. ModelNew and the operator run on a stand-in for PyTorch, which records
what it is asked to build and call."""
import ast
import json
import math
import os
import re
import sys
import tempfile
import types

import runs


def check(true, what):
    if not true:
        sys.exit(f"structure.py: {what}")


class Tensor:
    def __init__(self, shape, name):
        self.shape, self.name = shape, name

    def detach(self):
        return self


class Parameter(Tensor):
    def __init__(self, tensor):
        super().__init__(tensor.shape, "a parameter")


class Module:
    def __init__(self):
        self._parameters, self._buffers, self._modules = {}, {}, {}

    def __setattr__(self, name, value):
        if isinstance(value, Parameter):
            self._parameters[name] = value
        if isinstance(value, Module):
            self._modules[name] = value
        object.__setattr__(self, name, value)

    def named_modules(self, prefix=""):
        yield prefix, self
        for name, module in self._modules.items():
            yield from module.named_modules(f"{prefix}.{name}".lstrip("."))

    def __call__(self, *inputs):
        return self.forward(*inputs)


class Built:
    """What load_inline returns: functions that tell what they were called with."""

    def __init__(self, options):
        self.options = options
        for name in options["functions"]:
            setattr(self, name, lambda *args: [("output 0", args), ("output 1", args)])


def stand_in(built):
    torch = types.ModuleType("torch")
    torch.nn = types.ModuleType("torch.nn")
    torch.nn.Module, torch.nn.Parameter = Module, Parameter
    torch.Tensor = Tensor
    torch.is_tensor = lambda value: isinstance(value, Tensor)
    torch.rand = lambda *shape: Tensor(shape, "random")
    torch.library = types.ModuleType("torch.library")

    def custom_op(name, mutates_args):
        def wrap(function):
            function.register_fake = lambda fake: setattr(function, "fake", fake)
            function.op_name = name
            return function
        return wrap
    torch.library.custom_op = custom_op
    extension = types.ModuleType("torch.utils.cpp_extension")

    def load_inline(**options):
        built.append(Built(options))
        return built[-1]
    extension.load_inline = load_inline
    torch.float32 = "float32"
    sys.modules.update({"torch": torch, "torch.nn": torch.nn, "torch.utils": torch,
                        "torch.utils.cpp_extension": extension})


def load(path, built):
    stand_in(built)
    with open(path) as f:
        text = f.read()
    ast.parse(text)
    space = {}
    exec(compile(text, path, "exec"), space)
    return text, space


def check_source(options, name):
    source = options["cuda_sources"]
    declared = options["cpp_sources"].rstrip(";")
    check(f"std::vector<torch::Tensor> {name}_forward(" in declared, "the declaration")
    check(declared + "\n{" in source, "the definition is not what is declared")
    check("#pragma keet" not in source, "pragmas are left")
    for left, right in ("()", "{}", "[]"):
        check(source.count(left) == source.count(right), f"unbalanced {left}{right}")
    for macro in re.findall(r"#define (\w+) \d+\n", source):
        check(f"#undef {macro}\n" in source, f"{macro} stays defined")
    check(source.index("#include <cuda_runtime.h>") < source.index("namespace keet_"), "includes")


def kernelbench_of_pair(keet, db):
    built = []
    text, space = load(runs.export(keet, db, "kernelbench")[0], built)
    check_source(built[0].options, "pair")
    check(space["ModelNew"].__mro__[1].__name__ == "Model", "ModelNew does not make Model's weights")
    check("forward pass" not in text and "Pass it on" not in text, "texts in quotes are left")
    check(text.count("def forward(") == 1, "the reference's forward is left")
    check("x * self.scale.weight" not in text, "the reference's computation is left")
    model = space["ModelNew"](*space["get_init_inputs"]())
    x = Tensor((64, 48), "x")
    got = model(x, 0.5)
    check([g[0] for g in got] == ["output 0", "output 1"], "outputs")
    args = got[0][1]
    check(args == (x, model.scale.weight, 0.5), f"arguments {args}")
    check(model(x)[0][1][2] == 1e-5, "the number of the contract")


def pytorch_of_pair(keet, db):
    built = []
    _, space = load(runs.export(keet, db, "pytorch")[0], built)
    check_source(built[0].options, "pair")
    op = space["pair"]
    check(op.op_name == "keet::pair", "the operator's name")
    x, weight = Tensor((7, 5), "x"), Tensor((5,), "w")
    check(op(x, weight)[0][1] == (x, weight, 1e-5), "arguments")
    Tensor.new_empty = lambda self, shape, dtype: (shape, dtype)
    check(op.fake(x, weight) == [((7, 5), "float32"), ((), "float32")], "shapes")


def flashinfer_of_pair(keet, db, folder):
    root = os.path.join(folder, "fib")
    paths = runs.export(keet, db, "flashinfer-bench", root)
    kinds = [os.path.relpath(p, root).split("/")[0] for p in paths]
    check(kinds == ["definitions", "solutions", "workloads", "traces"], f"{kinds}")
    definition, solution, workload, trace = [json.load(open(p)) for p in paths]
    check(definition["axes"] == {"ROWS": {"type": "var"}, "COLS": {"type": "var"}}, "axes")
    check(definition["inputs"]["eps"] == {"shape": None, "dtype": "float32"}, "a number")
    check(definition["outputs"]["total"]["shape"] == [], "an output without dimensions")
    check("run" in [n.name for n in ast.parse(definition["reference"]).body
                    if isinstance(n, ast.FunctionDef)], "no run")
    check(solution["spec"]["entry_point"] == "kernel.cu::run", "entry point")
    check("PYBIND11_MODULE" in solution["sources"][0]["content"], "no module")
    check(workload["evaluation"] is None and workload["workload"] == trace["workload"], "workload")
    check(trace["workload"]["axes"] == {"ROWS": 64, "COLS": 48}, "sizes")
    check(trace["solution"] == solution["name"] and trace["definition"] == definition["name"], "names")
    speed = trace["evaluation"]["performance"]
    check(math.isclose(speed["speedup_factor"], speed["reference_latency_ms"] / speed["latency_ms"],
                       rel_tol=1e-3), "speedup")
    check("modelled" in trace["evaluation"]["environment"]["hardware"], "provenance")


def tuning(keet, db):
    t4 = json.load(open(runs.export(keet, db, "t4")[0]))
    check(t4["schema_version"] == "1.0.0" and t4["results"], "no results")
    check("modelled" in t4["metadata"]["device"], "provenance")
    cache = json.load(open(runs.export(keet, db, "kernel-tuner")[0]))
    check("modelled" in cache["device_name"], "provenance")
    check(len(cache["cache"]) == len(t4["results"]), "the two differ")
    seen = set()
    for result in t4["results"]:
        values = [result["configuration"][k] for k in cache["tune_params_keys"]]
        entry = cache["cache"][",".join(map(str, values))]
        check(tuple(values) not in seen, "a configuration twice")
        seen.add(tuple(values))
        check(all(v in cache["tune_params"][k] for k, v in zip(cache["tune_params_keys"], values)),
              "a value that is no choice")
        check((result["invalidity"] == "correct") == (result["correctness"] == 1)
              == isinstance(entry["time"], float), "validity")
        if result["times"]["runtimes"]:
            check(result["times"]["runtimes"] == entry["times"] == [entry["time"]], "times")
    return len(seen)


def main():
    keet, pair, tuned = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        db = runs.run(keet, pair, folder, 4)
        kernelbench_of_pair(keet, db)
        pytorch_of_pair(keet, db)
        flashinfer_of_pair(keet, db, folder)
        check("expected one of kernelbench," in runs.refused(keet, db, "onnx"), "an unknown format")
        check("no such file" in runs.refused(keet, db + "x", "t4"), "no database")
        nr = tuning(keet, runs.run(keet, tuned, folder, 12))
        check(nr > 1, "the search has tuned nothing, so the test shows nothing")
        print(f"six formats of two runs; {nr} tuned variants")


if __name__ == "__main__":
    main()
