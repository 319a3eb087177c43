#!/usr/bin/env bash
# Installs both servers that conformance.py drives into .deps/servers: llama.cpp's, as the package
# xllamacpp has it, and LiteLLM's gateway. About 800 MB and a minute or two, nearly all of it the
# gateway's; setup.sh gets the first alone.
set -euo pipefail
cd "$(dirname "$0")/../.."

python3 -m venv .deps/servers
.deps/servers/bin/pip install --quiet --disable-pip-version-check \
    xllamacpp 'litellm[proxy]'
echo "installed: $(.deps/servers/bin/pip list 2>/dev/null | grep -E '^(xllamacpp|litellm) ' | xargs)"
