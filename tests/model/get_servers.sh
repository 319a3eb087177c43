#!/usr/bin/env bash
# Installs the servers that conformance.py drives into .deps/servers: llama.cpp's, as the package
# xllamacpp has it, and LiteLLM's gateway. About 850 MB and a minute or two; not part of setup.sh,
# since only that one test wants it.
set -euo pipefail
cd "$(dirname "$0")/../.."

python3 -m venv .deps/servers
.deps/servers/bin/pip install --quiet --disable-pip-version-check \
    xllamacpp gguf numpy 'litellm[proxy]'
echo "installed: $(.deps/servers/bin/pip list 2>/dev/null | grep -E '^(xllamacpp|litellm) ' | xargs)"
