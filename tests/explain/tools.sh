#!/usr/bin/env bash
# The user's own tools: the two examples, and tools that crash, hang, answer nonsense or lie.
set -euo pipefail
keet=$1
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tool()
{
    printf '#!/bin/sh\n%s\n' "$2" >"$folder/$1"
    chmod +x "$folder/$1"
}
expect()
{
    grep -qF -- "$1" <<<"$out" || { echo "missing: $1"; echo "$out"; exit 1; }
}
kernel=kernels/serial_row_sum.cu
out=$("$keet" explain --threads 2 --tools ../../bench/tools $kernel)
expect "[hottest_line.py"
expect "of all waiting is at \`"
tool crash 'kill -SEGV $$'
tool fails 'echo no luck >&2; exit 4'
tool hangs 'sleep 60'
tool nonsense 'echo hello'
tool version 'echo "{\"keet_tool\": 9, \"findings\": []}"'
tool liar 'echo "{\"keet_tool\": 1, \"findings\": [{\"text\": \"x\", \"line\": 999}, {\"text\": \"y\", \"evidence\": [\"no__metric\"]}]}"'
tool right 'cat >/dev/null; echo "{\"keet_tool\": 1, \"findings\": [{\"text\": \"All is well.\", \"line\": 17}]}"'
out=$("$keet" explain --threads 2 --tools "$folder" $kernel 2>&1)
expect "tool crash: crashed"
expect "tool fails: exit status 4: no luck"
expect "tool hangs: stopped after five seconds"
expect "tool nonsense: not JSON"
expect 'tool version: expected {"keet_tool": 1'
expect "tool liar: finding 1 left out: a line that the source does not have"
expect "tool liar: finding 2 left out: evidence that is no metric"
expect "] All is well."
expect "1. [serial_rows"
out=$("$keet" explain --tools "$folder/none" $kernel 2>&1) && exit 1
expect "--tools $folder/none"
