"""Cases of other files that a stranger may have written: host code, build files, profiles, arrays, chips, lists, recordings, what a
captured program leaves, messages of an agent. Each verb ends by itself within its seconds, with a status of its own."""
import json
import os
import shutil
import subprocess

from cases import cases
from replies import CONTRACT, KERNEL, doubling

CASES, case = cases()

EMU = ("--device", "emu", "--threads", "1")
HEAD = "#include <cstdio>\n#include <cstdlib>\n" + KERNEL
HOST = "int main(int argc, char **argv)\n{{\n    int n = 4096;\n    float *x, *y;\n    cudaMalloc(&x, n * 4);\n" \
       "    cudaMalloc(&y, n * 4);\n{}    scale<<<n / 64, 64>>>(x, y, n);\n}}\n"


def host(name, seconds, body="", before="", words=()):
    """A file with host code: what init makes of it."""
    def run(bench):
        text = HEAD + (before() if callable(before) else before) + HOST.format(body() if callable(body) else body)
        bench.put("host.cu", text)
        bench.run("init", "host.cu", "-o", "task.cu", "--force", *EMU, *words)
    CASES.append(("host_" + name, seconds, False, run))


def beside(name, seconds, file, content):
    """A file beside host code, which is read with it. None: a pipe that nobody writes."""
    def run(bench):
        bench.put("host.cu", HEAD + '#ifdef WITH_HEADER\n#include "given.h"\n#endif\n' + HOST.format(""))
        if content is None:
            os.mkfifo(bench.path(file))
        else:
            bench.put(file, content() if callable(content) else content)
        bench.run("init", "host.cu", "-o", "task.cu", "--force", *EMU, *(("-D", "WITH_HEADER=1") if file == "given.h" else ()))
    CASES.append(("beside_" + name, seconds, False, run))


def given(name, seconds, file, content, *words, status=(0, 1, 2, 3), says=None):
    """A file that the words name; dot.cu and scale.cu are there, too."""
    def run(bench):
        bench.kernel()
        bench.put("scale.cu", CONTRACT + KERNEL)
        if content is None:
            os.mkfifo(bench.path(file))
        else:
            bench.put(file, content() if callable(content) else content)
        bench.run(*words, status=status, says=says)
    CASES.append((name, seconds, False, run))


# --- host code ---
host("calls_itself", 40, "    n = f(n);\n", "int f(int k) { return f(k + 1) + f(k + 2); }\n")
host("calls_each_other", 40, "    n = f(n);\n", "int g(int k);\nint f(int k) { return g(k); }\nint g(int k) { return f(k); }\n")
host("loops_for_ever", 40, "    while (1)\n        n = n * 3 + 1;\n")
host("counts_for_ever", 40, "    for (long k = 0; k >= 0; k++)\n        n = (int)(n + k % 2 - k % 2);\n")
host("goes_back", 40, "again:\n    n++;\n    if (n != 7)\n        goto again;\n")
host("loops_in_loops", 40, lambda: "".join(f"    for (int k{i} = 0; k{i} < 1000000; k{i}++)\n" for i in range(50)) + "        n ^= 1;\n")
host("constants_of_constants", 40, "    n = A::m0;\n", lambda: "struct A {" + "".join(
    f" static constexpr int m{i} = A::m{i + 1} + A::m{i + 1};" for i in range(60)) + " static constexpr int m60 = 1; };\n")
host("switch_on_a_pointer", 20, "    int how = outside();\n    switch (how) { case 1: scale<<<1, 64>>>(how, y, n); }\n")
host("launchers_by_hundreds", 40, "    return 0;\n", lambda: "".join(
    f"void f{i}(int n) {{ while (1) n = n * 3 + 1; nothing<<<1, 32>>>(n); }}\n" for i in range(1000)))
host("launches_for_ever", 40, "    for (;;)\n        scale<<<n / 64, 64>>>(x, y, n);\n")
host("launches_by_thousands", 60, "    scale<<<n / 64, 64>>>(x, y, n);\n" * 20000)
host("allocates_all", 40, "    cudaMalloc(&x, 1ull << 62);\n    cudaMalloc(&y, (size_t)-1);\n")
host("allocates_negative", 20, "    n = -5;\n    cudaMalloc(&x, n * sizeof(float));\n")
host("sizes_by_overflow", 20, "    n = 2147483647;\n    n = n * n + n;\n    long m = 9223372036854775807;\n    m *= m;\n    n = (int)m;\n")
host("divides_by_zero", 20, "    n = n / (n - n);\n    n %= n - n;\n    n = (-2147483647 - 1) / -1;\n")
host("shifts_far", 20, "    n = 1 << 99;\n    n >>= -3;\n    n <<= n;\n")
host("reads_beyond", 20, "    int small[3] = {1, 2, 3};\n    n = small[1000000] + small[-1] + argv[99][7];\n")
host("braces", 40, "    " + "{" * 5000 + "}" * 5000 + "\n")
host("parentheses", 40, "    n = " + "(" * 5000 + "n" + ")" * 5000 + ";\n")
host("sum_of_thousands", 40, "    n = " + " + ".join(["n"] * 20000) + ";\n")
host("else_ifs", 40, lambda: "    " + " else ".join(f"if (n == {i}) n = {i + 1};" for i in range(5000)) + "\n")
host("structs_in_structs", 40, "    s3000 all;\n    n = sizeof(all);\n",
     lambda: "struct s0 { int a; };\n" + "".join(f"struct s{i} {{ s{i - 1} a, b; }};\n" for i in range(1, 3001)))
host("macros_in_macros", 60, "    int all[] = {A9};\n", doubling(10, first="1,"))
host("templates_without_end", 40, "    n = F<5>::v;\n", "template <int N> struct F { static const int v = F<N + 1>::v; };\n")
host("constants_without_end", 40, "    n = f(5);\n", "constexpr int f(int k) { return f(k + 1); }\n")
host("lambdas", 40, "    auto f = " + "[=] { return " * 200 + "n" + "; }" * 200 + ";\n")
host("pointers_to_itself", 20, "    p = (void **)&p;\n    for (int k = 0; k < 1000; k++)\n        p = (void **)*p;\n", "void **p;\n")
host("grid_of_nothing", 20, "    dim3 g(0, -1, 2147483647), b = dim3(b.y, b.x);\n    scale<<<g, b>>>(x, y, n);\n")
host("arguments_without_end", 20, "    n = atoi(argv[1]) * atoi(argv[1 << 30]);\n", words=("--args", "9" * 100000))
host("arguments_of_noise", 20, "    n = atoi(argv[1]);\n", words=("--args", "\x01\"'\\ %s $(id) `id`"))
host("includes_a_pipe", 20, before='#include "/dev/stdin"\n#include "/dev/tty"\n')
host("includes_what_never_ends", 20, before='#include "/dev/zero"\n')
host("strings_that_grow", 40, "    char *s = (char *)malloc(1);\n    for (int k = 0; k < 60; k++)\n"
     "        s = (char *)realloc(s, 1ull << k);\n    n = s[0];\n")

# --- beside host code ---
beside("makefile_of_itself", 20, "Makefile", "include Makefile\nA = $(A)$(B)\nB = $(A)$(A)\nhost: host.cu\n\tnvcc $(A) -o host host.cu\n")
beside("makefile_that_doubles", 20, "Makefile", lambda: "A0 = -DX\n" + "".join(
    f"A{i} = $(A{i - 1}) $(A{i - 1})\n" for i in range(1, 64)) + "host: host.cu\n\tnvcc $(A63) -o host host.cu\n")
beside("makefile_of_megabytes", 40, "Makefile", "host: host.cu\n\tnvcc " + "-DX=1 " * 1000000 + "host.cu\n")
beside("makefile_that_runs", 20, "Makefile", "A := $(shell touch ran)\nhost: host.cu\n\tnvcc $(shell touch ran) `touch ran` host.cu\n")
beside("makefile_is_a_pipe", 20, "Makefile", None)
beside("cmake_of_itself", 20, "CMakeLists.txt", "include(CMakeLists.txt)\nset(A ${A}${A})\nadd_executable(host host.cu)\n"
       "target_compile_definitions(host PRIVATE ${A})\n")
beside("cmake_without_end", 20, "CMakeLists.txt", "add_executable(host host.cu " + "(" * 100000)
beside("commands_deep", 20, "compile_commands.json", "[" * 200000)
beside("commands_of_noise", 20, "compile_commands.json", bytes(range(256)) * 2000)
beside("commands_is_a_pipe", 20, "compile_commands.json", None)
beside("header_of_itself", 20, "given.h", '#include "given.h"\n#include "host.cu"\n')
beside("header_is_a_pipe", 20, "given.h", None)
beside("header_of_megabytes", 40, "given.h", "// nothing at all\n" * 500000)

# --- profiles ---
CSV = '"ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"\n'
ROW = '"0","scale(float *)","GPU Speed Of Light Throughput","{}","{}","{}"\n'
for _name, _content in (
        ("empty", ""), ("noise", bytes(range(256)) * 4000), ("head", CSV), ("open_quote", CSV + '"0","' + "x" * 1000000),
        ("columns", ",".join(f'"c{i}"' for i in range(200000)) + "\n"), ("quotes", '"' * 1000001),
        ("numbers", CSV + "".join(ROW.format("Duration", "usecond", value) for value in
                                  ("nan", "inf", "-1e308", "1e999", "0", "-0", "1,2,3,4", "0x1p9999", "", "9" * 5000))),
        ("rows", CSV + ROW.format("Duration", "usecond", "1") * 200000), ("lines", "\n" * 2000000),
        ("escapes", CSV + ROW.format("Duration", "\x1b[2J", "1").replace("scale", "\x1b]0;x\x07"))):
    given("profile_" + _name, 40, "x.csv", _content, "explain", "x.csv")
    if _name in ("empty", "noise"):
        given("report_" + _name, 20, "x.ncu-rep", _content, "explain", "x.ncu-rep", status=(1, 2, 3))
given("profile_is_a_pipe", 10, "x.csv", None, "explain", "x.csv", status=(1, 2))

# --- arrays ---


def npy(header, data=b"", length=None, version=b"\x01\x00"):
    """A file of NumPy's format with this header."""
    text = header.encode() + b"\n"
    size = len(text) if length is None else length
    return b"\x93NUMPY" + version + (size.to_bytes(2, "little") if version[0] == 1 else size.to_bytes(4, "little")) + text + data


for _name, _content in (
        ("shape_overflow", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }")),
        ("shape_negative", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-4096,), }")),
        ("shape_deep", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (" + "1," * 20000 + "), }")),
        ("objects", npy("{'descr': '|O', 'fortran_order': False, 'shape': (4096,), }", b"cos\nsystem\n(S'id'\ntR.")),
        ("head_beyond", npy("{'descr': '<f4'", length=65535)), ("head_of_gigabytes", npy("{", length=0xfffffff0, version=b"\x02\x00")),
        ("version", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4096,), }", version=b"\x09\x00")),
        ("short", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4096,), }", b"\0" * 100)),
        ("nan", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4096,), }", b"\xff" * 16384))):
    given("array_" + _name, 20, "x.npy", _content, "run", "file.cu", *EMU)
    CASES[-1] = (*CASES[-1][:3], (lambda inner: lambda bench: (bench.put("file.cu", CONTRACT.replace(
        "uniform(-1, 1)", 'file("x.npy")') + KERNEL), inner(bench)))(CASES[-1][3]))

# --- chips ---
for _name, _content in (
        ("empty", ""), ("noise", bytes(range(256)) * 4000), ("deep", '{"a":' * 100000), ("another", '{"nr_sms": 0}'),
        ("numbers", '{"nr_sms": 1e308, "clock_ghz": -1, "warp_lanes": 0, "l2_bytes": 99999999999999999999}')):
    given("chip_" + _name, 20, "x.json", _content, "run", "scale.cu", "--device", "emu:x.json", status=(1, 2, 3))
given("chip_is_a_pipe", 10, "x.json", None, "run", "scale.cu", "--device", "emu:x.json", status=(1, 2))

# --- lists ---
for _name, _content in (
        ("names", "scale.cu --budget 1 --name ../../x\nscale.cu --budget 1 --name /x\nscale.cu --budget 1 --name ''\n"),
        ("seeds", "scale.cu --budget 1 --seeds 1-999999999999\n"), ("lines", "nothing.cu --budget 1\n" * 100000),
        ("words", "scale.cu " + "--budget 1 " * 100000 + "\n"), ("noise", bytes(range(256)) * 400),
        ("quotes", "scale.cu --name '" + "x" * 100000), ("devices", "/dev/zero --budget 1\n/dev/tty --budget 1\n"),
        ("itself", "list.txt --budget 1\n")):
    given("list_of_" + _name, 40, "list.txt", _content, "campaign", "list.txt", "-q", *EMU, status=(0, 1, 2))
given("list_is_a_pipe", 10, "list.txt", None, "campaign", "list.txt", "-q", status=(1, 2))
given("candidates_are_a_pipe", 10, "list.txt", None, "check", "scale.cu", "--list", "list.txt", status=(1, 2))
given("candidates_by_thousands", 60, "list.txt", "nothing.cu\n" * 3000, "check", "scale.cu", "--list", "list.txt", *EMU, status=(1, 3))

# --- recordings and databases beside a run ---
for _name, _content in (("empty", ""), ("noise", bytes(range(256)) * 1000), ("deep", "[" * 200000 + "\n"),
                        ("object", '{"request": {}, "reply": 7}\n{"reply": {"text": 5}}\n'), ("line", '"' + "x" * 3000000 + '"\n')):
    given("recording_" + _name, 30, "x.jsonl", _content, "scale.cu", "--budget", "2", "--model", "replay:x.jsonl", "--model-only", "-q",
          *EMU)
given("reuse_of_noise", 10, "x.db", bytes(range(256)) * 1000, "scale.cu", "--budget", "1", "--reuse", "x.db", "-q", *EMU)
given("memory_of_noise", 10, "x.db", bytes(range(256)) * 1000, "scale.cu", "--budget", "1", "--memory", "x.db", "-q", *EMU)


# --- what a captured program leaves ---
def captured(name, text):
    """A program that writes this where launches are recorded."""
    def run(bench):
        bench.put("text", text)
        os.chmod(bench.put("program.sh", f'#!/bin/sh\ncp "{bench.path("text")}" "$KEET_CAPTURE/launches-$$.jsonl"\n'
                                         'ln -s /etc/passwd "$KEET_CAPTURE/0-$$"\n'), 0o755)
        bench.run("capture", "-o", "captured", "--", "./program.sh", never="root:x")
    CASES.append(("captured_" + name, 20, False, run))


captured("noise", bytes(range(256)) * 1000)
captured("deep", '{"a":' * 100000)
captured("types", '{"kernel": 5, "grid": "x", "params": {}, "memory": [[]]}\n' * 100)
captured("numbers", '{"kernel": "k", "symbol": "k", "launches": -1, "time_ns": 1e999, "order": 99999999999999999999}\n')
captured("lines", "{}\n" * 300000)


# --- an agent ---
def agent(name, seconds, *messages):
    """Messages on the standard input of the server."""
    def run(bench):
        bench.kernel()
        text = b"".join(one if isinstance(one, bytes) else (json.dumps(one) + "\n").encode() for one in messages)
        with open(bench.put("said", text), "rb") as said:
            bench.run("mcp", "--device", "emu", stdin=said, status=(0, 1), never="root:x")
    CASES.append(("agent_" + name, seconds, False, run))


def call(tool, number=1, **arguments):
    """A call of a tool."""
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


agent("noise", 10, bytes(range(256)) * 4000)
agent("deep", 10, b'{"a":' * 500000 + b"\n")
agent("megabytes", 20, b'"' + b"x" * 20000000 + b'"\n')
agent("lines", 20, b"\n" * 300000, b"{}\n" * 50000)
agent("ids", 10, *({"jsonrpc": "2.0", "id": one, "method": "ping"} for one in (None, [], {}, 1e300, -1, "x" * 100000, True)))
agent("paths", 20, *(call("run", i, kernel=one) for i, one in enumerate(
    ("/etc/passwd", "../../../../etc/passwd", "", "\0", "/dev/zero", "-h", "dot.cu\n", "x" * 100000))))
agent("types", 10, *(call("run", i, kernel=one) for i, one in enumerate((5, None, [], {"text": {}}, True, [["x"]]))))
agent("flood", 40, *(call("run", i, kernel="dot.cu") for i in range(200)))


@case(20)
def folders_of_links(bench):
    """A program's folder with links in a circle, pipes and files without rights is copied, and nothing waits."""
    os.mkdir(bench.path("project"))
    os.symlink(".", bench.path("project/loop"))
    os.symlink("/etc/passwd", bench.path("project/secret"))
    os.mkfifo(bench.path("project/pipe.o"))
    os.mkfifo(bench.path("project/host.cu"))
    os.symlink("nowhere", bench.path("project/gone"))
    process = subprocess.Popen([bench.keet, "optimize-program", "--build", "true", "--", "./nothing"], cwd=bench.path("project"),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, start_new_session=True)
    bench.end(process, status=(1, 2))
    shutil.rmtree(bench.path("project"))
