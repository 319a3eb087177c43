# Sourced by the scripts here: $source is the repository; $folder is empty, holds the locks of GPUs and
# is removed at the end.
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export KEET_LOCK_DIR=$folder
