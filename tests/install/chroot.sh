#!/usr/bin/env bash
# Installs the packages in a fresh Debian 12 that has neither the checkout nor anything of it, and
# runs the program there from an empty folder: the .deb, the .tar.gz, and `cmake --install --prefix`.
# As root, with debootstrap and the network; by hand, not among the ordinary tests.
#
#   tests/install/chroot.sh [BUILD [CHROOT]]
#
# BUILD: a folder that is built (build/release). CHROOT: an empty folder, which becomes a Debian of
# 250 MB, or one that an earlier call made; without it a temporary one, removed at the end.
#
# CUDA comes from $KEET_CUDA, $CUDA_HOME, /usr/local/cuda or .deps/cuda of this machine: it is
# mounted, or where mounting is not permitted copied, to /opt/cuda of the chroot.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath "${1:-$source/build/release}")
mounted=()
temporary=
work=$(mktemp -d)

finish()
{
    local folder
    for folder in "${mounted[@]}"; do
        umount "$folder"
    done
    rm -rf "$work"
    [ -z "$temporary" ] || rm -rf --one-file-system "$temporary"
}
trap finish EXIT

if [ $# -gt 1 ]; then
    root=$2
else
    temporary=$(mktemp -d)
    root=$temporary
fi
[ -e "$root/etc/debian_version" ] || debootstrap --variant=minbase bookworm "$root"

# show FOLDER AT: a folder of this machine at AT of the chroot.
show()
{
    mkdir -p "$root$2"
    mountpoint -q "$root$2" && return
    if mount --bind "$1" "$root$2" 2>/dev/null; then
        mounted=("$root$2" "${mounted[@]}")
    elif [ "$1" = /proc ]; then
        echo "chroot.sh: /proc cannot be mounted here, and the program needs it" >&2
        exit 1
    else
        cp -rL "$1/." "$root$2"
    fi
}

show /proc /proc
for cuda in "${KEET_CUDA:-}" "${CUDA_HOME:-}" /usr/local/cuda "$source/.deps/cuda"; do
    [ -z "$cuda" ] || [ ! -e "$cuda/include/nvrtc.h" ] || break
done
cuda=$(realpath "$cuda")
[ -f "$root/opt/cuda/include/nvrtc.h" ] || for folder in include lib64 lib targets nvvm; do
    [ ! -d "$cuda/$folder" ] || show "$(realpath "$cuda/$folder")" "/opt/cuda/$folder"
done

# try WHAT PROGRAM SHARE: the installed program from an empty folder.
try()
{
    echo "== $1"
    rm -rf "$root/tmp/empty"
    mkdir "$root/tmp/empty"
    cp "$root$3/kernels/matmul.cu" "$root/tmp/empty"
    chroot "$root" env -i PATH=/usr/bin:/bin HOME=/tmp/empty CUDA_HOME=/opt/cuda sh -e -c "
        cd /tmp/empty
        $2 --version
        $2 doctor >doctor.txt || { cat doctor.txt; exit 1; }
        $2 matmul.cu --budget 5 -q
        $2 report matmul.keet.db
        $2 matmul.cu --model openai:any --show-prompt >prompt.txt
        ls
        $2 run no_such.cu && exit 1
        env -u CUDA_HOME $2 run matmul.cu && exit 1
        mkdir -p venv/lib/python3.11/site-packages/nvidia
        ln -s /opt/cuda venv/lib/python3.11/site-packages/nvidia/cu13
        env -u CUDA_HOME VIRTUAL_ENV=\$PWD/venv $2 run matmul.cu >/dev/null"
    grep -E 'NVRTC|headers|libclang|emulator|prompts' "$root/tmp/empty/doctor.txt"
}

(cd "$build" && cpack -B "$work") >"$work/log" || { cat "$work/log"; exit 1; }
cp "$work"/*.deb "$work"/*.tar.gz "$root/tmp"

chroot "$root" sh -e -c "apt-get -qq update
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install /tmp/$(basename "$work"/*.deb)" \
    >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
try "the package" keet-opt /usr/share/keet-opt
chroot "$root" sh -e -c 'dpkg -L keet-opt | grep -E "man1|completion|swdriver"; dpkg -r keet-opt' >"$work/log"
cat "$work/log"

rm -rf "$root/opt/keet" "$root/opt/x" # what the package needed is still there
mkdir -p "$root/opt/keet"
tar -xzf "$work"/*.tar.gz -C "$root/opt/keet" --strip-components=1
try "the archive" /opt/keet/bin/keet-opt /opt/keet/share/keet-opt

cmake --install "$build" --prefix "$root/opt/x" >/dev/null
try "cmake --install" /opt/x/bin/keet-opt /opt/x/share/keet-opt
mv "$root/opt/x" "$root/opt/moved"
try "the same, moved" /opt/moved/bin/keet-opt /opt/moved/share/keet-opt
rm -rf "$root/opt/moved" "$root/opt/keet" "$root/tmp"/keet-opt*
echo "all of it works"
