#!/usr/bin/env bash
# All .c and .h files are as clang-format 14 would write them. --fix rewrites them.
# Exit status 77 (skipped) where only another version is installed: versions disagree.
set -euo pipefail
cd "$(dirname "$0")/../.."

tool=
for name in clang-format-14 clang-format; do
    if command -v "$name" >/dev/null && "$name" --version | grep -q 'version 14\.'; then
        tool=$name
        break
    fi
done
[ -n "$tool" ] || { echo "clang-format 14 is not installed"; exit 77; }

mapfile -t files < <(find src search tests bench -name '*.[ch]' -not -path '*/build/*' 2>/dev/null | sort)
if [ "${1:-}" = --fix ]; then
    # Some macros take several passes until nothing changes any more.
    for _ in $(seq 20); do
        "$tool" -i "${files[@]}"
        "$tool" --dry-run -Werror "${files[@]}" 2>/dev/null && exit 0
    done
    echo "clang-format does not come to rest on some file"
    exit 1
fi
"$tool" --dry-run -Werror "${files[@]}"
