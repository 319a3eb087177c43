"""Cases of what a model may answer: each is one reply that NVRTC may take and that the parser, the
emulator or the store must survive."""
CASES = []
REPLIES = []  # (name, text, or a function that gives it)

CONTRACT = """\
#pragma keet size   N = 4096
#pragma keet check  N = 100
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet launch scale<<<ceil_div(N, 64), 64>>>(X, Y, N)
"""
KERNEL = """\
__global__ void scale(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i];
}
"""
BODY = "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)\n        y[i] = 2 * x[i];\n"


def reply(name, seconds, text, long=False, never=None):
    """One reply, again and again: the run goes to its end, and the original is still there. The code
    in the reply, where there is some, is then a file of the user's: the parser reads it first of all."""
    def run(bench):
        answer = text() if callable(text) else text
        bench.put("scale.cu", CONTRACT + "\n" + KERNEL)
        for kind in ("write", "repair"):
            for i in range(1, 8):
                bench.put(f"replies/{kind}-{i}.md", answer)
        # 1: the script has no more replies; what compiles to the original costs no budget.
        bench.run("scale.cu", "--budget", "2", "--model", "script:replies", "--model-only",
                  "--in-flight", "1", "-q", "--device", "emu", "--threads", "1", status=(0, 1), never=never)
        bench.run("show", "scale.keet.db", "0", status=0, says="y[i] = 2 * x[i]")
        bench.run("report", "scale.keet.db", "-o", "report.html", status=0)
        if isinstance(answer, str) and "```cuda\n#pragma" in answer:
            bench.put("user.cu", answer.split("```cuda\n")[1].split("\n```")[0])
            bench.run("user.cu", "--budget", "1", "-q", "--device", "emu", "--threads", "1", never=never)
    CASES.append((name, seconds, long, run))
    REPLIES.append((name, text))


def source(before="", body=BODY, contract=CONTRACT, after="", name="scale"):
    """A reply with a kernel of these pieces."""
    return (f"Faster.\n\n```cuda\n{contract}\n{before}\n__global__ void {name}(const float *x, float *y, "
            f"int n)\n{{\n{body}}}\n{after}\n```\n")


def clang_only(text):
    """Code that NVRTC does not see."""
    return f"#ifdef __clang__\n{text}\n#endif\n"


def doubling(nr, width=8, first="x"):
    """Macros, each of which has the one before several times."""
    lines = [f"#define A0 {first}"]
    lines += [f"#define A{i} " + " ".join([f"A{i - 1}"] * width) for i in range(1, nr)]
    return "\n".join(lines)


# --- the parser: what only libclang sees ---
reply("sum_of_60000_terms", 40, lambda: source(clang_only("int f() { return " + "+".join(["1"] * 60000) + "; }")))
reply("macro_bomb", 40, lambda: source(clang_only(doubling(14) + "\nint v[] = {" + "A13" + "};")))
reply("template_bomb", 40, source(clang_only(
    "template <int N, int M> struct F { static const int v = F<N - 1, M>::v + F<N - 1, M + 1>::v; };\n"
    "template <int M> struct F<0, M> { static const int v = M; };\nint g = F<800, 0>::v;")))
reply("constexpr_bomb", 40, source(clang_only(
    "constexpr long f(long n) { long s = 0; for (long i = 0; i < n; i++) s += i; return s; }\n"
    "constexpr long g() { long s = 0; for (int i = 0; i < 1000000; i++) s += f(1000000); return s; }\n"
    "static_assert(g() > 0, \"\");")))
reply("else_if_chain", 40, lambda: source(clang_only(
    "int f(int x) { " + "".join(f"if (x == {i}) return {i}; else " for i in range(20000)) + "return 0; }")))
reply("deep_parentheses", 40, lambda: source(clang_only("int f() { return " + "(" * 50000 + "1" + ")" * 50000 + "; }")))
reply("deep_braces", 40, lambda: source(clang_only("void f() " + "{" * 50000 + "}" * 50000)))
reply("deep_brackets", 40, lambda: source(clang_only("int f(int *a) { return " + "a[" * 20000 + "0" + "]" * 20000 + "; }")))
reply("deep_unary", 40, lambda: source(clang_only("int f(int a) { return " + "- " * 60000 + "a; }")))
reply("deep_ternary", 40, lambda: source(clang_only("int f(int a) { return " + "a ? 1 : " * 20000 + "0; }")))
reply("deep_templates", 40, lambda: source(clang_only(
    "template <class T> struct S {};\n" + "S<" * 3000 + "int" + "> " * 3000 + "v;")))
reply("deep_pointers", 40, lambda: source(clang_only("int " + "*" * 50000 + "p;")))
reply("lambda_nest", 40, lambda: source(clang_only("auto f = " + "[] { return " * 400 + "1" + "; }" * 400 + ";")))
reply("recursive_include", 20, source(clang_only('#include __FILE__')))
reply("import_of_a_device", 20, source(clang_only('#import "/dev/zero"')))
reply("include_next_of_a_device", 20, source(clang_only('#include_next </dev/zero>')))
reply("include_of_passwd", 20, source(clang_only('#include "/etc/passwd"')), never="root:x")
reply("embed", 20, source(clang_only('#embed "/etc/passwd"')), never="root:x")
reply("pragma_clang", 20, source(clang_only("#pragma clang __debug crash")))
reply("pragma_clang_overflow", 20, source(clang_only("#pragma clang __debug overflow_stack")))
reply("pragma_clang_assert", 20, source(clang_only("#pragma clang __debug llvm_fatal_error")))
reply("pragma_clang_sleep", 40, source(clang_only("#pragma clang __debug parser_crash")))
reply("huge_array_type", 20, source(clang_only("char big[0x7fffffffffffffff];\nint a[1 << 30][1 << 30];")))
reply("huge_shift", 20, source(clang_only("static_assert((unsigned __int128)1 << 127 >> 200, \"\");")))
reply("many_errors", 20, lambda: source(clang_only("error_here x;\n" * 20000)))
reply("long_identifier", 20, lambda: source(clang_only("int " + "a" * 1000000 + ";")))
reply("long_line", 20, lambda: source(clang_only("int x = " + "1 + " * 1 + " " * 2000000 + "1;")))
reply("unclosed_raw_string", 20, source(after='const char *s = R"x('))
reply("unclosed_comment", 20, source(after="/*"))
reply("unclosed_conditional", 20, source(after="#if 1"))
reply("backslash_at_the_end", 20, source(after="// \\"))
reply("trigraphs", 20, source("??=include <cuda_fp16.h>\n%:define X 1"))
reply("line_directives", 20, source('#line 4294967295 "/etc/passwd"'))
reply("line_directive_of_zero", 20, source("#line 0"))
reply("bidi", 20, source("// \u202e\u2066 invisible\n"))
reply("escapes", 20, source("// \x1b]0;x\x07\x1b[2J\n"))
reply("nul_bytes", 20, source("// a\0b\n"))
reply("no_utf8", 20, source().encode() + b"\xff\xfe\xc3\x28")
reply("carriage_returns", 20, source().replace("\n", "\r\n"))

# --- the compiler ---
reply("nvrtc_macro_bomb", 90, lambda: source(doubling(14) + "\n__device__ int v[] = {A13};"), long=True)
reply("nvrtc_template_bomb", 90, source(
    "template <int N, int M> struct F { static const int v = F<N - 1, M>::v + F<N - 1, M + 1>::v; };\n"
    "template <int M> struct F<0, M> { static const int v = M; };\n__device__ int g = F<800, 0>::v;"),
      long=True)
reply("nvrtc_constexpr_bomb", 90, source(
    "constexpr long f(long n) { return n < 2 ? 1 : f(n - 1) + f(n - 2); }\n"
    "__device__ long g[f(60) > 0 ? 1 : 2];"), long=True)
reply("nvrtc_deep", 60, lambda: source("__device__ int f() { return " + "(" * 60000 + "1" + ")" * 60000 + "; }"))
reply("nvrtc_unrolls", 90, source(body="#pragma unroll\n    for (int k = 0; k < 100000; k++)\n"
                                       "        if (n > k) y[k % n] = x[k % n] + k;\n"), long=True)
reply("include_bypass", 20, source('#define FOOUR\nconst char *s = FOOUR"(";\n#include "/etc/passwd" // )"'),
      never="root:x")
reply("include_by_macro", 20, source('#define F "/etc/passwd"\n#include F'), never="root:x")
reply("has_include", 20, source('#if __has_include("/etc/shadow")\n#error there\n#endif'), never="#error there")
reply("include_of_a_pipe", 20, source('#include "/dev/stdin"'))
reply("asm_bomb", 30, lambda: source(body="    asm volatile(\"" + "nop;" * 1 + "bra $x; $x:\");\n" * 1 + BODY))
reply("asm_include", 20, source(body='    asm volatile(".include \\"/etc/passwd\\"");\n' + BODY), never="root:x")
reply("attribute_flood", 20, lambda: source("[[" + ",".join(["maybe_unused"] * 20000) + "]] __device__ int q;"))

# --- the contract ---
for _name, _lines in (
        ("sizes_overflow", "#pragma keet size   N = 9223372036854775807*9223372036854775807\n"),
        ("another_contract", "#pragma keet out    Z : f32[1 << 62]\n"),
        ("deep_expression", "#pragma keet tune   T = " + "(" * 20000 + "1" + ")" * 20000 + " in {1}\n"),
        ("long_sum", "#pragma keet tune   T = 1 in {" + "1+" * 20000 + "1}\n"),
        ("many_choices", "#pragma keet tune   T = 1 in {" + ", ".join(map(str, range(1, 30000))) + "}\n"),
        ("many_tunes", "".join(f"#pragma keet tune   T{i} = 1 in {{1, 2}}\n" for i in range(3000))),
        ("huge_grid", "#pragma keet launch scale<<<dim3(2147483647, 65535, 65535), 1024>>>(X, Y, N)\n"),
        ("huge_shared", "#pragma keet launch scale<<<1, 1, 9223372036854775807>>>(X, Y, N)\n"),
        ("huge_temp", "#pragma keet temp   W : f32[1 << 50]\n"),
        ("many_launches", "#pragma keet launch scale<<<1, 1>>>(X, Y, N)\n" * 5000),
        ("division_by_zero", "#pragma keet launch scale<<<1/0, 64>>>(X, Y, N)\n"),
        ("negative_block", "#pragma keet launch scale<<<1, -64>>>(X, Y, N)\n"),
        ("input_by_file", "#pragma keet in     V : f32[4] = file(\"/dev/zero\")\n"),
        ("pragma_of_noise", "#pragma keet \x01\x02\xff launch <<<>>>((((\n")):
    reply("contract_" + _name, 40, source(contract=CONTRACT + _lines))
reply("contract_of_nothing", 20, source(contract=""))

# --- the reply itself ---
for _name, _text in (
        ("empty", ""), ("blank", " \n" * 100000), ("fences_only", "```" * 100000), ("one_fence", "```cuda\n"),
        ("no_code", "I cannot do this.\n"), ("many_blocks", "```cuda\nint x;\n```\n" * 20000),
        ("nested_fences", "````\n```cuda\n" * 10000), ("json", '{"a":' * 100000), ("html", "<a " * 100000),
        ("diff", "```diff\n--- a\n+++ b\n@@ -1,9999999999 +1,99999999999 @@\n-x\n```\n"),
        ("diff_overlap", "```diff\n" + "@@ -1,1 +1,1 @@\n-a\n+b\n" * 20000 + "```\n"),
        ("search_replace", "<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE\n" * 20000),
        ("megabytes", "x" * 3000000), ("noise", bytes(range(256)) * 2000), ("unfinished", source()[:-60])):
    reply("reply_" + _name, 20, _text)
