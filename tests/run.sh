#!/usr/bin/env bash
# Sets up, builds and tests everything; one of the README's two commands. Exits non-zero when
# anything fails.
#
#   tests/run.sh                     gcc, and clang with ASan and UBSan: in 15 minutes
#   tests/run.sh full                and what takes long (tests that measure time, thirty kills
#                                    instead of five), and the other two presets
#   tests/run.sh asan debug          these presets instead (see CMakePresets.json)
#
# All tests but the long ones, label `full`, run in the first preset; in the others those with the
# label `slow`, `lint` or `docs` are left out too, since they look at the program as a whole and say the
# same whatever compiler built it. After `full` only the last two are left out.
set -euo pipefail
cd "$(dirname "$0")/.."

./setup.sh --build
left_out=full
left_out_later='full|slow|lint|docs'
if [ "${1-}" = full ]; then
    left_out=nothing
    left_out_later='lint|docs'
    set -- release asan-clang clang asan
fi
[ $# -gt 0 ] || set -- release asan-clang

# Debian's Python starts in a tenth of the time that a version manager's takes, and most tests start one
# or more. It is used where both have one version, which the wheels of setup.sh ask for.
version='import sys; print(sys.version_info[:2])'
if [ "$(python3 -c "$version")" = "$(/usr/bin/python3 -c "$version")" ]; then
    mkdir -p build/python
    ln -sf /usr/bin/python3 build/python/python3
    export PATH=$PWD/build/python:$PATH
fi

jobs=$(nproc)
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export LSAN_OPTIONS=suppressions=$PWD/tests/lint/lsan.supp:print_suppressions=0
failed=() done=()
logs=build/logs
export KEET_CACHE=$PWD/build/cache # every test compiles the same few kernels, in each preset
mkdir -p "$logs"

# The tests that a run of ctest spent most time on, from its JUnit file: those to give a COST.
longest()
{
    sed -n 's/.*<testcase name="\([^"]*\)".* time="\([0-9]*\)[.0-9]*".*/\1 \2 s/p' "$1" |
        sort -k2,2nr | head -n 8 | paste -sd, | sed 's/,/, /g'
}

# -g1: functions and lines for what fails here, without the variables of a debugger.
build_preset()
{
    { cmake --preset "$1" -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O2 -g1 -DNDEBUG" &&
        cmake --build --preset "$1" -j "$jobs"; } >"$logs/$1.log" 2>&1
}

# What single tests need beside the packages comes in while the first preset is built.
./setup.sh >"$logs/setup.log" 2>&1 </dev/null &
setup=$!
wait_for_setup()
{
    [ -n "$setup" ] || return 0
    wait "$setup" || failed+=("setup.sh")
    setup=
    cat "$logs/setup.log"
}

# Of lowest priority: many tests wait for something most of the time.
builder=
build_behind()
{
    set -m # a process group of its own, to end it by
    (renice -n 19 "$BASHPID" >/dev/null && build_preset "$1") </dev/null &
    builder=$!
    set +m
}
trap '[ -z "$builder" ] || kill -- "-$builder" 2>/dev/null || true' EXIT

# run_preset PRESET [NEXT]: tests one, and builds the next meanwhile.
run_preset()
{
    local preset=$1 next=${2-} start=$SECONDS built=
    echo "== $preset"
    if [ -n "$builder" ]; then
        wait "$builder" && built=1
        builder=
    else
        build_preset "$preset" && built=1
    fi
    wait_for_setup
    [ -z "$next" ] || build_behind "$next"
    if [ -z "$built" ]; then
        tail -n 40 "$logs/$preset.log"
        failed+=("$preset (build)")
        return
    fi
    echo "built after $((SECONDS - start)) s"
    ctest --test-dir "build/$preset" -j "$((jobs + 2))" --output-on-failure --no-tests=error \
        --output-junit "$PWD/$logs/$preset.xml" -LE "^($left_out)\$" </dev/null ||
        failed+=("$preset (tests)")
    echo "longest: $(longest "$logs/$preset.xml")"
    echo "$preset took $((SECONDS - start)) s"
}

while [ $# -gt 0 ]; do
    run_preset "$@"
    done+=("$1")
    shift
    left_out=$left_out_later
done

if [ "${#failed[@]}" -gt 0 ]; then
    printf 'FAILED: %s\n' "${failed[@]}"
    exit 1
fi
echo "all tests passed: ${done[*]}, in $SECONDS s"
