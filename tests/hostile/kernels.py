"""Cases of kernel files: what the emulator, the compiler and the reader of contracts must survive when
the user's own file is the hostile one. Each file is run once and searched with a small budget."""
import os
import shutil

from cases import cases
from outside import on_terminal
from replies import BODY, CONTRACT, KERNEL, doubling

CASES, case = cases()


def use(bench, path, *words):
    """Runs the file and searches it; what both say."""
    words = ("--device", "emu", "--threads", "1", "--deadline", "4", *words)
    return (bench.run("run", path, *words) + bench.run(path, "--budget", "2", "-q", "--db", "run.db", *words))


def kernel(name, seconds, body=BODY, before="", contract=CONTRACT, says=None, never=None, long=False):
    """A file of these pieces; says: words of the one or the other command."""
    def run(bench):
        text = f"{contract() if callable(contract) else contract}\n{before() if callable(before) else before}\n" \
               f"__global__ void scale(float *x, float *y, int n)\n{{\n{body() if callable(body) else body}}}\n"
        said = use(bench, bench.put("scale.cu", text))
        bench.check(says is None or says in said, f"it does not say '{says}': {said[-600:]}")
        bench.check(never is None or never not in said, f"it says '{never}'")
    CASES.append((name, seconds, long, run))


def file(name, seconds, content, right=False, long=False):
    """A whole file; right: a kernel after all."""
    def run(bench):
        bench.put("scale.cu", content() if callable(content) else content)
        status = (0,) if right else (1, 2, 3)
        bench.run("run", "scale.cu", "--device", "emu", status=status)
        bench.run("scale.cu", "--device", "emu", "-q", "--budget", "2", status=status)
    CASES.append((name, seconds, long, run))


# --- kernels that do not end ---
kernel("endless_loop", 40, "    for (;;)\n        atomicAdd(y, 1.0f);\n", says="scale.cu:")
kernel("endless_wait_for_a_flag", 40, "    while (*(volatile float *)y != 7)\n        ;\n" + BODY)
kernel("endless_wait_at_a_barrier", 40, "    if (threadIdx.x >= 32)\n        while (atomicAdd(y, 0.0f) != 7)\n"
       "            ;\n    __syncthreads();\n")
kernel("half_a_barrier", 20, "    if (threadIdx.x < 7)\n        __syncthreads();\n" + BODY)
kernel("wait_for_a_clock", 40, "    while (clock64() < (1LL << 62))\n        ;\n" + BODY)
kernel("sleepers", 40, "    for (int k = 0; k < 1000000; k++)\n        __nanosleep(1000000000);\n" + BODY)
kernel("endless_recursion", 40, "    y[0] = deeper(n);\n",
       "__device__ __noinline__ int deeper(int k) { return k == -7 ? 0 : deeper(k + 1) + deeper(k + 2); }")
kernel("lock_of_a_warp", 40, "    while (atomicCAS(&lock, 0, 1) != 0)\n        ;\n    y[0] = 1;\n", "__device__ int lock;")

# --- services ---
kernel("printf_flood", 60, '    for (int k = 0; k < 1000000; k++)\n        printf("%d\\n", k);\n' + BODY)
kernel("printf_wide", 20, '    printf("%99999999d", n);\n' + BODY)
kernel("printf_precise", 20, '    printf("%.99999999f", 1.0);\n' + BODY)
kernel("printf_of_nowhere", 20, '    printf("%s %n", (const char *)7, x);\n' + BODY)
kernel("printf_by_an_argument", 20, '    printf((const char *)x, 1, 2);\n' + BODY)
kernel("printf_of_escapes", 20, '    printf("\\x1b[2J\\x1b]0;title\\x07");\n' + BODY)
kernel("malloc_flood", 60, "    for (;;)\n        if (!malloc(1 << 20))\n            break;\n" + BODY)
kernel("malloc_of_all", 20, "    char *p = (char *)malloc(~0ull >> 1);\n    if (p)\n        p[n] = 1;\n" + BODY)
kernel("malloc_written", 60, "    for (int k = 0; k < 4096; k++) {\n        char *p = (char *)malloc(1 << 20);\n"
       "        if (p)\n            memset(p, k, 1 << 20);\n    }\n" + BODY)
kernel("free_of_nothing", 20, "    free((void *)12345);\n    void *p = malloc(8);\n    free(p);\n    free(p);\n" + BODY)
kernel("assertion", 20, "    assert(n < 0);\n" + BODY, "#include <assert.h>")
kernel("trap_and_break", 20, '    asm volatile("brkpt;");\n    __trap();\n' + BODY)

# --- memory and calls ---
kernel("writes_far_away", 20, "    y[1LL << 40] = 1;\n" + BODY, says="out of bounds")
kernel("writes_to_null", 20, "    *(volatile int *)0 = 1;\n" + BODY)
kernel("writes_to_inputs", 20, "    x[threadIdx.x] = 1;\n" + BODY)
kernel("jump_to_nowhere", 20, "    void (*f)() = (void (*)())(unsigned long long)x;\n    f();\n" + BODY)
kernel("launch_of_itself", 20, "    if (threadIdx.x == 0)\n        scale<<<1, 1>>>(x, y, n);\n" + BODY)
kernel("stack_of_a_megabyte", 40, "    volatile char big[500000];\n    big[n] = 1;\n    y[0] = big[n / 2];\n")
kernel("shared_of_a_gigabyte", 20, "    __shared__ char big[1 << 30];\n    big[n] = 1;\n    y[0] = big[0];\n")
kernel("variable_of_a_terabyte", 40, "    big[n] = 1;\n" + BODY, "__device__ char big[1LL << 40];")
kernel("variables_of_gigabytes", 60, "    a[n] = b[n] = c[n] = 1;\n" + BODY,
       "__device__ char a[1LL << 33], b[1LL << 33], c[1LL << 33];", says="out of host memory")
kernel("bad_shuffles", 20, "    y[threadIdx.x] = __shfl_sync(0, x[0], 99) + __shfl_sync(1u << threadIdx.x % 32, x[1], n);\n")
kernel("divisions_by_zero", 20, "    int z = n - 4096;\n    y[0] = n / (z * 0) + n % (z * 0) + 1.0f / (z * 0);\n")

# --- launches and sizes ---
for _name, _lines in (
        ("grid_of_all", "#pragma keet launch scale<<<2147483647, 1024>>>(X, Y, N)\n"),
        ("grid_of_all_dimensions", "#pragma keet launch scale<<<dim3(2147483647, 65535, 65535), 1>>>(X, Y, N)\n"),
        ("block_of_a_million", "#pragma keet launch scale<<<1, 1000000>>>(X, Y, N)\n"),
        ("dynamic_shared_of_all", "#pragma keet launch scale<<<1, 1, 1 << 40>>>(X, Y, N)\n"),
        ("launches_without_end", "#pragma keet launch scale<<<64, 64>>>(X, Y, N)\n" * 20000),
        ("launch_of_another", "#pragma keet launch nothing<<<1, 1>>>(X, Y, N)\n")):
    kernel("kernel_" + _name, 60, contract=CONTRACT.replace(
        "#pragma keet launch scale<<<ceil_div(N, 64), 64>>>(X, Y, N)\n", _lines))
for _name, _size in (("exabyte", "1 << 58"), ("terabyte", "1 << 38"), ("zero", "0"), ("negative", "-5"),
                     ("overflow", "9223372036854775807 * 4")):
    kernel("size_of_" + _name, 40, contract=CONTRACT.replace("N = 4096", f"N = {_size}"))
kernel("size_of_gigabytes", 200, contract=CONTRACT.replace("N = 4096", "N = 1 << 30"), long=True)

# --- contracts ---
for _name, _text in (
        ("pragma_flood", lambda: CONTRACT + "#pragma keet note nothing\n" * 200000),
        ("pragmas_of_checks", lambda: CONTRACT + "".join(f"#pragma keet check N = {i}\n" for i in range(1, 20000))),
        ("pragmas_of_arrays", lambda: CONTRACT + "".join(f"#pragma keet in A{i} : f32[N]\n" for i in range(20000))),
        ("pragma_of_megabytes", lambda: CONTRACT + "#pragma keet size   M = " + "1 + " * 2000000 + "1\n"),
        ("pragma_of_parentheses", lambda: CONTRACT + "#pragma keet size   M = " + "(" * 1000000 + "1" + ")" * 1000000 + "\n"),
        ("tune_of_everything", lambda: CONTRACT + "".join(
            f"#pragma keet tune T{i} = 1 in {{{', '.join(map(str, range(1, 30)))}}}\n" for i in range(30))),
        ("tolerance_of_nan", lambda: CONTRACT + "#pragma keet tolerance rel = 0/0, abs = -1\n"),
        ("work_of_nothing", lambda: CONTRACT + "#pragma keet work flops = 1/0, bytes = 0\n")):
    kernel(_name, 60, contract=_text)

# --- code ---
kernel("macro_flood", 90, before=lambda: doubling(14) + "\n__device__ int v[] = {A13};", long=True)
kernel("kernels_by_thousands", 120, before=lambda: "".join(
    f"__global__ void k{i}(float *p) {{ p[0] = {i}; }}\n" for i in range(5000)), long=True)
kernel("statements_by_thousands", 120, lambda: BODY + "    y[n % 7] += 1;\n" * 20000, long=True)
kernel("switch_of_thousands", 120, lambda: "    switch (n) {\n" + "".join(
    f"    case {i}: y[{i} % 100] = {i}.5f; break;\n" for i in range(10000)) + "    }\n", long=True)
kernel("braces_of_thousands", 60, lambda: "{" * 10000 + "}" * 10000)
kernel("includes_of_itself", 20, before='#include "scale.cu"')
kernel("includes_a_secret", 20, before='#include "/etc/passwd"', never="root:x")
kernel("names_of_other_alphabets", 20, before="__device__ int größe_\u0434\u043b\u0438\u043d\u0430;")
kernel("bounds_of_nothing", 20, before="__global__ void __launch_bounds__(0, 99999) other(int *p) { *p = 1; }")

# --- files that are no kernels ---
file("file_empty", 5, "")
file("file_of_noise", 10, bytes(range(256)) * 4000)
file("file_of_zeros", 10, b"\0" * 1000000)
file("file_of_a_program", 20, lambda: open("/bin/sh", "rb").read())
file("file_of_text", 5, "Once upon a time there was a kernel.\n" * 1000)
file("file_of_json", 10, '{"a": ' * 100000)
file("file_of_100_megabytes", 60, lambda: CONTRACT + KERNEL + "// nothing at all to see\n" * 4000000, long=True)
file("line_of_100_megabytes", 60, lambda: CONTRACT + KERNEL + "// " + "x" * 100000000, long=True)


@case(20)
def error_of_escapes(bench):
    """What the compiler says of a file reaches the terminal without the file's control characters."""
    bench.put("scale.cu", CONTRACT + "#error \x1b[2J \x1b]0;title\x07\n" + KERNEL)
    for words in (["run", "scale.cu"], ["scale.cu", "--budget", "1"], ["check", "scale.cu", "scale.cu"]):
        seen = on_terminal(bench, *words, "--device", "emu")
        bench.check(b"title" in seen and b"\x1b[2J" not in seen and b"\x1b]0" not in seen, words, seen)


@case(20)
def files_that_are_no_files(bench):
    """Folders, pipes and devices are no kernels, and nothing waits for them."""
    os.mkfifo(bench.path("fifo.cu"))
    os.mkdir(bench.path("folder.cu"))
    os.symlink("loop.cu", bench.path("loop.cu"))
    for name in ("fifo.cu", "folder.cu", "loop.cu", "/dev/zero", "/dev/random", "/dev/tty", "/proc/self/mem", "absent.cu"):
        for words in (["run", name], [name, "--budget", "1"], ["check", name, name], ["explain", name], ["init", name]):
            bench.run(*words, *(() if words[0] == "init" else ("--device", "emu")), status=(1, 2))


@case(40)
def checks_of_hostile_candidates(bench):
    """One candidate that never ends, one that is no kernel: the others have their verdicts."""
    good = bench.put("good.cu", CONTRACT + "\n" + KERNEL)
    bench.put("endless.cu", CONTRACT + "\n" + KERNEL.replace("y[i] = 2 * x[i];", "for (;;) y[i] += 2 * x[i];"))
    bench.put("noise.cu", bytes(range(256)) * 100)
    shutil.copy(good, bench.path("same.cu"))
    said = bench.run("check", "good.cu", "endless.cu", "noise.cu", "same.cu", "--device", "emu", status=(1, 3))
    bench.check("timeout" in said, said)
