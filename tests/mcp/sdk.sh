#!/usr/bin/env bash
# usage: sdk.sh KEET_OPT ROOT
# The protocol's own Python SDK as the client. Installed into .deps at first use; exit code 77 (skipped)
# where that cannot be done.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
site=$here/../../.deps/mcp

if ! PYTHONPATH=$site python3 -c 'import mcp.client.client, jsonschema' 2>/dev/null; then
    if ! python3 -m pip install --quiet --disable-pip-version-check --only-binary :all: --target "$site" \
        'mcp==2.3.0' >&2; then
        echo "SKIPPED: the Python SDK of the Model Context Protocol is not installed and cannot be"
        exit 77
    fi
fi
PYTHONPATH=$site exec python3 "$here/sdk.py" "$@"
