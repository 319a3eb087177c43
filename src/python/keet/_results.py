"""Owns the results: what the library says, as dataclasses and NumPy arrays. The names are those of
docs/reference/json.md; `raw` is the whole document."""
from dataclasses import dataclass, field

import numpy as np

# What a source line cost; docs/reference/json.md explains each.
LINE_COSTS = ("warp_inst", "thread_inst", "global_requests", "global_sectors", "global_sectors_ideal",
              "global_bytes", "shared_requests", "shared_wavefronts", "shared_wavefronts_ideal",
              "local_requests", "atomics", "barriers", "branches", "branches_divergent",
              "stall_cycles")
LINE_TYPE = np.dtype([("line", np.int32)] + [(name, np.float64) for name in LINE_COSTS]
                     + [("waits_for", "U24")])


@dataclass(frozen=True)
class Check:
    """Does the candidate compute what the original computes?"""
    verdict: str                # "ok", "wrong", "fault", "race", "no_compile", "timeout", ...
    reason: str | None          # why not, with its place; None where it does
    line: int                   # of the candidate; 0: none
    compared: str | None = None
    runs: int = 0
    sizes: int = 0
    error_of_allowed: float = 0.0   # the largest error over what was allowed
    max_abs: float = 0.0
    max_rel: float = 0.0
    worst_array: str | None = None
    worst_index: int = 0
    raw: dict = field(default_factory=dict, repr=False, compare=False)

    @property
    def ok(self):
        return self.verdict == "ok"


@dataclass(frozen=True)
class Metric:
    value: float | None
    unit: str
    origin: str     # "counted", "sampled", "modelled", "measured", ...


@dataclass(frozen=True)
class Finding:
    """One sentence of advice, about a line (0: the whole kernel)."""
    tool: str
    line: int
    text: str
    expected_gain: float
    max_gain: float | None      # None: nothing bounds it


@dataclass(frozen=True)
class Run:
    """The check, and of a right kernel its time and counters."""
    verdict: str
    reason: str | None
    line: int
    check: Check = field(repr=False)
    time_ns: float | None = None
    time_from: str | None = None    # "modelled" on the emulator, "measured" on a GPU
    speedup: float | None = None    # over the original
    bound: str = "unknown"          # "compute", "memory", "latency", "mixed"
    summary: str | None = None
    findings: tuple[Finding, ...] = field(default=(), repr=False)
    metrics: dict[str, Metric] = field(default_factory=dict, repr=False)
    source: str | None = field(default=None, repr=False)
    lines: np.ndarray = field(default_factory=lambda: np.zeros(0, LINE_TYPE), repr=False,
                              compare=False)    # LINE_TYPE, by rising line
    raw: dict = field(default_factory=dict, repr=False, compare=False)

    @property
    def ok(self):
        return self.verdict == "ok"


@dataclass(frozen=True)
class Explanation(Run):
    """What limits the kernel, and what to try."""
    text: str = field(default="", repr=False)
    limits: dict | None = field(default=None, repr=False)

    def __str__(self):
        return self.text


@dataclass(frozen=True)
class Reward:
    """What a model's reply is worth."""
    verdict: str
    reason: str | None
    line: int
    reward: float               # 0 where it is not right, else 0.3 + speedup
    speedup: float | None
    time_ns: float | None
    time_from: str | None
    original_ns: float | None
    feedback: str = field(repr=False)       # for the next prompt
    source: str | None = field(repr=False)  # the kernel file in the reply
    check: Check | None = field(repr=False)
    raw: dict = field(default_factory=dict, repr=False, compare=False)

    @property
    def ok(self):
        return self.verdict == "ok"


@dataclass(frozen=True)
class Variant:
    """A variant that a search asks to evaluate."""
    node: int
    parent: int
    move: str
    what: str | None
    source: str | None = field(repr=False)


def check_of(raw):
    known = {name: raw[name] for name in Check.__dataclass_fields__
             if name != "raw" and raw.get(name) is not None}
    return Check(**{"verdict": "", "reason": None, "line": 0, **known}, raw=raw)


def _findings(raw):
    return tuple(Finding(tool=f["tool"], line=f["line"], text=f["text"] or "",
                         expected_gain=f["expected_gain"], max_gain=f["max_gain"])
                 for f in raw.get("findings") or [])


def lines_of(raw):
    array = np.zeros(len(raw), LINE_TYPE)
    for row, line in zip(array, raw):
        for name, value in line.items():
            if name in LINE_TYPE.names and value is not None:
                row[name] = value
    return array


def _members(raw):
    right = raw["verdict"] == "ok"
    return {"verdict": raw["verdict"], "reason": raw.get("reason"), "line": raw.get("line") or 0,
            "check": check_of(raw.get("check") or raw),
            "time_ns": raw.get("time_ns") if right else None,
            "time_from": raw.get("time_from") if right else None,
            "speedup": raw.get("speedup") if right else None,
            "bound": raw.get("bound") or "unknown", "summary": raw.get("summary"),
            "findings": _findings(raw), "source": raw.get("source"),
            "metrics": {name: Metric(m["value"], m["unit"], m["from"])
                        for name, m in (raw.get("metrics") or {}).items()},
            "lines": lines_of(raw.get("lines") or []), "raw": raw}


def run_of(raw):
    return Run(**_members(raw))


def explanation_of(raw):
    return Explanation(**_members(raw), text=raw.get("text") or raw.get("reason") or "",
                       limits=raw.get("limits"))


def reward_of(raw):
    names = ("verdict", "reason", "reward", "speedup", "time_ns", "time_from", "original_ns",
             "feedback", "source")
    check = raw.get("check")
    return Reward(**{name: raw.get(name) for name in names}, line=raw.get("line") or 0,
                  check=check_of(check) if check else None, raw=raw)


def variant_of(raw, source):
    return Variant(node=raw["node"], parent=raw["parent"], move=raw["move"], what=raw["what"],
                   source=source)
