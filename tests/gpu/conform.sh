#!/usr/bin/env bash
# usage: conform.sh keet-conform-gpu libkeet-cuda.so TEST...
# What the emulator's tests ran is run through the software driver: the same, bit by bit. One bit
# changed, a text that is no PTX, and a kernel that faults are each found, and the rest goes on.
set -euo pipefail
conform=$1
driver=$2
shift 2
. "$(dirname "$0")/scratch.sh"
cd "$folder"
export KEET_CUDA_DRIVER=$driver

mkdir recorded
for test in "$@"; do
    KEET_RECORD_FORMS=recorded "$test" >log 2>&1 || { cat log && exit 1; }
done

"$conform" --jobs 2 --every 8 same recorded | tee said
grep -q ' 0 within, 0 nans, 0 differs, 0 refused, 0 accepted, 0 fault, 0 stalled, 0 crashed, 0 not run' said
[ ! -s same/forms.tsv ]
# What is known to be the same is left out.
sort -u same/same.txt >known
[ "$(wc -l <known)" -gt 20 ]
"$conform" --known known --list recorded | awk -F'\t' 'NR == FNR { known[$1]; next } !($5 in known)' known - >left
"$conform" --jobs 2 --known known --limit 0 rest recorded >said || [ $? = 1 ]
grep -q "^$(wc -l <left) forms: 0 same" said

# Overwrites a byte at an offset of a program's blobs.
poke() { printf "$3" | dd of="recorded/$1.blobs" bs=1 seek="$2" conv=notrunc status=none; }
row() { "$conform" --list recorded | awk -F'\t' -v form="$1" '$6 == form && !nr++'; }
fails() { # NAME FORM OUTCOME
    local status=0
    "$conform" --jobs 2 --only "$2" "$1" recorded >said || status=$?
    [ "$status" = 1 ] || { cat said && exit 1; }
    grep -q "	$3	" "$1/forms.tsv" || { cat "$1/forms.tsv" && exit 1; }
}

IFS=$'\t' read -r program _ offset _ _ form <<<"$(row 'redux.sync.add.u32 D, A, M;')"
poke "$program" $((offset + 16)) '\x7f'
fails planted "$form" differs
grep -q '	1 of 4608 differ.* | A+16 chip ' planted/forms.tsv

# (Sums of u32 and s32 are the same bytes, which are stored once.)
# In the text of another form: braces that do not fit, and a trap.
at() { grep -abo "$2" "recorded/$1.blobs" | sed -n '1s/:.*//p'; }
poke "$program" "$(at "$program" 'redux.sync.min.u32')" '}}}}}'
fails refused 'redux.sync.min.u32' refused
text=$(at "$program" 'redux.sync.max.s32')
poke "$program" "$text" 'trap;//ync.max.s32'
fails fault 'redux.sync.max.s32' fault

"$conform" --jobs 2 --only redux all recorded >said || [ $? = 1 ]
grep -q ' 2 differs, 1 refused, 0 accepted, 1 fault, 0 stalled, 0 crashed, 0 not run' said || { cat said && exit 1; }
