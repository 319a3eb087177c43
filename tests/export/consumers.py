#!/usr/bin/env python3
"""Gives exports of real runs to the programs that they are for, where these are installed:

    python3 tests/export/consumers.py build/release/keet-opt [--kernelbench CHECKOUT] [RUN.db...]

jsonschema with Kernel Tuner's copy of the T4 schema, Kernel Tuner's cache reader, flashinfer-bench's
TraceSet, KernelBench's static checks, and PyTorch's load_inline, which compiles with nvcc; none of
them needs a GPU. What is not installed is said."""
import argparse
import importlib.util
import json
import os
import pathlib
import sys
import tempfile

import runs

KERNELS = ["matmul", "softmax", "rmsnorm", "sum", "attention"]
ROOT = pathlib.Path(__file__).resolve().parents[2]


def has(*modules):
    lacking = [m for m in modules if importlib.util.find_spec(m) is None]
    if lacking:
        print(f"  not installed: {', '.join(lacking)}")
    return not lacking


def tuning(keet, dbs):
    print("T4 and Kernel Tuner")
    if not has("kernel_tuner", "jsonschema"):
        return
    import jsonschema
    import kernel_tuner.util
    schema = pathlib.Path(kernel_tuner.util.__file__).parent / "schema/T4/1.0.0/results-schema.json"
    for db in dbs:
        told = runs.refused(keet, db, "t4") if not has_tunes(keet, db) else None
        if told:
            print(f"  {os.path.basename(db)}: {told.strip()}")
            continue
        jsonschema.validate(json.load(open(runs.export(keet, db, "t4")[0])),
                            json.load(open(schema)))
        path = runs.export(keet, db, "kernel-tuner")[0]
        cache = kernel_tuner.util.read_cache(path, open_cache=False)
        print(f"  {os.path.basename(db)}: valid T4; Kernel Tuner reads {len(cache['cache'])} "
              "configurations")


def has_tunes(keet, db):
    try:
        runs.export(keet, db, "t4")
    except Exception:
        return False
    return True


def flashinfer(keet, dbs, folder):
    print("flashinfer-bench")
    if not has("flashinfer_bench", "torch"):
        return
    from flashinfer_bench.data import TraceSet
    for i, db in enumerate(dbs):
        root = os.path.join(folder, f"traces{i}")
        runs.export(keet, db, "flashinfer-bench", root)
        traces = TraceSet.from_path(root)
        name, = traces.definitions
        assert list(traces.solutions) == list(traces.workloads) == list(traces.traces) == [name]
        print(f"  {os.path.basename(db)}: TraceSet reads {name}, its solution and its trace")


def kernelbench(keet, dbs, checkout):
    print("KernelBench's static checks")
    if not checkout:
        print("  no checkout was given")
        return
    path = os.path.join(checkout, "src/kernelbench/kernel_static_checker.py")
    spec = importlib.util.spec_from_file_location("kernel_static_checker", path)
    checker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(checker)
    for db in dbs:
        text = open(runs.export(keet, db, "kernelbench")[0]).read()
        valid, errors, warnings = checker.validate_kernel_static(text, backend="cuda",
                                                                 precision="fp32")
        print(f"  {os.path.basename(db)}: valid {valid}, errors {errors}, warnings {warnings}")
        assert valid


def load(path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pytorch(keet, dbs, nr_compiled):
    """nr_compiled of the extensions are compiled, which takes minutes each; of the others it is
    checked that the module loads, and that ModelNew has the weights that Model has."""
    print("PyTorch")
    if not has("torch", "ninja"):
        return
    import torch
    import torch.utils.cpp_extension as cpp
    os.environ.setdefault("TORCH_CUDA_ARCH_LIST", "9.0")
    compile_it = cpp.load_inline
    for i, db in enumerate(dbs):
        cpp.load_inline = compile_it if i < nr_compiled else lambda **options: None
        how = "compiled and loaded" if i < nr_compiled else "loaded, its extension not compiled"
        path = runs.export(keet, db, "kernelbench")[0]
        module = load(path)
        init = module.get_init_inputs() if hasattr(module, "get_init_inputs") else []
        torch.manual_seed(7)
        model = module.ModelNew(*init)
        if hasattr(module, "Model"):
            torch.manual_seed(7)
            theirs = module.Model(*init).state_dict()
            assert all(torch.equal(v, theirs[k]) for k, v in model.state_dict().items())
            how += f", {len(theirs)} weights as in Model"
        print(f"  {os.path.basename(path)}: {how}", flush=True)
        cpp.load_inline = lambda **options: None
        load(runs.export(keet, db, "pytorch")[0])
    cpp.load_inline = compile_it


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("keet")
    p.add_argument("--kernelbench", help="a checkout of KernelBench")
    p.add_argument("--compile", type=int, default=0, help="so many extensions, with nvcc")
    p.add_argument("databases", nargs="*", help="of runs; none: of short ones over kernels/")
    args = p.parse_intermixed_args()
    keet = args.keet
    with tempfile.TemporaryDirectory() as folder:
        dbs = args.databases or [runs.run(keet, str(ROOT / f"kernels/{k}.cu"), folder, 12)
                                 for k in KERNELS]
        tuning(keet, dbs)
        flashinfer(keet, dbs, folder)
        kernelbench(keet, dbs, args.kernelbench)
        pytorch(keet, dbs, args.compile)


if __name__ == "__main__":
    main()
