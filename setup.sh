#!/usr/bin/env bash
# Installs what is missing to build and run keet-opt, and says nothing when nothing is missing. The
# one list of all dependencies. Debian 12 and its relatives; elsewhere it says what to install.
#
#   ./setup.sh                     packages by apt (with sudo when not root), CUDA as below
#   ./setup.sh --run               only what it takes to build and run, without the tests' tools
#   ./setup.sh --build             and to build the tests, without what some of them find beside them
#   ./setup.sh --cutlass           also CUTLASS, from NVIDIA's wheel, into .deps/cutlass (40 MB)
#   KEET_SETUP_WHEELS=1 ./setup.sh NVIDIA's wheels even where there is a CUDA toolkit
#
# CUDA: a toolkit of 12.8 or newer in $KEET_CUDA, $CUDA_HOME or /usr/local/cuda is used as it is;
# without one, NVIDIA's wheels go to .deps/cuda (include/ and lib/, about 400 MB). No GPU or driver
# is needed.
#
# Four tests get more from PyPI when they first run, and are skipped, visibly, where they cannot. Those of
# the label gpu: cuda-bindings and numba (80 MB), third-party programs for the software driver; and
# NVIDIA's nvdisasm (5 MB), which our reading of machine code is compared with. mcp_sdk: the Python SDK of
# the Model Context Protocol (mcp, 50 MB). All into .deps.
set -euo pipefail
cd "$(dirname "$0")"

# Alternatives are separated by |: any of them will do, the first that apt knows is installed.
packages=(
    gcc libc6-dev git cmake ninja-build pkg-config python3 file dpkg-dev # the last two: cpack
    'libclang-14-dev|libclang-dev'
    libsqlite3-dev libxxhash-dev libjansson-dev libzstd-dev libseccomp-dev libcurl4-openssl-dev libcmocka-dev libmicrohttpd-dev
)
test_packages=(
    clang lld 'clang-format-14|clang-format' 'libclang-rt-14-dev|libclang-rt-dev'
    'clang-tidy-14|clang-tidy' python3-numpy
)
cuda_oldest=12080
cuda_wheels=(
    'nvidia-cuda-nvrtc==13.0.*'   # the compiler
    'nvidia-cuda-runtime==13.0.*' # cuda_fp16.h, cooperative groups, cuda.h
    'nvidia-cuda-crt==13.0.*'     # what those include
    'nvidia-cuda-cccl==13.0.*'    # cuda/std, cub
    'nvidia-cuda-cupti==13.0.*'   # counters, on machines with a GPU
    'nvidia-cuda-nvcc==13.0.*'    # ptxas; nvcc, with which tests compile whole files
    'nvidia-nvvm==13.0.*'         # what nvcc needs
)

fail()
{
    printf 'setup.sh: %s\n' "$@" >&2
    exit 1
}

# Runs a command quietly; its output is shown when it fails.
quietly()
{
    local log
    log=$(mktemp)
    if ! "$@" >"$log" 2>&1 </dev/null; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}

is_installed()
{
    dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

# Prints the packages that are missing, one per line, alternatives kept.
missing_packages()
{
    local entry name found
    for entry in "$@"; do
        found=
        for name in ${entry//|/ }; do
            if is_installed "$name"; then
                found=1
                break
            fi
        done
        [ -n "$found" ] || echo "$entry"
    done
}

install_packages()
{
    local as_root=() chosen=() entry name
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null ||
            fail "these packages are missing: ${*//|*/}" \
                "install them as root (apt-get install ${*//|*/}) and run setup.sh again"
        as_root=(sudo)
        sudo -v # asks for the password, if it must, where it can be seen
    fi
    echo "setup.sh: installing ${*//|*/}"
    quietly "${as_root[@]}" apt-get -qq update ||
        echo "setup.sh: apt-get update failed; going on with the lists that are there" >&2
    for entry in "$@"; do
        for name in ${entry//|/ }; do
            if apt-cache show "$name" >/dev/null 2>&1; then
                chosen+=("$name")
                continue 2
            fi
        done
        fail "apt knows no package ${entry//|/ or }"
    done
    quietly "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -y -o DPkg::Lock::Timeout=300 --no-install-recommends install "${chosen[@]}" ||
        fail "apt-get could not install: ${chosen[*]}" "is the network there?"
}

# Without dpkg there is only so much that can be checked.
check_tools()
{
    local tool
    for tool in cmake ninja pkg-config gcc python3; do
        command -v "$tool" >/dev/null ||
            fail "$tool is missing, and this is no Debian: install what these packages are called here:" \
                "${packages[*]} ${test_packages[*]}"
    done
}

need_packages()
{
    local missing
    if ! command -v dpkg-query >/dev/null; then
        check_tools
        return
    fi
    mapfile -t missing < <(missing_packages "$@")
    [ "${#missing[@]}" -eq 0 ] || install_packages "${missing[@]}"
}

# Is there a CUDA toolkit in folder $1 that is complete and new enough?
has_cuda()
{
    local root=$1 version lib
    [ -n "$root" ] && [ -f "$root/include/nvrtc.h" ] && [ -f "$root/include/cuda_fp16.h" ] &&
        [ -f "$root/include/cuda.h" ] || return 1
    version=$(awk '$1 == "#define" && $2 == "CUDA_VERSION" { print $3; exit }' "$root/include/cuda.h")
    [ "${version:-0}" -ge "$cuda_oldest" ] || return 1
    for lib in "$root"/lib64/libnvrtc.so* "$root"/lib/libnvrtc.so* \
        "$root"/targets/*/lib/libnvrtc.so*; do
        [ -e "$lib" ] && return 0
    done
    return 1
}

cutlass_wheel='nvidia-cutlass==4.2.*' # headers with CuTe, and examples

wanted_wheels="${cuda_wheels[*]}"

has_wheels()
{
    [ -f .deps/cuda/wheels ] && [ "$(cat .deps/cuda/wheels)" = "$wanted_wheels" ]
}

install_wheels()
{
    local temp
    echo "setup.sh: no CUDA toolkit of 12.8 or newer; getting NVIDIA's wheels into .deps/cuda"
    mkdir -p .deps
    temp=$(mktemp -d .deps/new.XXXXXX)
    # shellcheck disable=SC2064
    trap "rm -rf '$PWD/$temp'" EXIT
    quietly python3 -m pip install --disable-pip-version-check --no-deps --target "$temp" \
        "${cuda_wheels[@]}" ||
        fail "could not get NVIDIA's wheels: is the network there, and https://pypi.org reachable?" \
            "otherwise install a CUDA toolkit and set CUDA_HOME to it"
    [ -f "$temp/nvidia/cu13/include/nvrtc.h" ] ||
        fail "NVIDIA's wheels are not laid out as expected (nvidia/cu13/include/nvrtc.h)"
    rm -f "$temp"/nvidia/cu13/lib/*.alt.so* "$temp"/nvidia/cu13/lib/*.a # not used, 120 MB
    printf '%s\n' "$wanted_wheels" >"$temp/nvidia/cu13/wheels"
    rm -rf .deps/cuda
    mv "$temp/nvidia/cu13" .deps/cuda
    rm -rf "$temp"
    trap - EXIT
}

# The wheel's source tree becomes .deps/cutlass; its Python packages are not used.
install_cutlass()
{
    local temp
    [ ! -f .deps/cutlass/wheel ] || [ "$(cat .deps/cutlass/wheel)" != "$cutlass_wheel" ] || return 0
    echo "setup.sh: getting NVIDIA's wheel nvidia-cutlass into .deps/cutlass"
    mkdir -p .deps
    temp=$(mktemp -d .deps/new.XXXXXX)
    # shellcheck disable=SC2064
    trap "rm -rf '$PWD/$temp'" EXIT
    quietly python3 -m pip download --disable-pip-version-check --no-deps --only-binary :all: \
        --dest "$temp" "$cutlass_wheel" ||
        fail "could not get NVIDIA's wheel nvidia-cutlass: is the network there?" \
            "otherwise name a CUTLASS checkout by --cutlass DIR or KEET_CUTLASS"
    quietly python3 -m zipfile -e "$temp"/nvidia_cutlass-*.whl "$temp/wheel"
    [ -f "$temp/wheel/cutlass_library/source/include/cute/tensor.hpp" ] ||
        fail "NVIDIA's wheel nvidia-cutlass is not laid out as expected"
    rm -rf "$temp/wheel/cutlass_library/source/tools"
    cp -r "$temp"/wheel/*.dist-info/licenses "$temp/wheel/cutlass_library/source/"
    printf '%s\n' "$cutlass_wheel" >"$temp/wheel/cutlass_library/source/wheel"
    rm -rf .deps/cutlass
    mv "$temp/wheel/cutlass_library/source" .deps/cutlass
    rm -rf "$temp"
    trap - EXIT
}

# For tests alone: without these the tests that need them are skipped, and say so.
llama_wheel='xllamacpp==2026.10.11549' # llama.cpp and its server, which one test drives; 34 MB
lizard_wheel='lizard==1.24.3'          # counts the ways through functions, for lint; 12 MB on the disk

# install_test_wheel NAME WHEEL TEST [OPTION...]: into .deps/NAME
install_test_wheel()
{
    local name=$1 wheel=$2 test=$3 temp
    shift 3
    [ ! -f ".deps/$name/wheel" ] || [ "$(cat ".deps/$name/wheel")" != "$wheel" ] || return 0
    echo "setup.sh: getting $wheel into .deps/$name, for a test"
    mkdir -p .deps
    temp=$(mktemp -d .deps/new.XXXXXX)
    if quietly python3 -m pip install --disable-pip-version-check --only-binary :all: "$@" \
        --target "$temp" "$wheel"; then
        printf '%s\n' "$wheel" >"$temp/wheel"
        rm -rf ".deps/$name"
        mv "$temp" ".deps/$name"
    else
        rm -rf "$temp"
        echo "setup.sh: could not get it; the test $test will be skipped" >&2
    fi
}

# For one test alone, as above. 90 MB, 300 MB on the disk.
install_browser()
{
    command -v dpkg-query >/dev/null || return 0
    (need_packages chromium) ||
        echo "setup.sh: could not get Chromium; the tests report_browser and report_live will be skipped" >&2
}

# Alternatives are separated by |, as above.
slurm_packages=(
    slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge
    libmunge2 libhwloc15 liblua5.1-0 libnuma1 'libreadline8|libreadline8t64'
)

# Debian's packages, unpacked and not installed (4 MB): the tests start a cluster of their own from
# these, and no daemon of the system's, no user and no configuration comes of it. Without them those
# tests are skipped, and say so.
install_slurm()
{
    local temp entry name names=()
    [ ! -f .deps/slurm/packages ] ||
        [ "$(cat .deps/slurm/packages)" != "${slurm_packages[*]}" ] || return 0
    command -v apt-get >/dev/null || return 0
    ! command -v slurmctld >/dev/null || ! command -v slurmd >/dev/null ||
        ! command -v munged >/dev/null || return 0
    for entry in "${slurm_packages[@]}"; do
        for name in ${entry//|/ }; do
            if apt-cache show "$name" >/dev/null 2>&1; then
                names+=("$name")
                break
            fi
        done
    done
    echo "setup.sh: getting Slurm (4 MB) into .deps/slurm, for a test"
    mkdir -p .deps
    temp=$(mktemp -d .deps/new.XXXXXX)
    if unpack_packages "$temp" "${names[@]}"; then
        printf '%s\n' "${slurm_packages[*]}" >"$temp/packages"
        chmod 755 "$temp"
        rm -rf .deps/slurm
        mv "$temp" .deps/slurm
    else
        rm -rf "$temp"
        echo "setup.sh: could not get it; the tests of the label slurm will be skipped" >&2
    fi
}

# unpack_packages FOLDER NAME...
unpack_packages()
{
    local folder=$1 package
    shift
    (cd "$folder" && quietly apt-get -qq download "$@") || return 1
    for package in "$folder"/*.deb; do
        dpkg -x "$package" "$folder" || return 1
        rm "$package"
    done
}

need_wheels=
if [ -n "${KEET_SETUP_WHEELS:-}" ]; then
    need_wheels=1
elif [ -n "${KEET_CUDA:-}" ]; then
    has_cuda "$KEET_CUDA" ||
        fail "KEET_CUDA=$KEET_CUDA is not the folder of a CUDA toolkit of 12.8 or newer"
elif ! has_cuda "${CUDA_HOME:-}" && ! has_cuda /usr/local/cuda; then
    need_wheels=1
fi
if has_wheels; then
    need_wheels=
fi

want_cutlass=
want_test_packages=1
want_tests=1 # and CUTLASS for them, where it can be had
for argument in "$@"; do
    case $argument in
    --run) want_tests='' want_test_packages='' ;;
    --build) want_tests= ;;
    --cutlass) want_cutlass=1 ;;
    *) fail "unknown argument $argument" ;;
    esac
done
[ -z "$want_test_packages" ] || packages+=("${test_packages[@]}")
if [ -n "$need_wheels$want_cutlass$want_tests" ] && ! python3 -m pip --version >/dev/null 2>&1; then
    packages+=(python3-pip)
fi
need_packages "${packages[@]}"
[ -z "$need_wheels" ] || install_wheels
[ -z "$want_cutlass" ] || install_cutlass
[ -z "$want_tests" ] || install_test_wheel llama "$llama_wheel" model_conformance_llama --no-deps
[ -z "$want_tests" ] || install_test_wheel lizard "$lizard_wheel" lint_complexity
[ -z "$want_tests" ] || install_browser
[ -z "$want_tests" ] || install_slurm
[ -z "$want_tests" ] || [ -n "$want_cutlass" ] || (install_cutlass) ||
    echo "setup.sh: without it the tests of CuTe will be skipped" >&2
