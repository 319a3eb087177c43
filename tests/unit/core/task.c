/* Owns the tests of the task language: what is read, where errors point, what breaks the contract.
 */
#include "base/arena.h"
#include "core/task.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static int setup(void **state)
{
    *state = arena_create();
    return 0;
}

static int teardown(void **state)
{
    arena_destroy(*state);
    return 0;
}

#define KERNEL "__global__ void f(const float *A, float *C, int M) {}\n"

static const char whole[] =
    "// a task\n"
    "#pragma keet size   M = 1024, N = 2*M, K = 1e2 \\\n"
    "                    , L = 0x10 // sixteen\n"
    "#pragma keet check  M = 129, K = 33\n"
    "#pragma keet check  N = 7, M = 5, L = 1, K = 2\n"
    "#pragma keet in     A : f32[M][K] = uniform(-0.5, 2e0)  /* a comment */\n"
    "#pragma keet in     I : i32[M+1] = sorted(0, N)\n"
    "#pragma keet in     D : u8[L]\n"
    "#pragma keet inout  S : f64[K] = constant(2.5)\n"
    "#pragma keet out    C : bf16[M][N]\n"
    "#pragma keet expect C = file(\"c.npy\")\n"
    "#pragma keet scalar alpha : f32 = -1.5e-1\n"
    "#pragma keet scalar n : i32 = 3\n"
    "#pragma keet tolerance rel = 1e-3, abs = 1e-4\n"
    "#pragma keet work   flops = 2*M*N*K, bytes = min(M, N)\n"
    "#pragma keet launch g<float, 4><<<dim3(ceil_div(N,TILE), 2), dim3(TILE,TILE), 4*TILE>>>"
    "(A, I, C, ws, alpha, n, M, N >> 1, D, S)\n"
    "  #  pragma keet launch ns::h<<<2*ceil_div(M, TILE), (32)>>>() cluster(2, 1)\n"
    "#pragma keet tune   TILE = 16 in {8, 16, 32}\n"
    "#pragma keet tune   U = 1<<2\n"
    "#pragma keet temp   ws : f32[TILE][M]\n"
    "#pragma keet where  TILE*TILE <= 1024\n"
    "#pragma keet reference r<<<M, 32>>>(A, C)\n"
    "/*\n#pragma keet size X = 1\n*/\n"
    "const char *s = R\"(\n#pragma keet nonsense\n)\";\n"
    "__global__ void f() { int x = 1'000; }\n";

/* What a file's array has at other sizes. */
static void test_file_elsewhere(void **state)
{
    static const char text[] =
        "#pragma keet size   M = 8\n"
        "#pragma keet in     A : i32[M] = file(\"a.npy\", sorted(0, M - 1))\n"
        "#pragma keet in     B : f32[M] = file(\"b.npy\")\n"
        "#pragma keet out    C : f32[M]\n"
        "#pragma keet launch f<<<1, 32>>>(A, C, M)\n" KERNEL;
    struct task t;
    struct err err = {.text = ""};

    if (!task_parse(&t, *state, "k.cu", text, strlen(text), &err))
        fail_msg("%s", err.text);
    assert_int_equal(t.arrays[0].gen.kind, GEN_FILE);
    assert_string_equal(t.arrays[0].gen.path, "a.npy");
    assert_non_null(t.arrays[0].gen.elsewhere);
    assert_int_equal(t.arrays[0].gen.elsewhere->kind, GEN_SORTED);
    assert_non_null(t.arrays[0].gen.elsewhere->b_int);
    assert_null(t.arrays[1].gen.elsewhere);
}

static void test_whole(void **state)
{
    struct task t;
    struct err err = {.text = ""};

    if (!task_parse(&t, *state, "k.cu", whole, strlen(whole), &err))
        fail_msg("%s", err.text);
    assert_int_equal(t.timed.sizes.nr, 4);
    assert_int_equal(t.timed.sizes.bindings[1].value, 2048);
    assert_int_equal(t.timed.sizes.bindings[2].value, 100);
    assert_int_equal(t.timed.sizes.bindings[3].value, 16);
    assert_int_equal(t.nr_checks, 2);
    /* what a check leaves out: N follows M, L stays as timed */
    assert_int_equal(t.checks[0].sizes.bindings[0].value, 129);
    assert_int_equal(t.checks[0].sizes.bindings[1].value, 258);
    assert_int_equal(t.checks[0].sizes.bindings[3].value, 16);
    assert_int_equal(t.checks[1].sizes.bindings[1].value, 7);
    assert_int_equal(t.checks[1].line, 5);
    assert_int_equal(t.nr_arrays, 5);
    assert_string_equal(t.arrays[0].name, "A");
    assert_int_equal(t.arrays[0].nr_dims, 2);
    assert_true(t.arrays[0].gen.a == -0.5 && t.arrays[0].gen.b == 2);
    assert_int_equal(t.arrays[1].gen.kind, GEN_SORTED);
    assert_string_equal(expr_text(t.arrays[1].gen.b_int), "N");
    assert_int_equal(t.arrays[2].gen.kind, GEN_INTEGERS);
    assert_int_equal(t.arrays[3].role, ROLE_INOUT);
    assert_true(t.arrays[3].gen.a == 2.5);
    assert_int_equal(t.arrays[4].elem, ELEM_BF16);
    assert_string_equal(t.arrays[4].expect_path, "c.npy");
    assert_int_equal(t.arrays[4].line, 10);
    assert_int_equal(t.nr_scalars, 2);
    assert_true(t.scalars[0].value == -0.15 && t.scalars[1].value == 3);
    assert_true(t.has_tolerance && t.tolerance.rel == 1e-3 && t.tolerance.abs == 1e-4);
    assert_string_equal(expr_text(t.work[WORK_FLOPS]), "2*M*N*K");
    assert_string_equal(t.reference->kernel, "r");
    assert_int_equal(t.plan.nr_tunes, 2);
    assert_int_equal(t.plan.tunes[0].nr_choices, 3);
    assert_int_equal(t.plan.tunes[1].value, 4);
    assert_int_equal(t.plan.nr_temps, 1);
    assert_int_equal(t.plan.nr_wheres, 1);
    assert_int_equal(t.plan.nr_launches, 2);
}

struct mixed {
    int8_t a;
    double x[2];
    bool flag;
    uint16_t count;
    float y[3];
};

/* Values of structs stand where the compiler of this test puts them. */
static void test_structs(void **state)
{
    static const char text[] = "#pragma keet size N = 8\n"
                               "#pragma keet in A : { i8, f64[1+1],bool , u16, f32[3] }[N][2]\n"
                               "#pragma keet inout B : {u8}[N] = constant(3)\n"
                               "#pragma keet launch f<<<1, 32>>>(A, B)\n__global__ void f() {}\n";
    static const struct {
        enum elem elem;
        size_t offset;
    } expected[] = {{ELEM_I8, offsetof(struct mixed, a)}, {ELEM_F64, offsetof(struct mixed, x)},
        {ELEM_F64, offsetof(struct mixed, x[1])}, {ELEM_BOOL, offsetof(struct mixed, flag)},
        {ELEM_U16, offsetof(struct mixed, count)}, {ELEM_F32, offsetof(struct mixed, y)},
        {ELEM_F32, offsetof(struct mixed, y[1])}, {ELEM_F32, offsetof(struct mixed, y[2])}};
    struct task t;
    struct err err = {.text = ""};
    uint64_t nr;

    if (!task_parse(&t, *state, "k.cu", text, strlen(text), &err))
        fail_msg("%s", err.text);
    const struct task_array *a = &t.arrays[0];
    assert_int_equal(a->record->bytes, sizeof(struct mixed));
    assert_int_equal(a->record->nr, 8);
    assert_string_equal(a->record->text, "{i8,f64[1+1],bool,u16,f32[3]}");
    assert_int_equal(a->gen.kind, GEN_VALUES);
    assert_true(array_elems(a, &t.timed.sizes, &nr, &err));
    assert_int_equal(nr, 8 * 2 * 8);
    assert_int_equal(array_bytes(a, nr), 16 * sizeof(struct mixed));
    for (uint64_t i = 0; i < nr; i++) {
        enum elem elem;

        assert_int_equal(
            array_place(a, i, &elem), i / 8 * sizeof(struct mixed) + expected[i % 8].offset);
        assert_int_equal(elem, expected[i % 8].elem);
    }
    assert_int_equal(t.arrays[1].record->bytes, 1);
    assert_int_equal(t.arrays[1].gen.kind, GEN_CONSTANT);
}

/* Fields of a parameter that is a struct: arrays, scalars, integers with their types. */
static void test_struct_arguments(void **state)
{
    static const char text[] =
        "#pragma keet size N = 8\n#pragma keet tune T = 4\n#pragma keet in A : f32[N]\n"
        "#pragma keet out C : f32[N]\n#pragma keet scalar alpha : f16 = 1.5\n"
        "#pragma keet launch f<<<1, T>>>({ A,N > 2 ? min(N, T) : 0 : u8 , alpha}, {}, C,{1:bool})\n"
        "__global__ void f() {}\n";
    static const char *const leaves[] = {"A", NULL, "alpha", "C", NULL};
    struct task t;
    struct err err = {.text = ""};

    if (!task_parse(&t, *state, "k.cu", text, strlen(text), &err))
        fail_msg("%s", err.text);
    const struct launch *l = &t.plan.launches[0];
    assert_int_equal(l->nr_args, 4);
    assert_int_equal(l->args[0].kind, ARG_STRUCT);
    assert_string_equal(l->args[0].name, "{ A,N > 2 ? min(N, T) : 0 : u8 , alpha}");
    assert_int_equal(l->args[0].nr_fields, 3);
    assert_int_equal(l->args[0].fields[0].kind, ARG_ARRAY);
    assert_int_equal(l->args[0].fields[1].kind, ARG_INTEGER);
    assert_int_equal(l->args[0].fields[1].elem, ELEM_U8);
    assert_string_equal(expr_text(l->args[0].fields[1].value), "N > 2 ? min(N, T) : 0");
    assert_int_equal(l->args[0].fields[2].kind, ARG_SCALAR);
    assert_int_equal(l->args[1].kind, ARG_STRUCT);
    assert_int_equal(l->args[1].nr_fields, 0);
    assert_int_equal(l->args[2].kind, ARG_ARRAY);
    assert_int_equal(l->args[3].fields[0].elem, ELEM_BOOL);
    for (unsigned i = 0; i < 5; i++) {
        const struct launch_arg *leaf = launch_leaf(l, i);

        assert_true(leaves[i] ? strcmp(leaf->name, leaves[i]) == 0 : leaf->kind == ARG_INTEGER);
    }
    assert_null(launch_leaf(l, 5));
}

/* Textures: extents and words in any order; pointers into arrays. */
static void test_views(void **state)
{
    static const char text[] = "#pragma keet size w = 8, h = 4\n#pragma keet in A : "
                               "f32[h][w]\n#pragma keet out C : f32[h][w]\n"
                               "#pragma keet launch f<<<1, 32>>>(C + w*(h - 1), texture( A , w, "
                               "linear, h, mirror , normalized), "
                               "texture(A, w*h, layered, floats))\n__global__ void f() {}\n";
    struct task t;
    struct err err = {.text = ""};

    if (!task_parse(&t, *state, "k.cu", text, strlen(text), &err))
        fail_msg("%s", err.text);
    const struct launch_arg *args = t.plan.launches[0].args;

    assert_int_equal(args[0].kind, ARG_ARRAY);
    assert_string_equal(args[0].name, "C");
    assert_string_equal(expr_text(args[0].value), "w*(h - 1)");
    assert_int_equal(args[1].kind, ARG_TEXTURE);
    assert_string_equal(args[1].name, "A");
    assert_int_equal(args[1].texture->nr_dims, 2);
    assert_string_equal(expr_text(args[1].texture->size[1]), "h");
    assert_int_equal(args[1].texture->mode, TEXTURE_MIRROR);
    assert_true(args[1].texture->linear && args[1].texture->normalized);
    assert_false(args[1].texture->floats || args[1].texture->layered || args[1].texture->cube);
    assert_true(args[2].texture->layered && args[2].texture->floats);
    assert_int_equal(args[2].texture->mode, TEXTURE_CLAMP);
    assert_true(launch_uses(&t.plan.launches[0], "h") && launch_uses(&t.plan.launches[0], "w"));
    assert_false(
        launch_config_uses(&t.plan.launches[0], "h") || launch_uses(&t.plan.launches[0], "x"));
}

static void test_launches(void **state)
{
    struct task t;
    struct err err;
    struct launch_config config;
    struct env env;
    uint64_t nr;

    assert_true(task_parse(&t, *state, "k.cu", whole, strlen(whole), &err));
    env = plan_env(*state, &t.plan, &t.timed);
    assert_int_equal(env.nr, 6);
    const struct launch *l = &t.plan.launches[0];
    assert_string_equal(l->kernel, "g<float, 4>");
    assert_int_equal(l->nr_args, 10);
    assert_int_equal(l->args[0].kind, ARG_ARRAY);
    assert_int_equal(l->args[3].kind, ARG_ARRAY);
    assert_string_equal(l->args[3].name, "ws");
    assert_int_equal(l->args[4].kind, ARG_SCALAR);
    assert_int_equal(l->args[6].kind, ARG_INTEGER);
    assert_string_equal(expr_text(l->args[7].value), "N >> 1");
    assert_true(launch_resolve(l, &env, &config, &err));
    assert_int_equal(config.grid[0], 128);
    assert_int_equal(config.grid[1], 2);
    assert_int_equal(config.grid[2], 1);
    assert_int_equal(config.block[1], 16);
    assert_int_equal(config.smem_bytes, 64);
    assert_int_equal(config.cluster[0], 1);
    l = &t.plan.launches[1];
    assert_string_equal(l->kernel, "ns::h");
    assert_int_equal(l->line, 17);
    assert_int_equal(l->nr_args, 0);
    assert_true(launch_resolve(l, &env, &config, &err));
    assert_int_equal(config.cluster[0], 2);
    assert_int_equal(config.grid[0], 128);
    assert_true(plan_allows(&t.plan, &env));
    assert_true(array_elems(&t.plan.temps[0], &env, &nr, &err));
    assert_int_equal(nr, 16 * 1024);
    assert_ptr_equal(task_find_array(&t, &t.plan, "ws"), &t.plan.temps[0]);
    assert_null(task_find_array(&t, NULL, "ws"));
    assert_null(task_find_scalar(&t, "beta"));
}

/* The code keeps its lines; pragmas, their comments and continuations are gone, all else stays. */
static void test_code(void **state)
{
    char *code = task_code(whole, strlen(whole));
    size_t lines = 0, code_lines = 0;

    assert_int_equal(strlen(code), strlen(whole));
    for (size_t i = 0; whole[i]; i++) {
        lines += whole[i] == '\n';
        code_lines += code[i] == '\n';
        assert_true(code[i] == whole[i] || code[i] == ' ');
    }
    assert_int_equal(lines, code_lines);
    assert_null(strstr(code, "launch"));
    assert_null(strstr(code, "sixteen"));
    assert_non_null(strstr(code, "#pragma keet nonsense")); /* within a raw string */
    assert_non_null(strstr(code, "// a task"));
    assert_non_null(strstr(code, "int x = 1'000;"));
    free(code);
}

#define MINIMAL                                                                                    \
    "#pragma keet size M = 64\n"                                                                   \
    "#pragma keet in A : f32[M]\n"                                                                 \
    "#pragma keet out C : f32[M]\n"                                                                \
    "#pragma keet launch f<<<M, 32>>>(A, C, M)\n" KERNEL

static void refuse(struct arena *arena, const char *source, const char *said)
{
    struct task t;
    struct err err = {.text = ""};

    if (task_parse(&t, arena, "k.cu", source, strlen(source), &err))
        fail_msg("taken: %s", source);
    if (strncmp(err.text, said, strlen(said)) != 0)
        fail_msg("\n'%s' is not\n'%s'", err.text, said);
}

/* One more line after a task that is right: line 6. */
static void refuse_line(struct arena *arena, const char *line, const char *said)
{
    char *source = arena_printf(arena, "%s#pragma keet %s\n", MINIMAL, line);

    refuse(arena, source, said);
}

static void test_task_line(void **state)
{
    assert_int_equal(task_line("#pragma keet in A : f32[M]\n"), TASK_LINE_CONTRACT);
    assert_int_equal(task_line("  #pragma keet\tpytorch ..."), TASK_LINE_CONTRACT);
    assert_int_equal(task_line("#pragma keet launch f<<<1, 1>>>(A)"), TASK_LINE_PLAN);
    assert_int_equal(task_line("#pragma keet inner"), TASK_LINE_UNKNOWN);
    assert_int_equal(task_line("#pragma keet\nin A"), TASK_LINE_UNKNOWN);
    assert_int_equal(task_line("#pragma unroll"), TASK_LINE_CODE);
    assert_int_equal(task_line("int size;"), TASK_LINE_CODE);
}

static void test_error_positions(void **state)
{
    refuse(*state, "int x;\n", "k.cu:1:1: no `#pragma keet` lines; expected size");
    refuse_line(*state, "sise M = 1",
        "k.cu:6:14: unknown name 'sise'; expected one of size, check, "
        "assume, in, out, inout, symbol, scalar, fixed, inputs, tolerance, work, reference, "
        "expect, case, pytorch, "
        "launch, temp, tune, where (did you mean 'size'?)");
    refuse_line(*state, "",
        "k.cu:6:14: no keyword after `#pragma keet`; expected one of size, check, assume, in, "
        "out, inout, symbol, scalar, fixed, inputs, tolerance, work, reference, expect, case, "
        "pytorch, launch, temp, tune, where");
    refuse_line(*state, "size M = 2", "k.cu:6:19: 'M' is declared twice; expected another name");
    refuse_line(*state, "assume M % 7 == 0",
        "k.cu:6:21: the timed sizes do not satisfy it; expected sizes that do");
    refuse_line(*state, "fixed alpha",
        "k.cu:6:20: unknown scalar 'alpha'; expected the name of a scalar line");
    refuse_line(*state, "inputs inf", "k.cu:6:21: unknown inputs 'inf'; expected nan");
    refuse_line(*state, "size Z = 0", "k.cu:6:23: the size Z is 0; expected at least 1");
    refuse_line(*state, "size Z = 4,", "k.cu:6:25: nothing after ','; expected another item");
    refuse_line(*state, "size Z 4", "k.cu:6:21: no value for the name; expected '='");
    refuse_line(
        *state, "size float = 4", "k.cu:6:19: 'float' is a reserved word; expected another");
    refuse_line(
        *state, "size Z = 4 5", "k.cu:6:25: text after the expression; expected an operator");
    refuse_line(*state, "size Z = 1.5", "k.cu:6:23: a real number in an integer expression");
    refuse_line(
        *state, "check N = 4", "k.cu:6:20: unknown name 'N'; expected a name from the size");
    refuse_line(*state, "check M = 4, M = 5", "k.cu:6:27: 'M' is given twice; expected it once");
    refuse_line(*state, "in B : f31[M]",
        "k.cu:6:21: unknown type 'f31'; expected one of f64 f32 tf32 f16 bf16 e4m3 e5m2 i64 i32 "
        "i16 "
        "i8 u64 u32 u16 u8 bool");
    refuse_line(*state, "in B f32[M]", "k.cu:6:19: no type after the name; expected ':'");
    refuse_line(*state, "in B : f32", "k.cu:6:24: an array without dimensions; expected '['");
    refuse_line(
        *state, "in B : f32[M][]", "k.cu:6:28: the expression ends early; expected a number");
    refuse_line(*state, "in B : f32[W]", "k.cu:6:25: unknown name 'W'; expected a size");
    refuse_line(*state, "in B : f32[M", "k.cu:6:26: an open dimension; expected ']'");
    refuse_line(*state, "in B : f32[M-65]",
        "k.cu:6:1: B: dimension [M-65] is -1; expected at least 0 (sizes of line 1)");
    refuse_line(*state, "in B : f32[1<<50]", "k.cu:6:1: B: more than 2^40 elements");
    refuse_line(*state, "in B : f32[M] = uniform(1)",
        "k.cu:6:38: too few arguments; expected 2 for uniform");
    refuse_line(*state, "in B : f32[M] = unifrm(1, 2)", "k.cu:6:30: unknown generator 'unifrm'");
    refuse_line(*state, "in B : f32[M] = uniform(2, 1)", "k.cu:6:1: B: uniform(2, 1) is empty");
    refuse_line(*state, "in B : i32[M] = integers(M, 1)", "k.cu:6:1: B: the range 64..1 is empty");
    refuse_line(*state, "in B : f32[M] = file(a.npy)", "k.cu:6:35: no file name; expected '\"'");
    refuse_line(*state, "in B : f32[M] = file(\"a.npy\", file(\"b.npy\"))",
        "k.cu:6:43: a file in a file; expected a generator for other sizes");
    refuse_line(
        *state, "out B : f32[M] = uniform(0, 1)", "k.cu:6:29: an output takes no generator");
    refuse_line(
        *state, "expect A = file(\"a.npy\")", "k.cu:6:21: 'A' is an input; expected an output");
    refuse_line(*state, "scalar s : i8 = 128", "k.cu:6:30: 128 is not a value of type i8");
    refuse_line(*state, "scalar s : u32 = 1.5", "k.cu:6:31: 1.5 is not a value of type u32");
    refuse_line(*state, "scalar s : f32", "k.cu:6:28: a scalar without a value; expected '='");
    refuse_line(*state, "tolerance rel = x", "k.cu:6:30: not a tolerance; expected a number");
    refuse_line(*state, "tolerance rel = -1", "k.cu:6:30: not a tolerance");
    refuse_line(
        *state, "tolerance eps = 1", "k.cu:6:24: unknown tolerance 'eps'; expected rel or abs");
    refuse_line(*state, "work flop = 1",
        "k.cu:6:19: unknown work 'flop'; expected bytes, flops, or as f16_flops, int8_ops");
    refuse_line(*state, "work flops = M/0", "k.cu:6:27: 64 divided by zero");
    refuse_line(*state, "tune T = 16 in {8, 32}",
        "k.cu:6:23: T = 16 is not among the choices; expected one of them");
    refuse_line(*state, "tune T = 16 in 8", "k.cu:6:29: no choices; expected '{'");
    refuse_line(*state, "tune T = M", "k.cu:6:23: unknown name 'M'");
    refuse_line(*state, "where M < 64", "k.cu:6:20: the condition does not hold for the chosen");
    refuse_line(*state, "where M < L", "k.cu:6:24: unknown name 'L'");
}

static void test_struct_errors(void **state)
{
    refuse_line(*state, "in B : {}[M]", "k.cu:6:22: no name here; expected an element type");
    refuse_line(*state, "in B : {f32", "k.cu:6:");
    refuse_line(*state, "in B : {f31}[M]", "k.cu:6:22: unknown type 'f31' of a struct");
    refuse_line(*state, "in B : {f32 i32}[M]", "k.cu:6:26: text after the type of a value");
    refuse_line(*state, "in B : {f32[0]}[M]", "k.cu:6:26: a struct has 1 to 4096 values");
    refuse_line(*state, "in B : {f32[4096], i8}[M]", "k.cu:6:33: a struct has 1 to 4096 values");
    refuse_line(*state, "in B : {f32[M]}[M]", "k.cu:6:26: unknown name 'M'");
    refuse_line(*state, "in B : {f32[2}[M]", "k.cu:6:");
    refuse_line(*state, "in B : {f32}", "k.cu:6:26: an array without dimensions");
    refuse_line(*state, "in B : {f32}[M] = uniform(0, 1)",
        "k.cu:6:32: an array of structs with this generator; expected constant(a), or none");
}

static void test_launch_errors(void **state)
{
    refuse_line(*state, "launch f<<M, 32>>(A)",
        "k.cu:6:22: not a kernel; expected a name or a template-id before <<<");
    refuse_line(*state, "launch f(A)", "k.cu:6:25: a kernel without a launch configuration");
    refuse_line(*state, "launch <<<1, 2>>>(A)", "k.cu:6:21: no name here; expected a kernel");
    refuse_line(
        *state, "launch f<<<1>>>(A)", "k.cu:6:26: no block size after the grid; expected ','");
    refuse_line(
        *state, "launch f<<<1, 2>>(A)", "k.cu:6:34: an open launch configuration; expected '>>>'");
    refuse_line(*state, "launch f<<<1, 2, 0, s>>>(A)", "k.cu:6:32: a stream in the launch");
    refuse_line(*state, "launch f<<<1, dim3(1,2,3,4)>>>(A)", "k.cu:6:39: too many dimensions");
    refuse_line(
        *state, "launch f<<<1, 2>>>", "k.cu:6:32: a launch without arguments; expected '('");
    refuse_line(*state, "launch f<<<1, 2>>>(A, Cs)",
        "k.cu:6:36: unknown name 'Cs'; expected an array, a scalar, a size or a tuning parameter "
        "(did you mean 'C'?)");
    refuse_line(*state, "launch f<<<1, 2>>>(A, 1.5)", "k.cu:6:36: a real number as an argument");
    refuse_line(
        *state, "launch f<<<1, 2>>>(A, D + 1)", "k.cu:6:36: unknown name 'D'; expected a size");
    refuse_line(
        *state, "launch f<<<1, 2>>>(A, C + D)", "k.cu:6:40: unknown name 'D'; expected a size");
    refuse_line(*state, "launch f<<<1, 2>>>(A, C +)", "k.cu:6:39: the expression ends early");
    refuse_line(*state, "launch f<<<1, 2>>>(A, tensor_map(C, box(8), interleave(16)))",
        "k.cu:6:68: interleaved layouts of tensor maps are not emulated");
    refuse_line(*state, "launch f<<<1, 2>>>(A, tensor_map(C, box(8), zig))",
        "k.cu:6:58: unknown part of a tensor map; expected box, size, stride, step, swizzle or "
        "nan");
    refuse_line(*state, "launch f<<<1, 2>>>(A, texture(C))",
        "k.cu:6:45: a texture without a width; expected texture(x, width, ...)");
    refuse_line(*state, "launch f<<<1, 2>>>(A, texture(D, 4))",
        "k.cu:6:44: 'D' is no array of numbers; expected one that is declared");
    refuse_line(*state, "launch f<<<1, 2>>>(A, texture(C, M, 2, 3, 4))",
        "k.cu:6:56: more than three extents of a texture; expected linear, normalized");
    refuse_line(*state, "launch f<<<1, 2>>>(A, texture(C, M, soft))",
        "k.cu:6:50: unknown name 'soft'; expected a size or a tuning parameter");
    refuse_line(
        *state, "launch f<<<1, 2>>>(A, texture(C, M) + 1)", "k.cu:6:50: text after the texture");
    refuse_line(*state, "launch f<<<1, 2>>>({A, M})",
        "k.cu:6:37: M is an integer; expected its type too, as in `M : i32`");
    refuse_line(*state, "launch f<<<1, 2>>>({A, 1 + M})", "k.cu:6:37: a field without a type");
    refuse_line(*state, "launch f<<<1, 2>>>({A, 1.5})", "k.cu:6:37: a field without a type");
    refuse_line(*state, "launch f<<<1, 2>>>({A, M : f32})",
        "k.cu:6:41: `f32` is no type of an integer; expected i8 to i64, u8 to u64 or bool");
    refuse_line(*state, "launch f<<<1, 2>>>({A, M :})", "k.cu:6:40: no name here; expected a type");
    refuse_line(*state, "launch f<<<1, 2>>>({A, M : i32 x})", "k.cu:6:45: text after the type");
    refuse_line(*state, "launch f<<<1, 2>>>({A, : i32})", "k.cu:6:37: the expression ends early");
    refuse_line(*state, "launch f<<<1, 2>>>({A, B})", "k.cu:6:37: unknown name 'B'");
    refuse_line(*state, "launch f<<<1, 2>>>({A, {A}})", "k.cu:6:37: a field without a type");
    refuse_line(*state, "launch f<<<1, 2>>>({A, })", "k.cu:6:36: a field without a type");
    refuse_line(*state, "launch f<<<1, 2>>>({A} + 1)", "k.cu:6:37: text after the fields");
    refuse_line(*state, "launch f<<<1, 2>>>({A)", "k.cu:6:36: an open brace");
    refuse_line(*state, "launch f<<<1, 2>>>(A) x", "k.cu:6:36: text after the launch");
    refuse_line(*state, "launch f<<<1, 2048>>>(A)",
        "k.cu:6:1: block.x is 2048 (`2048`); expected 1 to 1024 (sizes of line 1)");
    refuse_line(
        *state, "launch f<<<1, dim3(64,32)>>>(A)", "k.cu:6:1: 2048 threads per block (64 x");
    refuse_line(
        *state, "launch f<<<M/65, 32>>>(A)", "k.cu:6:1: grid.x is 0 (`M/65`); expected 1 to");
    refuse_line(
        *state, "launch f<<<3, 32>>>(A) cluster(2)", "k.cu:6:1: grid.x is 3, not a multiple");
    refuse_line(*state, "launch f<<<1, 32, -4>>>(A)", "k.cu:6:1: the shared memory in bytes is -4");
    /* a continued line: the place is in the second */
    refuse_line(*state, "launch f<<<1, \\\n  Q>>>(A)", "k.cu:7:3: unknown name 'Q'");
    refuse(*state, "#pragma keet size M = 4\n#pragma keet out C : f32[M]\n" KERNEL,
        "k.cu:1:1: no launch; expected a launch line");
    refuse(*state, "#pragma keet size M = 4\n#pragma keet launch f<<<1, 1>>>()\n" KERNEL,
        "k.cu:1:1: no output; expected an out or inout line");
    refuse(*state,
        "#pragma keet out C : f32[1]\n#pragma keet launch f<<<1, 1>>>(C)\n"
        "// __global__\nconst char *s = \"__global__\";\n",
        "k.cu:1:1: no kernel; expected a __global__ function");
}

static void test_nul(void **state)
{
    struct task t;
    struct err err;

    assert_false(task_parse(&t, *state, "k.cu", "a\nb\0c", 5, &err));
    assert_string_equal(err.text, "k.cu:2:2: the file holds a NUL byte; expected CUDA text");
}

static bool candidate(struct arena *arena, const char *source, struct plan *plan,
    enum verdict *verdict, struct err *why)
{
    static const char original[] =
        "#pragma keet size   M = 64, N = 100\n"
        "#pragma keet check  M = 5, N = 7\n"
        "#pragma keet in     A : f32[M][N]\n"
        "#pragma keet out    C : f32[M]\n"
        "#pragma keet tolerance rel = 1e-3, abs = 1e-4\n"
        "#pragma keet tune   T = 16 in {8, 16}\n"
        "#pragma keet launch f<<<ceil_div(M, T), T>>>(A, C, M, N)\n" KERNEL;
    struct task *task = arena_alloc(arena, sizeof(*task));
    struct err err;

    if (!task_parse(task, arena, "dir/k.cu", original, strlen(original), &err))
        fail_msg("%s", err.text);
    return plan_parse(plan, task, arena, source, strlen(source), verdict, why);
}

static void accept(struct arena *arena, const char *source, struct plan *plan)
{
    enum verdict verdict;
    struct err why = {.text = ""};

    if (!candidate(arena, source, plan, &verdict, &why))
        fail_msg("%s: %s", verdict_name(verdict), why.text);
    assert_int_equal(verdict, VERDICT_OK);
}

static void reject(struct arena *arena, const char *source, enum verdict want, const char *said)
{
    enum verdict verdict;
    struct plan plan;
    struct err why = {.text = ""};

    if (candidate(arena, source, &plan, &verdict, &why))
        fail_msg("taken: %s", source);
    assert_int_equal(verdict, want);
    if (!strstr(why.text, said))
        fail_msg("\n'%s' does not say\n'%s'", why.text, said);
}

static void test_candidates(void **state)
{
    struct plan plan;

    /* nothing but code: the original's plan */
    accept(*state, KERNEL, &plan);
    assert_int_equal(plan.nr_launches, 1);
    assert_int_equal(plan.tunes[0].value, 16);
    /* its own plan, with other values, scratch and two launches */
    accept(*state,
        "#pragma keet tune T = 8 in {8, 16}\n#pragma keet temp ws : f32[M][T]\n"
        "#pragma keet launch f<<<M, T>>>(A, ws, M)\n"
        "#pragma keet launch g<<<M, T>>>(ws, C, M)\n" KERNEL,
        &plan);
    assert_int_equal(plan.nr_launches, 2);
    assert_int_equal(plan.tunes[0].value, 8);
    assert_int_equal(plan.nr_temps, 1);
    /* the contract in other words */
    accept(*state,
        "#pragma keet size N=1e2 , M = 64 // the sizes\n"
        "#pragma keet check N = 7, M = 5\n"
        "#pragma keet in A : f32[M][N] = uniform(-1.0, 1)\n"
        "#pragma keet out C:f32[ M ]\n"
        "#pragma keet tolerance abs = 0.0001, rel = 0.001\n" KERNEL,
        &plan);
}

static void test_contract(void **state)
{
    reject(*state, "#pragma keet size M = 32, N = 100\n" KERNEL, VERDICT_CONTRACT,
        "k.cu:1:19: the candidate changes the contract: `size M = 32, N = 100`; expected `size   M "
        "= 64, N = 100` as on line 1 of the original");
    reject(*state, KERNEL "#pragma keet tolerance rel = 1e-3, abs = 1\n", VERDICT_CONTRACT,
        "k.cu:2:36: the candidate changes the contract: `tolerance rel = 1e-3, abs = 1`; expected "
        "`tolerance rel = 1e-3, abs = 1e-4` as on line 5");
    reject(*state, "#pragma keet check M = 5\n" KERNEL, VERDICT_CONTRACT, "k.cu:1:");
    reject(*state, "#pragma keet in A : f16[M][N]\n" KERNEL, VERDICT_CONTRACT, "as on line 3");
    reject(*state, "#pragma keet in A : f32[M][N] = uniform(0, 1)\n" KERNEL, VERDICT_CONTRACT,
        "as on line 3");
    reject(*state, "#pragma keet inout A : f32[M][N]\n" KERNEL, VERDICT_CONTRACT,
        "the candidate adds to the contract: `inout A : f32[M][N]`");
    reject(*state, "#pragma keet expect C = file(\"/etc/passwd\")\n" KERNEL, VERDICT_CONTRACT,
        "the candidate adds to the contract");
    reject(*state, "#pragma keet reference f<<<1, 1>>>(A, C)\n" KERNEL, VERDICT_CONTRACT,
        "the candidate adds to the contract");
    reject(*state, "#pragma keet lunch f<<<1, 1>>>(A, C)\n" KERNEL, VERDICT_CONTRACT,
        "k.cu:1:14: unknown name 'lunch'");
    reject(*state, "#pragma keet launch f<<<1, 1>>>(A, Q)\n" KERNEL, VERDICT_CONTRACT,
        "k.cu:1:36: unknown name 'Q'");
    reject(*state, "#pragma keet temp A : f32[1]\n#pragma keet launch f<<<1, 1>>>(A)\n" KERNEL,
        VERDICT_CONTRACT, "k.cu:1:19: 'A' is declared twice");
    reject(*state, "int main() {}\n", VERDICT_NO_KERNEL, "k.cu:1:1: no kernel");
    reject(*state, "/* __global__ */\n", VERDICT_NO_KERNEL, "k.cu:1:1: no kernel");
    reject(*state, "#pragma keet tune T = 8\n" KERNEL, VERDICT_NO_KERNEL, "without a launch");
}

static void test_tolerance_parts(void **state)
{
    struct task t;
    struct err err;
    const char *source = MINIMAL "#pragma keet tolerance abs = 0.5\n";

    assert_true(task_parse(&t, *state, "k.cu", source, strlen(source), &err));
    assert_true(t.tolerance.abs == 0.5 && t.tolerance.rel < 0);
    source = MINIMAL;
    assert_true(task_parse(&t, *state, "k.cu", source, strlen(source), &err));
    assert_false(t.has_tolerance);
}

/* Windows line ends, a file without a last newline, and pragmas after other code. */
static void test_line_ends(void **state)
{
    struct task t;
    struct err err = {.text = ""};
    const char *source =
        "int x; // \\\n#pragma keet nonsense in a comment that goes on\r\n"
        "#pragma keet size M = 64, \\\r\n N = 4\r\n"
        "#pragma keet out C : f32[M]\r\n" KERNEL "#pragma keet launch f<<<1, N>>>(C)";

    if (!task_parse(&t, *state, "k.cu", source, strlen(source), &err))
        fail_msg("%s", err.text);
    assert_int_equal(t.timed.sizes.nr, 2);
    assert_int_equal(t.plan.launches[0].line, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(test_file_elsewhere, setup, teardown),
        cmocka_unit_test_setup_teardown(test_views, setup, teardown),
        cmocka_unit_test_setup_teardown(test_launches, setup, teardown),
        cmocka_unit_test_setup_teardown(test_structs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_struct_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_struct_arguments, setup, teardown),
        cmocka_unit_test(test_task_line),
        cmocka_unit_test_setup_teardown(test_code, setup, teardown),
        cmocka_unit_test_setup_teardown(test_error_positions, setup, teardown),
        cmocka_unit_test_setup_teardown(test_launch_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nul, setup, teardown),
        cmocka_unit_test_setup_teardown(test_candidates, setup, teardown),
        cmocka_unit_test_setup_teardown(test_contract, setup, teardown),
        cmocka_unit_test_setup_teardown(test_tolerance_parts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_line_ends, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
