"""keet-opt init on files that are no good: one clear error or an answer, in two seconds of the
processor's time, in bounded memory, never a crash.

    malformed.py KEET-OPT"""

import os
import pathlib
import resource
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SECONDS, MEGABYTES = 2.0, 700
KERNEL = b"__global__ void k(float *x) { x[threadIdx.x] = 1; }\n"
LAUNCH = b"int main() { float *d; cudaMalloc(&d, 256); k<<<1, 64>>>(d); }\n"


def files(folder):
    """(name, bytes, what the error must say; None: an answer is right)"""
    whole = (HERE / "solver_class.cu").read_bytes()
    yield "binary", bytes(range(256)) * 64, "not a text file"
    yield "nul", KERNEL + b"\0" + LAUNCH, "NUL"
    yield "large", b"// x\n" * (10 << 20), "limit"
    yield "empty", b"", "no __global__"
    yield "no_kernel", LAUNCH, "no __global__"
    yield "braces", b"{" * 300000 + KERNEL + LAUNCH, None
    yield "parens", KERNEL + b"int main() { int n = " + b"(" * 200000 + b"1" + b")" * 200000 + \
        b"; float *d; cudaMalloc(&d, n); k<<<n, 64>>>(d); }", None
    yield "blocks", KERNEL + b"int main() {" + b"{" * 100000 + b"k<<<1, 64>>>(0);" + b"}" * 100000 + b"}", None
    yield "ifs", KERNEL + b"int main() {" + b"if (x) " * 100000 + b"k<<<1, 64>>>(0); }", None
    for name, words in (("elses", b"if (x) ; else "), ("dos", b"do if (x) ")):
        yield name, KERNEL + b"int main() {" + words * 100000 + b"k<<<1, 64>>>(0); }", None
    yield "angles", KERNEL + b"int main() { " + b"a<" * 100000 + b"k<<<1, 64>>>(0); }", None
    yield "chevrons", KERNEL + b"int main() { float *x; k<<<1, 64>>>(x); " + b"x > <<<1, 1>>>(x);" * 100000 + b"}", None
    yield "spliced_defines", KERNEL + b"#define A \\\n" + b"#define B (float4){1} \\\n" * 100000 + b"\n" + LAUNCH, None
    yield "host_asm", KERNEL + b'#define PUT(p) asm volatile("st.global.f32 [%0], %1;" :: "l"(p), "f"(1.0f) : "memory")\n' \
        b"int main() { float *d; cudaMalloc(&d, 256); PUT(d); k<<<1, 64>>>(d); }", None
    yield "recursion", KERNEL + b"int f(int n) { return f(n + 1); } int main() { k<<<f(0), 64>>>(0); }", None
    yield "macros", b"#define A B\n#define B A\n#define C(x) C(x) C(x)\n" + KERNEL + \
        b"int main() { int n = A; C(n); k<<<A, 64>>>(0); }", None
    yield "wide_macros", b"".join(b"#define M%d " % n + b"M%d " % (n - 1) * 300 + b"\n" for n in range(1, 5)) + KERNEL + LAUNCH, None
    yield "many_macros", b"".join(b"#define M%d " % n + b"x%d + y%d * z%d\n" % (n, n, n) for n in range(8000)) + \
        KERNEL + LAUNCH, None
    yield "endless", KERNEL + b"int main() { int i = 0; while (1) i++; k<<<i, 64>>>(0); }", None
    yield "self_struct", b"struct S { S a, b, c; int n; };\n" + KERNEL + b"int main() { S s; k<<<s.n, 64>>>(0); }", None
    yield "huge_numbers", KERNEL + b"int main() { long n = 9223372036854775807; float *d; cudaMalloc(&d, n * 8);" \
        b"int m = -2147483647 - 1; k<<<m / -1, n % -1, 1e300>>>(d + n); }", None
    yield "huge_index", KERNEL + b"int main() { long n = 9223372036854775807; int **d = new int *[9]; d[n] = 0; d[-n] = 0;" \
        b" size_t p; float *e; cudaMallocPitch(&e, &p, n, n); k<<<n / 3, 64>>>(e - n); }", None
    yield "latin1", b"// caf\xe9\n" + KERNEL + LAUNCH, None
    for part in range(1, 40):
        yield f"truncated_{part}", whole[:len(whole) * part // 40], None


def run(program, path, timed):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run([program, "init", str(path), "--args", "1 2"], capture_output=True, timeout=600)
    except subprocess.TimeoutExpired:
        return "more than 600 s", ""
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    error = done.stderr.decode(errors="replace")
    if done.returncode not in (0, 1, 2):
        return f"exit status {done.returncode}: {error[-300:]}", error
    if done.returncode and error.count("keet-opt: ") != 1:
        return f"not one error: {error[-300:]}", error
    if timed and seconds > SECONDS:
        return f"{seconds:.2f} s of the processor's time", error
    if timed and after.ru_maxrss > MEGABYTES << 10:
        return f"{after.ru_maxrss >> 10} MiB", error
    return "", error


def main():
    program, failed = sys.argv[1], 0
    timed = len(sys.argv) < 3 or sys.argv[2] != "sanitized"
    with tempfile.TemporaryDirectory() as folder:
        cases = [(n, b, w) for n, b, w in files(folder)]
        loop = pathlib.Path(folder) / "loop"
        loop.mkdir()
        (loop / "a.h").write_text('#include "b.h"\n')
        (loop / "b.h").write_text('#include "a.h"\n')
        cases.append(("loop/includes", b'#include "a.h"\n' + KERNEL + LAUNCH, None))
        for name, data, wanted in cases:
            path = pathlib.Path(folder) / f"{name}.cu"
            path.write_bytes(data)
            problem, error = run(program, path, timed)
            if not problem and wanted and wanted not in error:
                problem = f"expected {wanted!r} in {error[-300:]!r}"
            failed += bool(problem)
            if problem:
                print(f"FAILED {name}: {problem}")
            os.remove(path)
    print(f"{len(cases) - failed} of {len(cases)} files")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
