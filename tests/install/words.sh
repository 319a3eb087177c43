#!/usr/bin/env bash
# usage: words.sh KEET_OPT
# The man page without a warning, where there is groff; bash's completion as a shell asks for it;
# zsh's and fish's read by those shells where they are there.
set -euo pipefail
keet_opt=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

"$keet_opt" man >page
for word in NAME SYNOPSIS COMMANDS OPTIONS 'EXIT STATUS' ENVIRONMENT; do
    grep -q "^.SH $word" page
done
if command -v groff >/dev/null; then
    groff -man -Tutf8 -ww page >text 2>warnings
    [ ! -s warnings ] || { cat warnings; exit 1; }
fi

# expect WANTED WORD...: among what is offered for the last of these words is the wanted one.
expect()
{
    local wanted=$1
    COMP_WORDS=(keet-opt "${@:2}")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _keet_opt
    printf '%s\n' "${COMPREPLY[@]}" | grep -qxe "$wanted" ||
        { echo "keet-opt ${*:2}: no $wanted among: ${COMPREPLY[*]}"; exit 1; }
}
compopt() { :; } # it may be called by a completion only
"$keet_opt" completion bash >bash.sh
bash -n bash.sh
# shellcheck disable=SC1091
source bash.sh
expect explain ex
expect --sanitize run --san
expect mcts kernel.cu --policy m
expect race run --sanitize r
expect zsh completion z
expect doctor help d
expect --budget kernel.cu --b
COMP_WORDS=(keet-opt run --bud) COMP_CWORD=2
_keet_opt
[ ${#COMPREPLY[@]} -eq 0 ] # run takes no budget

for shell in zsh fish; do
    "$keet_opt" completion $shell >script.$shell
    ! command -v $shell >/dev/null || $shell -n script.$shell
done
! "$keet_opt" completion powershell 2>/dev/null

# Each verb has a page of its own, and the page names each of its options.
for verb in $("$keet_opt" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
    "$keet_opt" "$verb" --help >"$verb.txt"
    "$keet_opt" help "$verb" | cmp - "$verb.txt"
    head -1 "$verb.txt" | grep -q "^keet-opt $verb: "
done
