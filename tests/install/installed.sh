#!/usr/bin/env bash
# usage: installed.sh CMAKE BUILD SOURCE
# `cmake --install` into a folder that is then moved: the program there runs from an empty folder and
# finds all that comes with it, and nothing of the checkout is asked for.
set -euo pipefail
cmake=$1 build=$2 source=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset KEET_SHARE
[ -n "${KEET_CUDA:-}${CUDA_HOME:-}" ] || [ -e /usr/local/cuda ] || export CUDA_HOME=$source/.deps/cuda

DESTDIR= "$cmake" --install "$build" --prefix "$folder/first" >"$folder/log"
mv "$folder/first" "$folder/moved to here"
at="$folder/moved to here"
mkdir "$folder/empty"
cd "$folder/empty"
cp "$at/share/keet-opt/kernels/saxpy.cu" .

"$at/bin/keet-opt" doctor --json --cache '' >doctor.json
grep -q '"text": ".*moved to here/bin/../share/keet-opt/prompts"' doctor.json
"$at/bin/keet-opt" saxpy.cu --budget 3 --cache '' -q
[ -s saxpy.keet.cu ] && [ -s saxpy.keet.db ]
"$at/bin/keet-opt" saxpy.cu --model openai:any --show-prompt --cache '' | grep -q 'saxpy'
lib=$(dirname "$(find "$at" -name libkeet-cuda.so)")
KEET_CUDA_DRIVER=$lib/libkeet-cuda.so "$at/bin/keet-opt" run saxpy.cu --device gpu --cache '' -q >gpu.txt
[ -e "$lib/swdriver/libcuda.so.1" ]
# An agent reads an installed page; a call of an agent runs confined, and finds all that it needs.
coproc server { "$at/bin/keet-opt" mcp --device emu --cache ''; }
exec 3<&"${server[0]}" 4>&"${server[1]}" # bash forgets them when the server ends
echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}' >&4
echo '{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"keet://docs/agents"}}' >&4
echo '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"run","arguments":{"kernel":"saxpy.cu"}}}' >&4
for answer in hello agents called; do
    IFS= read -r -t 120 -u 3 "$answer"
done
grep -q 'coding agent' <<<"$agents"
grep -q '"verdict":"ok"' <<<"$called"
exec 4>&-
for file in man/man1/keet-opt.1 bash-completion/completions/keet-opt \
    zsh/site-functions/_keet-opt fish/vendor_completions.d/keet-opt.fish; do
    [ -s "$at/share/$file" ]
done
