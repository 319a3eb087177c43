#!/usr/bin/env bash
# Sets up, builds and tests everything; one of the README's two commands. Exits non-zero when
# anything fails.
#
#   tests/run.sh                     gcc and clang, and gcc with ASan and UBSan
#   tests/run.sh asan-clang          clang with ASan and UBSan: 5 minutes that every run need not have
#   tests/run.sh asan debug          these presets instead (see CMakePresets.json)
#
# All tests run in the first preset; in the others those with the label `slow` are left out, since
# they look at the program as a whole and say the same whatever compiler built it. So do campaigns,
# which wait more than they work: the sanitizers see them, other compilers need not.
set -euo pipefail
cd "$(dirname "$0")/.."

./setup.sh
[ $# -gt 0 ] || set -- release clang asan

jobs=$(nproc)
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export LSAN_OPTIONS=suppressions=$PWD/tests/lint/lsan.supp:print_suppressions=0
failed=()
logs=build/logs
mkdir -p "$logs"

# run_preset NAME, then what ctest is to leave out
run_preset()
{
    local preset=$1 start=$SECONDS
    shift
    echo "== $preset"
    if ! { cmake --preset "$preset" && cmake --build --preset "$preset" -j "$jobs"; } \
        >"$logs/$preset.log" 2>&1; then
        tail -n 40 "$logs/$preset.log"
        failed+=("$preset (build)")
        return
    fi
    echo "built in $((SECONDS - start)) s"
    ctest --test-dir "build/$preset" -j "$((jobs + 1))" --output-on-failure --no-tests=error "$@" \
        </dev/null || failed+=("$preset (tests)")
    echo "$preset took $((SECONDS - start)) s"
}

first=1
for preset in "$@"; do
    if [ -n "$first" ]; then
        run_preset "$preset"
    else
        case $preset in
        *asan*) run_preset "$preset" -LE '^(slow|lint)$' ;;
        *) run_preset "$preset" -LE '^(slow|lint|campaign)$' ;;
        esac
    fi
    first=
done

if [ "${#failed[@]}" -gt 0 ]; then
    printf 'FAILED: %s\n' "${failed[@]}"
    exit 1
fi
echo "all tests passed: $*, in $SECONDS s"
