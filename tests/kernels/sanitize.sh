#!/usr/bin/env bash
# keet-opt run --sanitize on kernels with one fault each: the line, the threads, the words; and on right kernels that
# look like these.
set -euo pipefail
keet=$1
cd "$(dirname "$0")/sanitize"
run()
{
    status=0
    out=$("$keet" run "$1.cu" --device emu --sanitize "${2:-all}" ${3:+"$3"} 2>&1) || status=$?
}
expect()
{
    grep -qF -- "$1" <<<"$out" || { echo "missing: $1"; echo "$out"; exit 1; }
}
refuse()
{
    ! grep -qF -- "$1" <<<"$out" || { echo "not wanted: $1"; echo "$out"; exit 1; }
}
# Half of the block's warps go round a barrier: the others are freed when these exit.
run barrier_for_half_the_block
expect "sync    line 11, k: barrier in divergent code: 4 of 8 warps go past it, that of thread (128,0,0) first; the warp of thread (0,0,0) of block (0,0,0) waits at it"
expect "1 found by the sanitizers"
[ $status = 3 ]
# The same, and a second barrier where the two halves meet out of step: the first barrier is to blame, and the race is
# between threads of both halves.
run barriers_out_of_step
expect "sync    line 11, k: barrier in divergent code: 4 of 8 warps go past it"
refuse "sync    line 13"
expect "write by thread (0,0,0) (line 12) and read by thread (255,0,0) of block (0,0,0) (line 14)"
# An order on which the result depends has no line.
expect "race    k: y depends on the order in which warps run"
refuse "line 0"
# All lanes read a word, and one of them writes it.
run warp_overwrites race
expect "race    line 13, k: race on byte 0 of t (shared memory): write by thread (0,0,0) (line 13) and read by thread (1,0,0) of block (0,0,0) (line 11), both of one warp"
expect "1 found"
# Half of an output that nothing writes.
run half_an_output
expect "init    line 3, k: unwritten output: y has 512 of 1024 elements that no launch writes, element 512 first"
[ $status = 3 ]
run half_an_output init --json
expect '"line": 3'
expect "unwritten output: y has 512 of 1024 elements"
run half_an_output race,sync
expect "0 found"
for right in output_in_two_launches warp_leaves_early; do
    run $right
    expect "0 found"
    [ $status = 0 ]
done
# All threads store one value to one place: a race only for who wants it to be one.
run one_value
expect "0 found"
run one_value race=strict
expect "race    line 8, k: race on byte 0 of n (shared memory)"
