"""Runs keet-opt and reads the JSON that it prints."""

import json
import os
import subprocess


def run(program, words, seconds, cpu_only=False, counts=True):
    """(exit code, stdout, stderr); 124 when it took too long. cpu_only: no GPU is seen, nor the
    software driver; not counts: a GPU takes times alone."""
    environment = dict(os.environ)
    if not counts:
        environment["KEET_CUPTI"] = "none"
    if cpu_only:
        environment.pop("KEET_CUDA_DRIVER", None)
    try:
        done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, env=environment,
                              timeout=max(1, seconds), stdin=subprocess.DEVNULL, check=False)
    except subprocess.TimeoutExpired:
        return 124, "", f"took over {seconds:.0f} s"
    return done.returncode, done.stdout, done.stderr


def document(code, text, errors):
    """(the JSON of a run, ""), or (None, why there is none)."""
    try:
        return json.loads(text), ""
    except json.JSONDecodeError:
        return None, (errors.strip().splitlines() or [f"exit code {code}"])[-1]
