"""Checks, times and explains CUDA kernels, without a GPU: the package over libkeet.

    import keet
    result = keet.run(original, candidate)      # kernels are texts, or paths of .cu files
    print(result.verdict, result.speedup)

`check`, `run`, `explain` and `reward` evaluate one candidate with the processes of this interpreter;
`check_many` and `reward_many` evaluate many, side by side. A `Keet` is a set of processes with options
of its own. `Search` proposes variants and is told what became of them. A broken candidate is a result
with a verdict; what else goes wrong raises `KeetError`, a broken original `OriginalError`.

Times are those of a model of the chip where `time_from` says "modelled"."""
from ._keet import (Keet, check, check_many, configure, explain, reward, reward_many, run)
from ._native import Interrupted, KeetError, OriginalError, version as _version
from ._results import Check, Explanation, Finding, Metric, Reward, Run, Variant
from ._search import Search

__version__ = _version()
__all__ = ["Check", "Explanation", "Finding", "Interrupted", "Keet", "KeetError", "Metric",
           "OriginalError", "Reward", "Run", "Search", "Variant", "check", "check_many", "configure",
           "explain", "reward", "reward_many", "run"]
