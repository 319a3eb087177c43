#!/usr/bin/env python3
"""llama_serve.py FILE.gguf [KEY]: llama.cpp's server, as the package xllamacpp carries it, on a free
port of loopback. Prints "port N" when it serves, and ends when its standard input does."""
import os
import sys

import xllamacpp


def main():
    params = xllamacpp.CommonParams()
    params.model.path = sys.argv[1]
    params.model_alias = {"tiny"} if isinstance(params.model_alias, (set, list)) else "tiny"
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 8192
    params.n_parallel = 4
    params.n_gpu_layers = 0
    params.warmup = False
    params.cpuparams.n_threads = 1
    if len(sys.argv) > 2:
        params.api_keys = [sys.argv[2]]
    server = xllamacpp.Server(params)
    print("port", server.listening_address.rstrip("/").rsplit(":", 1)[1], flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
