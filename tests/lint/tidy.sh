#!/usr/bin/env bash
# clang-tidy 14 finds nothing in any .c file, by the checks of .clang-tidy.
#   tidy.sh BUILD-FOLDER [FILE...]   the folder has compile_commands.json; all files without FILE
#   tidy.sh BUILD-FOLDER --recent N  the files that the last N commits or nobody's commit changed, and those
#                                    that include a header so changed; all, where there is no history
# Exit status 77 (skipped) where only another version is installed: versions disagree.
set -euo pipefail
build=$(realpath "$1")
shift
cd "$(dirname "$0")/../.."

tool=
for name in clang-tidy-14 clang-tidy; do
    if command -v "$name" >/dev/null && "$name" --version | grep -q 'version 14\.'; then
        tool=$name
        break
    fi
done
[ -n "$tool" ] || { echo "clang-tidy 14 is not installed"; exit 77; }

# A file that is compiled for several instruction sets is looked at once.
once=$(mktemp -d)
trap 'rm -rf "$once"' EXIT
python3 - "$build" "$once" <<'PYTHON'
import json
import sys

with open(f"{sys.argv[1]}/compile_commands.json", encoding="utf-8") as file:
    commands = {one["file"]: one for one in reversed(json.load(file))}
with open(f"{sys.argv[2]}/compile_commands.json", "w", encoding="utf-8") as file:
    json.dump(list(commands.values()), file)
PYTHON

# Prints the files of --recent; fails where git does not know the N commits.
recent()
{
    local changed headers include=()
    changed=$(git diff --name-only --diff-filter=d "HEAD~$1" -- src search tests bench) || return
    headers=$(grep '\.h$' <<<"$changed") || true
    for header in $headers; do
        include+=(-e "\"\(.*/\)\?${header##*/}\"")
    done
    {
        grep '\.c$' <<<"$changed" || true
        [ -z "$headers" ] || grep -rl --include='*.c' "${include[@]}" src search tests bench || true
    } | sort -u
}

if [ "${1-}" = --recent ] && list=$(recent "$2" 2>/dev/null); then
    mapfile -t files <<<"$list"
    [ -n "$list" ] || files=()
elif [ $# -eq 0 ] || [ "$1" = --recent ]; then
    mapfile -t files < <(find src search tests bench -name "*.c" | sort)
else
    files=("$@")
fi
echo "${#files[@]} files"
[ "${#files[@]}" -gt 0 ] || exit 0
printf '%s\0' "${files[@]}" |
    xargs -0 -P "$(nproc)" -n 8 "$tool" -p "$once" --config-file=.clang-tidy --quiet \
    2> >(grep -v ' warnings\? .*generated' >&2)
