#!/usr/bin/env bash
# Fills a memory as earlier runs with a language model would have: one run a task, whose only answer is that task's best version
# as it is on record.
#
#   bench/model/remember.sh MEMORY BEST...     BEST is a kernel of kernels/TASK.cu, named TASK.cu or TASK.anything.cu
#
# KEET_OPT names the program (build/release/keet-opt).
set -euo pipefail
cd "$(dirname "$0")/../.."
program=${KEET_OPT:-build/release/keet-opt}
memory=$(realpath "$1")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for best in "$@"; do
    task=$(basename "$best")
    task=${task%%.*}
    mkdir -p "$work/$task"
    { printf 'MOVE: design\n```cuda\n'; cat "$best"; printf '```\n'; } >"$work/$task/write-1.md"
    "$program" "kernels/$task.cu" --device emu --model "script:$work/$task" --model-only --in-flight 1 --seed 1 --budget 1 \
        --memory "$memory" --db "$work/$task.db" -o "$work/$task.best.cu" -q | sed "s|^|$task: |"
done
