/* compile/ against NVRTC itself: what good and bad sources become, limits, the cache, the key. */
#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"
#include "compile/compile.h"
#include "compile/includes.h"
#include "compile/lean.h"
#include "compile/log_read.h"
#include "compile/ptx_key.h"
#include "compile/standins.h"
#include "core/task.h"
#include "tests/sanitized.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char matmul[] =
    "__global__ void matmul(const float *A, const float *B, float *C, int n)\n"
    "{\n"
    "    __shared__ float tile[TILE][TILE];\n"
    "    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;\n"
    "    float sum = 0;\n"
    "    for (int k = 0; k < n; k += TILE) {\n"
    "        tile[threadIdx.y][threadIdx.x] = A[y * n + k + threadIdx.x];\n"
    "        __syncthreads();\n"
    "        for (int i = 0; i < TILE; i++)\n"
    "            sum += tile[threadIdx.y][i] * B[(k + i) * n + x];\n"
    "        __syncthreads();\n"
    "    }\n"
    "    C[y * n + x] = sum;\n"
    "}\n";

/* One compilation and all that comes of it. */
struct outcome {
    struct arena *arena;
    struct compilation c;
    enum verdict verdict;
    unsigned line;
    const char *text;
};

static char cache_dir[] = "/tmp/keet-compile-XXXXXX";
static struct compiler *shared;

static struct compiler *make_compiler(const char *dir, double time_s, uint64_t memory)
{
    const struct compiler_options options = {
        .arch = "sm_90a", .cache_dir = dir, .time_limit_s = time_s, .memory_limit_bytes = memory};
    struct err err;
    struct compiler *compiler = compiler_create(&options, &err);

    if (!compiler)
        fail_msg("%s", err.text);
    return compiler;
}

static int setup(void **state)
{
    assert_non_null(mkdtemp(cache_dir));
    shared = make_compiler("", 60, 0);
    return 0;
}

static int teardown(void **state)
{
    char command[64];

    compiler_destroy(shared);
    snprintf(command, sizeof(command), "rm -r %s", cache_dir);
    return system(command);
}

static void compile_with(struct compiler *compiler, struct outcome *o, const char *source,
    const char *kernel, int64_t tile)
{
    const struct tune tune = {.name = "TILE", .value = tile};
    const unsigned line = 77;
    const struct compile_input input = {.source = source,
        .name = "kernel.cu",
        .kernels = &kernel,
        .nr_kernels = 1,
        .kernel_lines = &line,
        .tunes = &tune,
        .nr_tunes = 1};
    struct err err;

    *o = (struct outcome){.arena = arena_create()};
    if (!compile_source(compiler, &input, o->arena, &o->c, &o->verdict, &o->line, &o->text, &err))
        fail_msg("%s", err.text);
}

static void assert_ok(const struct outcome *o)
{
    if (o->verdict != VERDICT_OK)
        fail_msg("%s\n%s", o->text, o->c.log);
}

static void assert_refused(const struct outcome *o, unsigned line, const char *what)
{
    assert_int_equal(o->verdict, VERDICT_NO_COMPILE);
    if (!strstr(o->text, what) || o->line != line)
        fail_msg("line %u: %s\nwanted line %u: %s\n%s", o->line, o->text, line, what, o->c.log);
}

static void test_good_kernel(void **state)
{
    const uint64_t start_ns = clock_ns();
    struct outcome o;

    compile_with(shared, &o, matmul, "matmul", 16);
    assert_ok(&o);
    print_message("compiled in %.0f ms\n", (double)(clock_ns() - start_ns) * 1e-6);
    assert_false(o.c.cached);
    assert_int_equal(o.c.nr_kernels, 1);
    assert_string_equal(o.c.kernels[0].kernel, "matmul");
    assert_string_equal(o.c.kernels[0].lowered, "_Z6matmulPKfS0_Pfi"); /* Itanium C++ ABI */
    assert_non_null(strstr(o.c.ptx, ".entry _Z6matmulPKfS0_Pfi("));
    assert_non_null(strstr(o.c.ptx, ".target sm_90a"));
    assert_non_null(strstr(o.c.ptx, ".loc"));
    assert_int_equal(o.c.ptx_bytes, strlen(o.c.ptx));
    assert_memory_equal(o.c.cubin, "\177ELF", 4);
    assert_in_range(o.c.kernels[0].registers, 10, 255);
    assert_int_equal(o.c.kernels[0].smem_static_bytes, 16 * 16 * 4);
    assert_int_equal(o.c.kernels[0].nr_barriers, 1);
    assert_int_equal(o.c.kernels[0].spill_store_bytes, 0);
    arena_destroy(o.arena);
}

static void test_spills_are_seen(void **state)
{
    static const char source[] = "__global__ void __launch_bounds__(1024) k(float *a)\n"
                                 "{\n"
                                 "    float r[128];\n"
                                 "    #pragma unroll\n"
                                 "    for (int i = 0; i < 128; i++) r[i] = a[i * 1024];\n"
                                 "    __syncthreads();\n"
                                 "    #pragma unroll\n"
                                 "    for (int i = 0; i < 128; i++) a[i * 999] = r[i];\n"
                                 "}\n";
    struct outcome o;

    compile_with(shared, &o, source, "k", 1);
    assert_ok(&o);
    assert_true(o.c.kernels[0].spill_store_bytes > 0);
    assert_true(o.c.kernels[0].spill_load_bytes > 0);
    assert_true(o.c.kernels[0].stack_bytes > 0);
    assert_int_equal(o.c.kernels[0].registers, 64); /* 65536 registers / 1024 threads */
    arena_destroy(o.arena);
}

static void test_template_and_extern_c(void **state)
{
    static const char source[] =
        "template <typename T, int N> __global__ void scale(T *a) { a[threadIdx.x] *= N; }\n"
        "namespace in { __global__ void one(int *a) { *a = 1; } }\n"
        "extern \"C\" __global__ void plain(int *a) { *a = 2; }\n";
    static const char *const kernels[] = {"scale<float, TILE>", "plain", "in::one"};
    const struct tune tune = {.name = "TILE", .value = 4};
    const struct compile_input input = {.source = source,
        .name = "t.cu",
        .kernels = kernels,
        .nr_kernels = 3,
        .tunes = &tune,
        .nr_tunes = 1};
    struct outcome o = {.arena = arena_create()};
    struct err err;

    assert_true(compile_source(shared, &input, o.arena, &o.c, &o.verdict, &o.line, &o.text, &err));
    assert_ok(&o);
    assert_string_equal(o.c.kernels[0].lowered, "_Z5scaleIfLi4EEvPT_");
    assert_string_equal(o.c.kernels[1].lowered, "plain");
    assert_string_equal(o.c.kernels[2].lowered, "_ZN2in3oneEPi");
    for (int i = 0; i < 3; i++)
        assert_true(o.c.kernels[i].registers > 0);
    arena_destroy(o.arena);
}

/* Names that CUDA's headers have for functions of their own; a kernel beside a function of its
 * name. */
static void test_kernels_named_as_functions(void **state)
{
    static const char source[] = "__global__ void norm(const float *x, float *y) { *y = *x; }\n"
                                 "__device__ int max(short *a) { return *a; }\n"
                                 "__global__ void max(int *a) { *a = 1; }\n"
                                 "template <int N> __global__ void some(int *a) { *a = N; }\n";
    static const char *const kernels[] = {"norm", "some<3>", "max"};
    const struct compile_input input = {
        .source = source, .name = "kernel.cu", .kernels = kernels, .nr_kernels = 3};
    struct outcome o = {.arena = arena_create()};
    struct err err;

    assert_true(compile_source(shared, &input, o.arena, &o.c, &o.verdict, &o.line, &o.text, &err));
    assert_ok(&o);
    assert_string_equal(o.c.kernels[0].lowered, "_Z4normPKfPf");
    assert_string_equal(o.c.kernels[1].lowered, "_Z4someILi3EEvPi");
    assert_string_equal(o.c.kernels[2].lowered, "_Z3maxPi");
    arena_destroy(o.arena);
}

static void test_errors_name_the_line(void **state)
{
    static const struct {
        const char *source;
        unsigned line;
        const char *what;
    } rows[] = {
        {"__global__ void k(int *a)\n{\n    *a = nowhere;\n}\n", 3,
            "kernel.cu:3: error: identifier \"nowhere\" is undefined"},
        {"__global__ void k(int *a)\n{\n    *a = 1\n}\n", 4, "expected a \";\""},
        {"template <class T> __device__ int g(T x) { return x.foo; }\n"
         "__global__ void k(int *a) { *a = g(1); }\n",
            1, "must have class type"},
        {"__global__ void other(int *a) { *a = 1; }\n", 77,
            "kernel.cu:77: the launch names k, but there is no such kernel"},
        {"__device__ void k(int *a) { *a = 1; }\n", 77, "no such kernel"},
        {"__global__ void k(float *a)\n{\n    a[1] = 2;\n"
         "    asm volatile(\"bogus.f32 %0;\" ::\"f\"(a[0]));\n}\n",
            4, "bogus"}, /* line 4 of PTX's line information */
        {"\n\n__global__ void k(float *a)\n{\n    __shared__ float s[60000];\n"
         "    s[threadIdx.x] = a[0];\n    __syncthreads();\n    a[1] = s[3];\n}\n",
            3, "240000 bytes of static shared memory"},
        {"#error not today\n__global__ void k(int *a) { *a = 1; }\n", 1, "not today"},
    };
    struct outcome o;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        compile_with(shared, &o, rows[i].source, "k", 1);
        assert_refused(&o, rows[i].line, rows[i].what);
        assert_null(o.c.ptx);
        arena_destroy(o.arena);
    }
}

/* What files use of the standard headers beside functions of the CUDA headers' own. */
static void test_standard_names(void **state)
{
    static const char source[] =
        "#include <cstdint>\n"
        "#include <cmath>\n"
        "#include <functional>\n"
        "#include <utility>\n"
        "static_assert(std::is_same<std::make_signed_t<unsigned>, int>::value, \"\");\n"
        "static_assert(std::conjunction_v<std::true_type, std::is_enum<int>> == false, \"\");\n"
        "static_assert(std::is_trivial<int>::value && std::alignment_of<double>::value == 8, "
        "\"\");\n"
        "static_assert(sizeof(uint_fast64_t) == 8 && UINT64_C(1) << 40 > UINT32_C(5), \"\");\n"
        "template <class F> __device__ uint64_t with(F f, uint64_t a, uint64_t b)\n"
        "{ return f(a, b); }\n"
        "__global__ void k(uint64_t *y)\n"
        "{\n"
        "    uint64_t old = y[0] & UINT64_C(0xffffffffff), was = std::exchange(old, old + 1);\n"
        "    y[0] = with(std::bit_xor<uint64_t>(), was, old) + std::fabsf(std::log2f(4.0f));\n"
        "}\n";
    struct outcome o;

    compile_with(shared, &o, source, "k", 1);
    assert_int_equal(o.verdict, VERDICT_OK);
    arena_destroy(o.arena);
}

static void test_header_error_points_back(void **state)
{
    static const char source[] = "#include <cuda_fp16.h>\n"
                                 "#include <type_traits>\n"
                                 "__global__ void k(int *a)\n"
                                 "{\n"
                                 "    std::make_unsigned_t<float> x = 1;\n"
                                 "    *a = x;\n"
                                 "}\n";
    struct outcome o;

    compile_with(shared, &o, source, "k", 1);
    assert_refused(&o, 5, "in type_traits, line");
    arena_destroy(o.arena);
}

static void test_bombs_end(void **state)
{
    static const char deep[] = "template <int N> struct F { enum { v = F<N + 1>::v + 1 }; };\n"
                               "__global__ void k(int *a) { *a = F<0>::v; }\n";
    static const char wide[] =
        "template <class A, class B> struct P {};\n"
        "template <int N, class T> struct W { typedef typename W<N - 1, P<T, P<int, T>>>::t t; };\n"
        "template <class T> struct W<0, T> { typedef T t; };\n"
        "template <int N, int M> struct X { static const int v = X<N - 1, M * 2>::v +\n"
        "    X<N - 1, M * 2 + 1>::v; };\n"
        "template <int M> struct X<0, M> { static const int v = M; };\n"
        "__global__ void k(int *a) { W<40, int>::t t; (void)t; *a = X<26, 1>::v; }\n";
    static const char macros[] = "#define A(x) x + x + x + x + x + x + x + x\n"
                                 "#define B(x) A(A(A(x)))\n"
                                 "__global__ void k(int *a) { *a = B(B(B(B(1)))); }\n";
    struct compiler *strict;
    const uint64_t start_ns = clock_ns();
    struct outcome o;

    if (KEET_SANITIZED)
        skip(); /* NVRTC has no sanitizers; that a child is ended is seen below, too */
    strict = make_compiler("", 2, (uint64_t)400 << 20);

    compile_with(shared, &o, deep, "k", 1);
    assert_refused(&o, 1, "kernel.cu:1: ");
    arena_destroy(o.arena);
    compile_with(strict, &o, wide, "k", 1);
    assert_refused(&o, 0, "compiling took");
    arena_destroy(o.arena);
    /* The limit is felt by the compiler, which says so, or noticed by us first. */
    compile_with(strict, &o, macros, "k", 1);
    assert_int_equal(o.verdict, VERDICT_NO_COMPILE);
    assert_true(strstr(o.text, "kernel.cu:3: catastrophic error: out of memory") ||
                strstr(o.text, "kernel.cu: compiling took"));
    arena_destroy(o.arena);
    assert_true(clock_ns() - start_ns < 60000000000u);
    compile_with(strict, &o, matmul, "matmul", 8); /* the next one is served as ever */
    assert_ok(&o);
    arena_destroy(o.arena);
    compiler_destroy(strict);
}

static void test_host_files_stay_closed(void **state)
{
    static const struct {
        const char *directive, *what;
        unsigned line;
    } rows[] = {
        {"#include \"/etc/passwd\"",
            "kernel.cu:2: #include of \"/etc/passwd\" is not allowed: a "
            "candidate may include CUDA and CCCL headers only",
            2},
        {"  #  include /* x */ </etc/passwd>", "</etc/passwd>", 2},
        {"#include \"../../../etc/passwd\"", "../../../etc/passwd", 2},
        {"#include \"cuda/../../../../../etc/passwd\"", "not allowed", 2},
        {"#include \"etc/passwd\"", "not allowed", 2},
        {"#inc\\\nlude \"/etc/passwd\"", "not allowed", 2},
        {"%: include \"/etc/passwd\"", "not allowed", 2},
        {"/* a\n*/ #include \"/etc/passwd\"", "not allowed", 3},
        {"#define F \"/etc/passwd\"\n#include F", "#include of a macro", 3},
        {"#import \"/etc/passwd\"", "not allowed", 2},
        {"const char *s = \"/*\"; // \"\n#include \"/etc/passwd\"", "not allowed", 3},
        {"const char *s = R\"x(/*\n)x\";\n#include \"/etc/passwd\"", "not allowed", 4},
        {"int n = 1'000;\n#include \"/etc/passwd\"", "not allowed", 3},
        {"#include <iostream>", "<iostream>", 2},
        {"#include \"\"", "not allowed", 2},
        /* An identifier that ends like the prefix of a raw literal makes none. */
        {"#define FOOUR \nconst char *s = FOOUR\"(\";\n#include \"/etc/passwd\" // )\"",
            "not allowed", 4},
        {"#embed \"/etc/passwd\"", "not allowed", 2},
        {"#include \"/dev/zero\"", "not allowed", 2},
        {"#include \"/dev/stdin\"", "not allowed", 2},
        {"#if __has_include(\"/etc/passwd\")\n#endif", "__has_include of \"/etc/passwd\"", 2},
        {"#if __has_include(\"etc/passwd\")\n#endif", "__has_include of \"etc/passwd\"", 2},
        {"#if 1 && __has_include_next(</etc/passwd>)\n#endif", "not allowed", 2},
        {"#define H __has_include\n#if H(\"/etc/passwd\")\n#endif", "__has_include", 2},
        {"#if __has_embed(\"/etc/passwd\")\n#endif", "__has_embed", 2},
    };
    struct outcome o;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char source[512];
        snprintf(source, sizeof(source), "// first\n%s\n__global__ void k(int *a) { *a = 1; }\n",
            rows[i].directive);
        compile_with(shared, &o, source, "k", 1);
        assert_refused(&o, rows[i].line, rows[i].what);
        assert_null(strstr(o.c.log, "root:"));
        arena_destroy(o.arena);
    }
}

static void test_what_is_not_an_include(void **state)
{
    static const char source[] = "// #include \"/etc/passwd\"\n"
                                 "/*\n#include \"/etc/passwd\"\n*/\n"
                                 "#define X(a) #a\n"
                                 "const char *s = X(include) \"\\\"\\n#include \";\n"
                                 "const char *r = R\"(\n#include \"/etc/passwd\"\n)\";\n"
                                 "int a = 5 %\n3;\n"
                                 "int b = 10 / 2;\n"
                                 "#pragma once\n";
    static const char *const dirs[] = {NULL};
    struct str what = {0};
    unsigned line;

    assert_true(includes_allowed(source, dirs, &line, &what));
    str_finish(&what);
}

static void test_standins_and_cuda_headers(void **state)
{
    static const char use[] =
        "static_assert(sizeof(int64_t) == 8 && sizeof(uint8_t) == 1 && INT32_MAX == 2147483647, "
        "\"\");\n"
        "static_assert(std::is_same_v<std::remove_cvref_t<const int &>, int>, \"\");\n"
        "static_assert(!std::is_floating_point_v<int> && std::is_unsigned_v<unsigned>, \"\");\n"
        "static_assert(std::numeric_limits<short>::max() == 32767 &&\n"
        "    std::numeric_limits<float>::lowest() == -FLT_MAX, \"\");\n"
        "static_assert(std::is_same_v<decltype(std::move(*(int *)0)), int &&>, \"\");\n"
        "static_assert(std::make_index_sequence<3>::size() == 3 && CHAR_BIT == 8, \"\");\n"
        "__global__ void k(float *a, std::size_t n)\n"
        "{\n"
        "    assert(n > 0);\n"
        "    float x = std::max(a[0], std::numeric_limits<float>::infinity());\n"
        "    a[1] = std::fmaxf(x, -INFINITY) + std::sqrt(a[2]) + (float)M_PI + expf(a[3]);\n"
        "    if (isnan(a[1])) printf(\"%f\", a[1]);\n"
        "}\n";
    static const char *const cuda[] = {"", "#include <cuda_fp16.h>\n#include <mma.h>\n",
        "#include <cooperative_groups.h>\n#include <cuda/pipeline>\n#include <cuda/std/limits>\n"};
    struct str source = {0};
    struct outcome o;

    if (KEET_SANITIZED)
        skip(); /* NVRTC has no sanitizers */
    for (size_t i = 0; i < sizeof(cuda) / sizeof(cuda[0]); i++) {
        for (int order = i != 1; order < 2; order++) {
            str_clear(&source);
            str_add(&source, order ? cuda[i] : "");
            for (unsigned s = 0; s < nr_standins; s++)
                str_addf(&source, "#include <%s>\n", standins[s].name);
            str_add(&source, order ? "" : cuda[i]);
            str_add(&source, use);
            compile_with(shared, &o, source.text, "k", 1);
            assert_ok(&o);
            arena_destroy(o.arena);
        }
    }
    str_finish(&source);
}

/* A program on tf32 compiles to the same with all of the headers and with what is left of them. */
static void test_lean_headers_change_nothing(void **state)
{
    static const char source[] =
        "#include <cuda_pipeline.h>\n#include <mma.h>\n"
        "using namespace nvcuda;\n"
        "__global__ void k(const float *a, const float *b, float *c)\n"
        "{\n"
        "    __shared__ __align__(16) float s[256];\n"
        "    __pipeline_memcpy_async(&s[4 * threadIdx.x], &a[4 * threadIdx.x], 16);\n"
        "    __pipeline_commit();\n"
        "    __pipeline_wait_prior(0);\n"
        "    __syncthreads();\n"
        "    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> x;\n"
        "    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> y;\n"
        "    wmma::fragment<wmma::accumulator, 16, 16, 8, float> z;\n"
        "    wmma::fill_fragment(z, 0.0f);\n"
        "    wmma::load_matrix_sync(x, s, 8);\n"
        "    wmma::load_matrix_sync(y, b, 16);\n"
        "    wmma::mma_sync(z, x, y, z);\n"
        "    wmma::store_matrix_sync(c, z, 16, wmma::mem_row_major);\n"
        "}\n";
    struct str whole = {0};
    struct outcome lean, all;

    assert_true(lean_suffices(source));
    str_addf(&whole, "%s// half\n", source);
    assert_false(lean_suffices(str_text(&whole)));
    compile_with(shared, &lean, source, "k", 1);
    compile_with(shared, &all, str_text(&whole), "k", 1);
    assert_ok(&lean);
    assert_ok(&all);
    assert_string_equal(lean.c.ptx, all.c.ptx);
    assert_int_equal(lean.c.cubin_bytes, all.c.cubin_bytes);
    assert_memory_equal(lean.c.cubin, all.c.cubin, all.c.cubin_bytes);
    str_finish(&whole);
    arena_destroy(lean.arena);
    arena_destroy(all.arena);
}

/* What the first attempt leaves out is there after all for a program that needs it. */
static void test_programs_that_need_more(void **state)
{
    static const char *const sources[] = {
        /* textures are declared for all programs, though not at first */
        "__global__ void k(cudaTextureObject_t t, float *c) { c[0] = tex2D<float>(t, 1, 2); }\n",
        /* a name in two pieces, so that no word tells that it is used */
        "#include <cuda_pipeline.h>\n"
        "#define JOIN(a, b) a##b\n"
        "__global__ void k(float *c)\n"
        "{\n"
        "    c[0] = sizeof(nvcuda::JOIN(experi, mental)::pipeline);\n"
        "}\n"};
    struct outcome o;

    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        compile_with(shared, &o, sources[i], "k", 1);
        assert_ok(&o);
        assert_non_null(strstr(o.c.ptx, i == 0 ? "tex.2d" : "st.global"));
        arena_destroy(o.arena);
    }
    assert_true(lean_suffices(sources[1]));
    /* an error is that of the whole headers */
    compile_with(shared, &o, "#include <mma.h>\n__global__ void k(int *c) { c = oops; }\n", "k", 1);
    assert_refused(&o, 2, "identifier \"oops\" is undefined");
    arena_destroy(o.arena);
}

/* Which programs get the lean headers. */
static void test_who_gets_lean_headers(void **state)
{
    static const char *const whole[] = {"", "int x;\n", "#include <cuda_fp16.h>\n",
        "#include <mma.h>\n#include <cub/cub.cuh>\n", "#include <mma.h>\n__HALF x;\n",
        "#include <mma.h>\n#include \\\n<cuda_fp16.h>\n", "#include <mma.h>\n__mbarrier_t x;\n",
        "#include <mma.h>\n#include MACRO\n", "#include <mma.h>\nBF16 x;\n"};
    static const char *const lean[] = {"#include <mma.h>\n",
        "// a product\n#  include <cuda_pipeline_primitives.h>\n#include\t<mma.h> // x\n"};

    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
        if (lean_suffices(whole[i]))
            fail_msg("lean: %s", whole[i]);
    for (size_t i = 0; i < sizeof(lean) / sizeof(lean[0]); i++)
        if (!lean_suffices(lean[i]))
            fail_msg("whole: %s", lean[i]);
}

/* Parameters with the names that headers use for their own things; lines stay what they were. */
static void test_tunes_stay_out_of_headers(void **state)
{
    static const char source[] = "#if T != 5\n#error T\n#endif\n"
                                 "/* two\nlines */ #include <cuda_fp16.h> /* and\nmore */ // x\n"
                                 "#include <type_traits>\n"
                                 "__global__ void k(__half *a)\n"
                                 "{\n"
                                 "    a[N] = __float2half(T);\n"
                                 "    int x = nowhere;\n"
                                 "}\n";
    static const struct tune tunes[] = {{.name = "T", .value = 5}, {.name = "N", .value = -1}};
    static const char *const kernel = "k";
    const struct compile_input input = {.source = source,
        .name = "t.cu",
        .kernels = &kernel,
        .nr_kernels = 1,
        .tunes = tunes,
        .nr_tunes = 2};
    struct outcome o = {.arena = arena_create()};
    struct err err;

    assert_true(compile_source(shared, &input, o.arena, &o.c, &o.verdict, &o.line, &o.text, &err));
    assert_refused(&o, 11, "t.cu:11: error: identifier \"nowhere\" is undefined");
    assert_null(strstr(o.text, "more error"));
    arena_destroy(o.arena);
}

static char *only_entry(void)
{
    struct str path = {0};
    DIR *dir = opendir(cache_dir);

    for (struct dirent *d = readdir(dir); d; d = readdir(dir)) {
        if (d->d_name[0] == '.')
            continue;
        assert_int_equal(path.len, 0);
        str_addf(&path, "%s/%s", cache_dir, d->d_name);
    }
    closedir(dir);
    assert_true(path.len > 0);
    return str_take(&path);
}

static void assert_same(const struct outcome *a, const struct outcome *b)
{
    assert_int_equal(a->c.ptx_bytes, b->c.ptx_bytes);
    assert_memory_equal(a->c.ptx, b->c.ptx, a->c.ptx_bytes);
    assert_int_equal(a->c.cubin_bytes, b->c.cubin_bytes);
    assert_memory_equal(a->c.cubin, b->c.cubin, a->c.cubin_bytes);
    assert_string_equal(a->c.log, b->c.log);
    assert_string_equal(a->c.kernels[0].lowered, b->c.kernels[0].lowered);
    assert_int_equal(a->c.kernels[0].registers, b->c.kernels[0].registers);
    assert_int_equal(a->c.key.low, b->c.key.low);
}

static void test_cache(void **state)
{
    struct compiler *compiler = make_compiler(cache_dir, 60, 0);
    struct outcome first, again, other;
    size_t len, places[4];
    char *path, *bytes;
    struct err err;

    compile_with(compiler, &first, matmul, "matmul", 16);
    assert_ok(&first);
    assert_false(first.c.cached);
    path = only_entry();
    compile_with(compiler, &again, matmul, "matmul", 16);
    assert_true(again.c.cached);
    assert_same(&first, &again);
    arena_destroy(again.arena);

    /* One bit wrong, in turn in the header, the PTX, the cubin and at the end; then a short file.
     */
    assert_true(file_read(path, 1 << 30, &bytes, &len, &err));
    places[0] = 9;
    places[1] = 300;
    places[2] = len / 2;
    places[3] = len - 1;
    for (size_t i = 0; i <= 4; i++) {
        if (i < 4)
            bytes[places[i]] ^= 4;
        assert_true(file_write(path, bytes, i < 4 ? len : len / 3, &err));
        if (i < 4)
            bytes[places[i]] ^= 4;
        compile_with(compiler, &again, matmul, "matmul", 16);
        assert_ok(&again);
        assert_false(again.c.cached);
        assert_same(&first, &again);
        arena_destroy(again.arena);
        compile_with(compiler, &again, matmul, "matmul", 16);
        assert_true(again.c.cached);
        arena_destroy(again.arena);
    }
    free(bytes);
    free(path);

    compile_with(compiler, &other, matmul, "matmul", 8);
    assert_ok(&other);
    assert_false(other.c.cached);
    assert_int_not_equal(other.c.key.low, first.c.key.low);
    arena_destroy(other.arena);
    arena_destroy(first.arena);
    compiler_destroy(compiler);
}

static void test_cache_folder_that_cannot_be(void **state)
{
    struct compiler *compiler = make_compiler("/dev/null/cache", 60, 0);
    struct outcome o;

    compile_with(compiler, &o, matmul, "matmul", 16);
    assert_ok(&o);
    arena_destroy(o.arena);
    compiler_destroy(compiler);
}

/* Lines, comments and blank lines are no part of what a kernel is; its code is. */
static void test_key(void **state)
{
    static const char a[] = "__global__ void k(float *a) { a[threadIdx.x] *= 2; }\n";
    static const char b[] = "// the same\n\n__global__ void k(float *a)\n{\n"
                            "    int unused = threadIdx.x; a[threadIdx.x] *= 2;\n}\n";
    static const char c[] = "__global__ void k(float *a) { a[threadIdx.x] *= 3; }\n";
    struct outcome x, y, z;

    compile_with(shared, &x, a, "k", 1);
    compile_with(shared, &y, b, "k", 1);
    compile_with(shared, &z, c, "k", 1);
    assert_ok(&x);
    assert_ok(&y);
    assert_ok(&z);
    assert_string_not_equal(x.c.ptx, y.c.ptx);
    assert_memory_equal(&x.c.key, &y.c.key, sizeof(x.c.key));
    assert_memory_not_equal(&x.c.key, &z.c.key, sizeof(x.c.key));
    arena_destroy(x.arena);
    arena_destroy(y.arena);
    arena_destroy(z.arena);
}

static void test_ptx_essence(void **state)
{
    static const char ptx[] = "// made by\n.version 9.0\n\n\t.loc\t1 2 3\n"
                              "\t.loc 1 9 0, function_name $L__info0, inlined_at 1 2 3\n"
                              "\tadd.s32 \t%r1,  %r2, 1; // sum\n.file\t1 \"x.cu\"\n"
                              "\t.section\t.debug_str\n\t{\n$L__info0:\n.b8 1,2\n\t}\nret;\n";
    struct str s = {0};

    ptx_essence(ptx, strlen(ptx), &s);
    assert_string_equal(str_text(&s), ".version 9.0\nadd.s32 %r1, %r2, 1;\nret;\n");
    str_finish(&s);
}

static void test_facts_of_functions_and_constants(void **state)
{
    static const char log[] = "ptxas info    : 0 bytes gmem, 12 bytes cmem[3]\n"
                              "ptxas info    : Compiling entry function 'ab' for 'sm_90a'\n"
                              "ptxas info    : Function properties for helper\n"
                              "ptxas         .     99 bytes stack frame, 9 bytes spill stores, 9 "
                              "bytes spill loads\n"
                              "ptxas info    : Function properties for ab\n"
                              "ptxas         .     8 bytes stack frame, 4 bytes spill stores, 12 "
                              "bytes spill loads\n"
                              "ptxas info    : Used 32 registers, used 2 barriers, 8 bytes "
                              "cumulative stack size, 2048 bytes smem, 400 bytes cmem[0], 20 bytes "
                              "cmem[2]\n"
                              "ptxas info    : Compiling entry function 'a' for 'sm_90a'\n"
                              "ptxas info    : Used 7 registers, used 0 barriers\n";
    struct kernel_facts f[2] = {{.lowered = "a"}, {.lowered = "ab"}};

    log_read_facts(log, f, 2);
    assert_int_equal(f[0].registers, 7);
    assert_int_equal(f[0].nr_barriers, 0);
    assert_int_equal(f[0].stack_bytes, 0);
    assert_int_equal(f[1].registers, 32);
    assert_int_equal(f[1].nr_barriers, 2);
    assert_int_equal(f[1].stack_bytes, 8);
    assert_int_equal(f[1].spill_store_bytes, 4);
    assert_int_equal(f[1].spill_load_bytes, 12);
    assert_int_equal(f[1].smem_static_bytes, 2048);
    assert_int_equal(f[1].const_bytes, 420);
}

static void compile_file(struct candidate *c, struct task *task, const char *path)
{
    struct err err;

    *c = (struct candidate){.arena = arena_create(), .task = task};
    if (!task_load(task, c->arena, path, &err))
        fail_msg("%s", err.text);
    c->source = task->source;
    c->source_bytes = task->source_bytes;
    c->plan = task->plan;
    if (!compile_kernel(shared, c, &err))
        fail_msg("%s", err.text);
}

/* Some of the suite's kernels: all are compiled, and run, by tests/kernels. */
static void test_kernels_of_the_suite(void **state)
{
    DIR *dir = opendir(KEET_SOURCE_DIR "/kernels");
    unsigned nr = 0;

    assert_non_null(dir);
    for (struct dirent *d = readdir(dir); d; d = readdir(dir)) {
        struct candidate c;
        struct task task;
        char path[1024];

        if (!str_ends(d->d_name, ".cu"))
            continue;
        if (nr++ % 8 != 0)
            continue;
        snprintf(path, sizeof(path), "%s/kernels/%s", KEET_SOURCE_DIR, d->d_name);
        compile_file(&c, &task, path);
        if (c.verdict != VERDICT_OK)
            fail_msg("%s", c.verdict_text);
        for (unsigned i = 0; i < c.compilation.nr_kernels; i++)
            assert_true(c.compilation.kernels[i].registers > 0);
        arena_destroy(c.arena);
    }
    closedir(dir);
    assert_true(nr >= 2);
}

static struct hash key_of_text(const char *launch, const char *tune, const char *body)
{
    char path[] = "/tmp/keet-key-XXXXXX.cu";
    const int fd = mkstemps(path, 3);
    struct candidate c;
    struct task task;
    struct hash key;

    assert_true(fd >= 0);
    dprintf(fd,
        "#pragma keet size N = 64\n#pragma keet inout A : f32[N]\n%s"
        "#pragma keet launch %s\n"
        "__global__ void k(float *a) { %s }\n",
        tune, launch, body);
    close(fd);
    compile_file(&c, &task, path);
    unlink(path);
    if (c.verdict != VERDICT_OK)
        fail_msg("%s", c.verdict_text);
    key = c.compilation.key;
    arena_destroy(c.arena);
    return key;
}

/* Same code and same launches are the same kernel; a tuning parameter counts where it is used. */
static void test_key_of_a_candidate(void **state)
{
    static const char twice[] = "a[threadIdx.x] *= 2;";
    const struct hash base = key_of_text("k<<<1, N>>>(A)", "", twice);
    struct hash key;

    key = key_of_text("k<<< 1 , N >>>( A )", "", "// twice\n  a[threadIdx.x] *= 2;");
    assert_memory_equal(&key, &base, sizeof(key));
    key = key_of_text("k<<<1, N>>>(A)", "#pragma keet tune T = 2 in {1, 2}\n", twice);
    assert_memory_equal(&key, &base, sizeof(key));
    key = key_of_text("k<<<2, 32>>>(A)", "", twice);
    assert_memory_not_equal(&key, &base, sizeof(key));
    key = key_of_text("k<<<1, N>>>(A)", "", "a[threadIdx.x] *= 3;");
    assert_memory_not_equal(&key, &base, sizeof(key));
    key = key_of_text("k<<<1, N/T>>>(A)", "#pragma keet tune T = 1 in {1, 2}\n", twice);
    assert_memory_not_equal(&key, &base, sizeof(key));
}

/* Whatever kills the child, the caller lives on. */
static void test_child_that_is_killed(void **state)
{
    struct compiler *hasty = make_compiler("", 0.003, 0);
    struct outcome o;

    compile_with(hasty, &o, matmul, "matmul", 16);
    assert_refused(&o, 0, "longer than the limit of 0.003 s");
    arena_destroy(o.arena);
    compiler_destroy(hasty);
}

static void test_no_toolkit_is_an_error(void **state)
{
    const char *before = getenv("KEET_CUDA");
    char *kept = before ? strdup(before) : NULL;
    const struct compiler_options options = {.arch = "sm_90a", .cache_dir = ""};
    struct err err;

    setenv("KEET_CUDA", "/nonexistent/toolkit", 1);
    assert_null(compiler_create(&options, &err));
    assert_non_null(strstr(err.text, "/nonexistent/toolkit"));
    assert_non_null(strstr(err.text, "setup.sh"));
    if (kept)
        setenv("KEET_CUDA", kept, 1);
    else
        unsetenv("KEET_CUDA");
    free(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_kernel),
        cmocka_unit_test(test_spills_are_seen),
        cmocka_unit_test(test_template_and_extern_c),
        cmocka_unit_test(test_errors_name_the_line),
        cmocka_unit_test(test_kernels_named_as_functions),
        cmocka_unit_test(test_standard_names),
        cmocka_unit_test(test_header_error_points_back),
        cmocka_unit_test(test_bombs_end),
        cmocka_unit_test(test_host_files_stay_closed),
        cmocka_unit_test(test_what_is_not_an_include),
        cmocka_unit_test(test_standins_and_cuda_headers),
        cmocka_unit_test(test_lean_headers_change_nothing),
        cmocka_unit_test(test_programs_that_need_more),
        cmocka_unit_test(test_who_gets_lean_headers),
        cmocka_unit_test(test_tunes_stay_out_of_headers),
        cmocka_unit_test(test_cache),
        cmocka_unit_test(test_cache_folder_that_cannot_be),
        cmocka_unit_test(test_key),
        cmocka_unit_test(test_ptx_essence),
        cmocka_unit_test(test_facts_of_functions_and_constants),
        cmocka_unit_test(test_kernels_of_the_suite),
        cmocka_unit_test(test_key_of_a_candidate),
        cmocka_unit_test(test_child_that_is_killed),
        cmocka_unit_test(test_no_toolkit_is_an_error),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
