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
# The sandbox: nothing is written, nobody called, and no key seen; reading and /dev/null are fine.
rm -f "$folder"/*
tool writes 'cat >/dev/null; : 2>/dev/null; if echo x >"'"$folder"'/written" 2>/dev/null; then exit 5; fi; echo "{\"keet_tool\": 1, \"findings\": [{\"text\": \"Could not write.\"}]}"'
cat >"$folder/calls" <<'PY'
#!/usr/bin/env python3
import json, os, socket, sys
said = "Key seen." if "ANTHROPIC_API_KEY" in os.environ else "No key."
try:
    socket.create_connection(("127.0.0.1", 9), 1)
except PermissionError:
    said += " No socket."
except OSError as why:
    said += f" A socket: {why}."
json.dump({"keet_tool": 1, "findings": [{"text": said}]}, sys.stdout)
PY
chmod +x "$folder/calls"
tool floods 'cat >/dev/null; while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done'
out=$(ANTHROPIC_API_KEY=secret "$keet" explain --threads 2 --tools "$folder" $kernel 2>&1)
expect "] Could not write."
expect "] No key. No socket."
expect "tool floods: said over 1048576 bytes"
[ ! -e "$folder/written" ]
# On profiles from elsewhere.
rm -f "$folder"/*
tool names 'cat >/dev/null; echo "{\"keet_tool\": 1, \"findings\": [{\"text\": \"Seen.\", \"evidence\": [\"dram__bytes.sum\"]}]}"'
out=$("$keet" explain --tools "$folder" ncu/raw_plain.csv)
expect "] Seen."
# In the search: what a tool weighs is in the priors of the original's moves, and a crash ends nothing.
rm -f "$folder"/*
share()
{
    "$keet" $kernel --threads 2 --budget 1 --quiet --db "$folder.db" -o "$folder.cu" "$@" \
        >/dev/null 2>"$folder.errors"
    python3 - "$folder.db" <<'PY'
import sqlite3, sys
query = """select total(option.prior) from option join node on node.id = option.node
           where number = 0 and option.action = 'unroll'"""
print(*sqlite3.connect(sys.argv[1]).execute(query).fetchone())
PY
    rm -f "$folder.db" "$folder.db-wal" "$folder.db-shm" "$folder.cu"
}
tool crash 'kill -SEGV $$'
tool weighs 'cat >/dev/null; echo "{\"keet_tool\": 1, \"findings\": [{\"text\": \"Unroll it.\", \"share\": 0.97, \"weights\": {\"unroll\": 10}}, {\"text\": \"Bad.\", \"weights\": {\"no_move\": 1}}]}"'
before=$(share)
after=$(share --tools "$folder")
out=$(cat "$folder.errors")
rm -f "$folder.errors"
expect "tool crash: crashed"
expect "tool weighs: finding 2 left out: weights of a move that does not exist"
python3 -c "import sys; sys.exit(not float(sys.argv[2]) > 2 * float(sys.argv[1]))" "$before" "$after" ||
    { echo "prior of unroll: $before, with the tool $after"; exit 1; }
