#!/usr/bin/env python3
"""Gives exports of real runs to the programs that they are for, where these are installed:

    python3 tests/export/consumers.py build/release/keet-opt [KERNELBENCH CHECKOUT]

jsonschema with Kernel Tuner's copy of the T4 schema, Kernel Tuner's cache reader, flashinfer-bench's
TraceSet, KernelBench's static checks, and PyTorch's load_inline, which compiles with nvcc; none of
them needs a GPU. What is not installed is said."""
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
    root = os.path.join(folder, "traces")
    for db in dbs:
        runs.export(keet, db, "flashinfer-bench", root)
    traces = TraceSet.from_path(root)
    assert len(traces.definitions) == len(dbs) == len(traces.solutions) == len(traces.traces)
    print(f"  TraceSet reads {len(traces.definitions)} definitions with solutions and traces")


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


def pytorch(keet, dbs):
    print("PyTorch: modules load, their extensions compile")
    if not has("torch", "ninja"):
        return
    os.environ.setdefault("TORCH_CUDA_ARCH_LIST", "9.0")
    os.environ.setdefault("MAX_JOBS", "1")
    for db in dbs:
        for name in "kernelbench", "pytorch":
            path = runs.export(keet, db, name)[0]
            spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            if name == "kernelbench":
                module.ModelNew()
            print(f"  {os.path.basename(path)}: loaded")
            sys.stdout.flush()


def main():
    keet = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        dbs = [runs.run(keet, str(ROOT / f"kernels/{k}.cu"), folder, 12) for k in KERNELS]
        tuning(keet, dbs)
        flashinfer(keet, dbs, folder)
        kernelbench(keet, dbs, sys.argv[2] if len(sys.argv) > 2 else None)
        pytorch(keet, dbs)


if __name__ == "__main__":
    main()
