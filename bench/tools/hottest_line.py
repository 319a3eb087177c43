#!/usr/bin/env python3
"""A tool for keet-opt --tools: names the line at which warps wait most, when it takes over half of
all waiting. The input and the answer are described in src/explain/plugin.h."""
import json
import sys

profile = json.load(sys.stdin)
lines = profile["lines"]
total = sum(line["stall_cycles"] for line in lines)
findings = []
if total > 0:
    worst = max(lines, key=lambda line: line["stall_cycles"])
    share = worst["stall_cycles"] / total
    if share > 0.5:
        code = profile["source"].split("\n")[worst["line"] - 1].strip()[:120]
        findings.append({
            "text": f"Line {worst['line']}: {100 * share:.0f}% of all waiting is at `{code}`.",
            "line": worst["line"],
            "share": min(0.5 * share, 0.9),
        })
json.dump({"keet_tool": 1, "findings": findings}, sys.stdout)
