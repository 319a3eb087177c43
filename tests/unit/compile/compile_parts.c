/* Sources of several kernels: which are split, into what, and that the parts compile to what the
 * whole compiles to. */
#include "base/rng.h"
#include "base/str.h"
#include "compile/compile.h"
#include "compile/split.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const names[] = {"first", "second"};

static char cache_dir[] = "/tmp/keet-parts-XXXXXX";
static struct compiler *by_kernel, *whole;

static struct compiler *make_compiler(const char *dir, bool parts)
{
    const struct compiler_options options = {
        .arch = "sm_90a", .cache_dir = dir, .by_kernel = parts};
    struct err err;
    struct compiler *compiler = compiler_create(&options, &err);

    if (!compiler)
        fail_msg("%s", err.text);
    return compiler;
}

static int setup(void **state)
{
    assert_non_null(mkdtemp(cache_dir));
    by_kernel = make_compiler(cache_dir, true);
    whole = make_compiler("", false);
    return 0;
}

static int teardown(void **state)
{
    char command[64];

    compiler_destroy(by_kernel);
    compiler_destroy(whole);
    snprintf(command, sizeof(command), "rm -r %s", cache_dir);
    return system(command);
}

static unsigned nr_cached(void)
{
    DIR *dir = opendir(cache_dir);
    unsigned nr = 0;

    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir));)
        nr += str_ends(entry->d_name, ".nvrtc");
    closedir(dir);
    return nr;
}

static enum verdict compile_with(struct compiler *compiler, const char *source, int64_t tile,
    struct arena *arena, struct compilation *c)
{
    const struct tune tune = {.name = "TILE", .value = tile};
    const struct compile_input input = {.source = source,
        .name = "kernel.cu",
        .kernels = names,
        .nr_kernels = 2,
        .tunes = &tune,
        .nr_tunes = 1};
    enum verdict verdict;
    const char *text;
    unsigned line;
    struct err err;

    if (!compile_source(compiler, &input, arena, c, &verdict, &line, &text, &err))
        fail_msg("%s", err.text);
    return verdict;
}

/* %s: a line in the first kernel; the second kernel uses the function and the parameter. */
static const char two[] = "#include <cuda_fp16.h>\n"
                          "__device__ float twice(float x) { return 2 * x; }\n"
                          "\n"
                          "// The first kernel.\n"
                          "__global__ void first(float *a)\n"
                          "{\n"
                          "%s"
                          "    a[threadIdx.x] = twice(a[threadIdx.x]);\n"
                          "}\n"
                          "\n"
                          "extern \"C\" __global__ void __launch_bounds__(64)\n"
                          "second(const __half *a, float *b, int n)\n"
                          "{\n"
                          "    __shared__ float tile[TILE];\n"
                          "    extern __shared__ float more[];\n"
                          "    int unused = 3;\n"
                          "\n"
                          "    for (int i = threadIdx.x; i < n; i += TILE) {\n"
                          "        tile[i %% TILE] = twice(__half2float(a[i]));\n"
                          "        more[i] = b[i];\n"
                          "        __syncthreads();\n"
                          "        b[i] = tile[(i + 1) %% TILE] + more[n - i];\n"
                          "    }\n"
                          "}\n";

static const char *with(struct arena *arena, const char *line)
{
    return arena_printf(arena, two, line);
}

static void test_same_facts(void **state)
{
    struct arena *arena = arena_create();
    struct compilation a, b;
    const char *source = with(arena, "    a[threadIdx.x + 32] += 1;\n");

    assert_int_equal(compile_with(by_kernel, source, 64, arena, &a), VERDICT_OK);
    assert_int_equal(compile_with(whole, source, 64, arena, &b), VERDICT_OK);
    assert_int_equal(a.nr_kernels, 2);
    for (unsigned i = 0; i < 2; i++) {
        const struct sass_facts *x = &a.sass[i], *y = &b.sass[i];

        assert_string_equal(a.kernels[i].kernel, names[i]);
        assert_string_equal(a.kernels[i].lowered, b.kernels[i].lowered);
        assert_int_equal(a.kernels[i].registers, b.kernels[i].registers);
        assert_int_equal(a.kernels[i].smem_static_bytes, b.kernels[i].smem_static_bytes);
        assert_int_equal(a.kernels[i].nr_barriers, b.kernels[i].nr_barriers);
        assert_int_equal(a.kernels[i].machine_insts, b.kernels[i].machine_insts);
        assert_int_equal(x->nr_lines, y->nr_lines);
        for (unsigned k = 0; k < x->nr_lines; k++)
            assert_int_equal(x->lines[k].line, y->lines[k].line);
        assert_non_null(strstr(a.ptx, arena_printf(arena, ".entry %s(", a.kernels[i].lowered)));
    }
    assert_int_equal(a.kernels[1].smem_static_bytes, 64 * 4);
    /* lines of the whole source: 8 is of the first kernel, 22 of the second */
    assert_non_null(strstr(a.ptx, "\t.loc\t1 8 "));
    assert_non_null(strstr(a.ptx, "\t.loc\t1 22 "));
    assert_non_null(strstr(a.ptx, "\t.file\t1 "));
    assert_non_null(strstr(b.log, "kernel.cu(16): warning"));
    assert_non_null(strstr(a.log, "kernel.cu(16): warning"));
    arena_destroy(arena);
}

static void test_only_what_changed_is_compiled(void **state)
{
    struct arena *arena = arena_create();
    struct compilation before, after;
    unsigned nr;

    compile_with(by_kernel, with(arena, ""), 32, arena, &before);
    nr = nr_cached();
    /* the first kernel does not mention TILE, and the second one does not see the new line */
    compile_with(by_kernel, with(arena, "    a[threadIdx.x + 8] += 1;\n"), 32, arena, &after);
    assert_int_equal(nr_cached(), nr + 1);
    assert_false(after.cached);
    compile_with(by_kernel, with(arena, "    a[threadIdx.x + 8] += 1;\n"), 128, arena, &after);
    assert_int_equal(nr_cached(), nr + 2);
    compile_with(by_kernel, with(arena, ""), 128, arena, &after);
    assert_int_equal(nr_cached(), nr + 2);
    assert_true(after.cached);
    assert_int_equal(after.kernels[1].smem_static_bytes, 128 * 4);
    arena_destroy(arena);
}

/* What kernels share, as their modules would not. */
static void test_shared_variables(void **state)
{
    static const char *const shared[] = {"__device__ int count;\n", "__device__ int count = 0;\n",
        "__device__ int counts[2];\n#define count counts[1]\n",
        "struct two { int x, y; };\n__device__ two both;\n#define count both.y\n",
        "__device__ int *at() { static int n; return &n; }\n#define count (*at())\n",
        "namespace n { __device__ int count; }\nusing namespace n;\n"};
    struct arena *arena = arena_create();
    struct compilation c;

    for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
        const char *source = arena_printf(arena,
            "%s__global__ void first(int *a) { count = *a; }\n"
            "__global__ void second(int *a) { *a = count; }\n",
            shared[i]);
        const char *variable;

        assert_int_equal(compile_with(by_kernel, source, 1, arena, &c), VERDICT_OK);
        variable = strstr(c.ptx, ".global .align");
        assert_non_null(variable);
        assert_null(strstr(variable + 1, ".global .align"));
        assert_non_null(strstr(c.ptx, ".entry _Z5firstPi("));
        assert_non_null(strstr(c.ptx, ".entry _Z6secondPi("));
    }
    arena_destroy(arena);
}

/* One name, two types: C++ refuses that. */
static const char shared_twice[] =
    "__global__ void first(float *a) { extern __shared__ float x[]; x[0] = *a; *a = x[1]; }\n"
    "__global__ void second(int *a) { extern __shared__ int x[]; x[0] = *a; *a = x[1]; }\n";

static void test_errors_are_those_of_the_whole(void **state)
{
    struct arena *arena = arena_create();
    struct compilation c;

    assert_int_equal(compile_with(by_kernel, with(arena, "    a = nothing;\n"), 8, arena, &c),
        VERDICT_NO_COMPILE);
    assert_non_null(strstr(c.log, "kernel.cu(7): error"));
    /* a kernel that no launch names is looked at, too */
    assert_int_equal(
        compile_with(by_kernel,
            arena_printf(arena, "%s__global__ void third() { nothing(); }\n", with(arena, "")), 8,
            arena, &c),
        VERDICT_NO_COMPILE);
    assert_int_equal(compile_with(by_kernel, shared_twice, 8, arena, &c), VERDICT_NO_COMPILE);
    arena_destroy(arena);
}

static bool splits(const char *source, bool apart)
{
    struct arena *arena = arena_create();
    struct split_part parts[2];
    const bool good = split_kernels(source, names, 2, arena, parts);

    for (unsigned i = 0; good && i < 2; i++) {
        if (apart)
            assert_null(strstr(parts[i].source, names[1 - i]));
        assert_non_null(strstr(parts[i].source, names[i]));
        for (unsigned k = 2; k <= parts[i].nr_lines; k++)
            assert_true(split_line(&parts[i], k) > split_line(&parts[i], k - 1));
        assert_int_equal(split_line(&parts[i], 0), 0);
        assert_int_equal(split_line(&parts[i], parts[i].nr_lines + 1), 0);
    }
    arena_destroy(arena);
    return good;
}

#define SECOND "__global__ void second(int n) {}\n"

/* The second kernel follows a text that has none. */
static bool splits_with_second(const char *source)
{
    struct str text = {0};
    bool good;

    str_addf(&text, "%s%s", source, strstr(source, "second") ? "" : SECOND);
    good = splits(str_text(&text), true);
    str_finish(&text);
    return good;
}

static void test_what_is_split(void **state)
{
    static const char *const good[] = {"__global__ void first() {}\n",
        "__global__ void first();\n__global__ void second() {}\n__global__ void first() { {} }\n",
        "#define MAX(a, b) \\\n  ((a) > (b) ? (a) : (b))\n\n__global__ void first() {}",
        "template <int N = 3> __device__ int f() { return '}' + N; }\n__global__ void first() {}\n",
        "template <typename T> __global__ void first(T x) { /* } */ // }\n}\n",
        "namespace a { const int b = 1'000; }\n__global__ void first() {}\n",
        "struct c { int d() { return 1; } };\n__global__ void first() { const char *s = \"}\"; }\n",
        "__global__ void __launch_bounds__(2 * (64 + 64), 1) first() {}\n",
        "#ifdef FAST\n#define N 1\n#else\n#define N 2\n#endif\n__global__ void first() {}\n",
        "enum { A = 1 };\nconstexpr int B = f(2);\n__global__ void first() {}\n",
        "static const int N = 1;\n__global__ void first() {}\n",
        "extern __shared__ float x[];\nextern \"C\" void __global__ first(int (*a)[3]) {}\n"};
    static const char *const bad[] = {"__global__ void second() {}\n",
        "__global__ void first() {\n", "__global__ void first() {}}\n",
        "__global__ void first() {}\n__global__ void third() {}\n",
        "extern \"C\" {\n__global__ void first() {}\n__global__ void second() {}\n}\n",
        "#define K __global__ void\nK first() {}\n",
        "__device__ float t[4];\n__global__ void first() {}\n",
        "__constant__ float t[2] = {1, 2};\n__global__ void first() {}\n",
        "int x;\n__global__ void first() {}\n", "static int x;\n__global__ void first() {}\n",
        "__global__ void first() { printf(\"a\"); }\n",
        "#if 1\n__global__ void first() {\n#else\n#endif\n}\n#endif\n",
        "__global__ void first() { const char *s = R\"(})\"; }\n",
        "__global__ void first() {\n#define N 4\n}\n",
        "#define N 8\n__global__ void first() {\n  #undef N\n}\n", shared_twice};

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        if (!splits_with_second(good[i]))
            fail_msg("not split: %s", good[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (splits_with_second(bad[i]))
            fail_msg("split: %s", bad[i]);
}

/* Any text: bounds hold, and what is split keeps its properties. */
static void test_broken_texts(void **state)
{
    static const char *const pieces[] = {"__global__ ", "void ", "first", "second", "(", ")", "{",
        "}", ";", "\n", "#if 1\n", "#endif\n", "#define A \\\n", "\"", "'", "/*", "*/", "//", "[",
        "=", "template<int N>", "1'0", "\\", "__global__ void first() {}\n", SECOND, "namespace a",
        "extern ", "__launch_bounds__(", "\t", "int x"};
    struct rng rng = {.state = 7};
    unsigned nr_split = 0;

    for (unsigned i = 0; i < 20000; i++) {
        const uint64_t nr = 1 + rng_below(&rng, 12);
        struct str text = {0};

        for (uint64_t k = 0; k < nr; k++)
            str_add(&text, pieces[rng_below(&rng, sizeof(pieces) / sizeof(pieces[0]))]);
        str_add(&text, i % 2 ? "" : "\n__global__ void first() {}\n" SECOND);
        nr_split += splits(str_text(&text), false);
        str_finish(&text);
    }
    assert_in_range(nr_split, 100, 19900);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_facts),
        cmocka_unit_test(test_only_what_changed_is_compiled),
        cmocka_unit_test(test_shared_variables),
        cmocka_unit_test(test_errors_are_those_of_the_whole),
        cmocka_unit_test(test_what_is_split),
        cmocka_unit_test(test_broken_texts),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
