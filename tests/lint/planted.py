#!/usr/bin/env python3
"""Plants each kind of violation in a small tree of its own and asks the script that must find it, so
that a check that has gone blind is noticed. usage: planted.py"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
OK = "/* Owns nothing. */\n"
CLEAN = {
    "src/base/str.h": OK, "src/base/str.c": OK + '#include "base/str.h"\n#include <stdio.h>\n',
    "src/core/task.h": OK + '#include "base/str.h"\n', "src/core/task_read.h": OK,
    "src/core/task.c": OK + '#include "core/task_read.h"\n', "src/store/db.h": OK,
    "src/store/store.h": OK, "src/store/store.c": OK + '#include "store/db.h"\n'
    "#include <sqlite3.h>\n", "src/llm/http.c": OK + "#include <curl/curl.h>\n",
    "src/propose/propose.h": OK, "src/check/check.h": OK,
    "src/run/loop.h": OK, "src/run/loop.c": OK + '#include "run/loop.h"\n#include "check/check.h"\n',
    "src/emu/emu.h": OK, "src/emu/emu.c": OK + '#include "emu/state/inst.h"\n', "src/emu/state/inst.h": OK,
    "src/emu/sem/sem.c": OK + '#include "emu/emu.h"\n#include "emu/state/inst.h"\n',
    "search/search.h": OK, "search/search.c": OK + '#include "search/search.h"\n#include <math.h>\n',
    "src/propose/model/model.c": OK + '#include "search/search.h"\n',
}
# What is added or replaced, and what must be said of it.
PLANTED = [
    ("src/base/str.c", OK + '#include "core/task.h"\n', "src/base/str.c:2: ", "base may not include core"),
    ("src/check/c.c", OK + '#include "store/store.h"\n', "src/check/c.c:2: ", "check may not include store"),
    ("src/store/s.c", OK + '#include "sub/x.h"\n', "src/store/s.c:2: ", "no such file"),
    ("src/store/s.c", OK + '#include "run/loop.h"\n', "src/store/s.c:2: ", "store may not include run"),
    ("src/emu/emu.h", OK + '#include "emu/state/inst.h"\n', "src/emu/emu.h:2: ", "may not include its room"),
    ("src/emu/state/s.c", OK + '#include "emu/sem/sem.h"\n', "src/emu/state/s.c:2: ", "no such file"),
    ("src/emu/state/s.c", OK + '#include "base/str.h"\n#include "store/store.h"\n', "src/emu/state/s.c:3: ",
     "emu/state may not include store"),
    ("src/device/d.c", OK + '#include "emu/state/inst.h"\n', "src/device/d.c:2: ", "may not include emu/state"),
    ("src/loose.c", OK, "src/loose.c:1: ", "not in the table of layers"),
    ("src/run/loop.c", OK + '\n#include "store/db.h"\n', "src/run/loop.c:3: ", "db.h is private to store"),
    ("src/check/c.c", OK + ' # include "core/task_read.h"\n', "src/check/c.c:2: ", "private to core"),
    ("src/check/c.c", OK + '#include "check.h"\n', "src/check/c.c:2: ", "no such file"),
    ("search/x.c", OK + '#include "base/str.h"\n', "search/x.c:2: ", "search may not include base"),
    ("search/x.c", OK + "#include <sys/socket.h>\n", "search/x.c:2: ", "libc and libm only"),
    ("src/check/c.c", OK + "#include <sqlite3.h>\n", "src/check/c.c:2: ", "only in src/store/"),
    ("src/base/x.c", OK + "#include <xxhash.h>\n", "src/base/x.c:2: ", "only in src/base/hash.c"),
    ("src/check/c.c", OK + "#include <cuda_runtime.h>\n", "src/check/c.c:2: ", "only in src/nv/"),
    ("src/llm/two.c", OK + "#include <curl/curl.h>\n", "src/llm/two.c:2: ", "only in one file"),
    ("src/store/clang.c", OK + "#include <clang-c/Index.h>\n", "src/store/clang.c:2: ", "only in src/cuda/"),
    ("src/sub/x.c", OK, "src/sub/x.c:1: ", "not in the table of layers"),
    ("src/store/long.c", OK + "int x;\n" * 800, "src/store/long.c:801: ", "longer than 800 lines"),
    ("tests/unit/long.c", OK + "int x;\n" * 1200, "tests/unit/long.c:1201: ", "longer than 1200 lines"),
    ("src/store/str.h", OK, "src/store/str.h:1: ", "names of files are unique"),
    ("src/store/x.c", OK + "// TO" + "DO: later\n", "src/store/x.c:2: ", "finish it"),
    ("bench/x.sh", "# FIX" + "ME\n", "bench/x.sh:1: ", "finish it"),
    ("src/store/x.c", "int x;\n", "src/store/x.c:1: ", "what the file owns"),
    ("src/store/x.c", OK + "\tint x;\n", "src/store/x.c:2: ", "a tab"),
    ("src/store/x.c", OK + "struct a {\n};\nstruct a {\n};\n", "src/store/x.c:4: ", "struct a is also in src/store/x.c"),
    ("tests/lint/known.txt", "struct a\n", "tests/lint/known.txt:1: ", "struct a is no longer needed"),
]
# The same for complexity.py.
FUNCTION = "int f(int x)\n{\n%s    return x;\n}\n"
COMPLEX = [
    ("src/store/x.c", FUNCTION % ("    x++;\n" * 77), "src/store/x.c:1: ", "f has 81 lines"),
    ("search/x.c", FUNCTION % "".join("    %s\n" % ("x += x ? 1 : 2; " * 10) for _ in range(4)), "search/x.c:1: ",
     "complexity of 41"),
    ("tests/lint/known.txt", "function f\n", "tests/lint/known.txt:1: ", "function f is no longer needed"),
]
# Mistakes that clang-tidy must see, and its names for them.
MISTAKES = [
    ("int f(int x) { return x == 1 && x == 1; }", "misc-redundant-expression"),
    ("#include <stdlib.h>\nvoid f(void) { malloc(4); }", "bugprone-unused-return-value"),
    ("#include <string.h>\nvoid f(int *p) { memset(p, '0', 8); }", "bugprone-suspicious-memset-usage"),
    ("int f(int n) { int i = 0; while (i < n) { n; } return i; }", "bugprone-infinite-loop"),
    ("void f(int n) { if (n > 0); n = 0; }", "bugprone-suspicious-semicolon"),
    ("int f(void);\nint f(void);", "readability-redundant-declaration"),
    ("int f(int n) { if (n)\n    n++;\n    n--;\n    return n; }", "readability-misleading-indentation"),
]


def script(name, root, *arguments):
    done = subprocess.run([os.path.join(HERE, name), root, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def lint(name, files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in {"tests/lint/known.txt": "", "search/none.c": "/* */", **files}.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        shutil.copy(os.path.join(HERE, "layers.txt"), os.path.join(root, "tests/lint"))
        return script(name, root)


def not_found(name, clean, planted):
    status, said = lint(name, clean)
    if status == 77:
        return
    if status:
        yield f"{name} refuses a clean tree: {said}"
    for path, text, where, what in planted:
        status, said = lint(name, {**clean, path: text})
        lines = said.splitlines()
        if status != 1 or len(lines) != 1 or not lines[0].startswith(where) or what not in lines[0]:
            yield f"planted in {path}: wanted '{where}...{what}', got {status}: {said}"


def mistakes_not_found():
    with tempfile.TemporaryDirectory() as root:
        commands, files = [], []
        for number, (text, _) in enumerate([("int f(int x) { return x; }", "")] + MISTAKES):
            files.append(os.path.join(root, f"{number}.c"))
            commands.append({"directory": root, "file": files[-1], "command": f"cc -w -c {files[-1]}"})
            with open(files[-1], "w", encoding="utf-8") as file:
                file.write(text + "\n")
        with open(os.path.join(root, "compile_commands.json"), "w", encoding="utf-8") as file:
            json.dump(commands, file)
        for path, (_, what) in zip(files, [(None, None)] + MISTAKES):
            status, said = script("tidy.sh", root, path)
            if status == 77:
                return
            if (status == 0) != (what is None) or (what and f"[{what}" not in said):
                yield f"clang-tidy: wanted {what or 'nothing'}, got {status}: {said}"


def main():
    bad = [*not_found("layers.py", CLEAN, PLANTED), *not_found("complexity.py", CLEAN, COMPLEX), *mistakes_not_found()]
    print("\n".join(bad) if bad else f"{len(PLANTED) + len(COMPLEX) + len(MISTAKES)} planted violations found")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
