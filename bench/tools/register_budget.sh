#!/bin/sh
# A tool for keet-opt --tools: speaks up where a kernel takes over 128 registers per thread. The
# input and the answer are described in src/explain/plugin.h.
registers=$(grep -o '"registers":[0-9]*' | cut -d: -f2 | sort -n | tail -n 1)
findings=
if [ "${registers:-0}" -gt 128 ]; then
    findings="{\"text\": \"$registers registers per thread: over our budget of 128.\", \"share\": 0.1,
        \"evidence\": [\"launch__registers_per_thread\"]}"
fi
echo "{\"keet_tool\": 1, \"findings\": [$findings]}"
