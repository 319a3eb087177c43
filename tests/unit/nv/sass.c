/* The cubin reader and the reading of machine code: files whose instructions were counted by hand,
 * kernels whose machine code has to hold certain instructions, and files that are broken. */
#include "base/file.h"
#include "compile/compile.h"
#include "nv/cubin.h"
#include "nv/sass_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct read {
    struct arena *arena;
    char *bytes;
    size_t len;
    struct cubin cubin;
};

static struct read read_seed(const char *name)
{
    struct read r = {.arena = arena_create()};
    const char *why = "";
    struct err err;

    if (!file_read(arena_printf(r.arena, "%s/tests/fuzz/cubin/%s", KEET_SOURCE_DIR, name), 1 << 20,
            &r.bytes, &r.len, &err))
        fail_msg("%s", err.text);
    if (!cubin_read(r.bytes, r.len, r.arena, &r.cubin, &why))
        fail_msg("%s: %s", name, why);
    return r;
}

static void finish(struct read *r)
{
    arena_destroy(r->arena);
    free(r->bytes);
}

static struct sass_facts facts_of(const struct read *r, const char *kernel)
{
    struct sass_facts facts = {0};
    const struct cubin_kernel *k = cubin_find(&r->cubin, kernel);

    if (k == NULL)
        fail_msg("no kernel %s", kernel);
    assert_true(sass_read(&r->cubin, k, r->arena, &facts));
    return facts;
}

static const struct sass_mix *on(const struct sass_facts *facts, unsigned line)
{
    for (unsigned i = 0; i < facts->nr_lines; i++)
        if (facts->lines[i].line == line)
            return &facts->lines[i].mix;
    fail_msg("nothing on line %u", line);
    return NULL;
}

static void the_attributes_are_read(void **state)
{
    struct read r = read_seed("inlined.cubin");
    const struct cubin_kernel *inlined = cubin_find(&r.cubin, "_Z7inlinedPf");
    const struct cubin_kernel *shared = cubin_find(&r.cubin, "_Z6sharedPKfPf");

    assert_int_equal(r.cubin.arch, 90);
    assert_int_equal(r.cubin.nr_kernels, 2);
    /* as ptxas -v said: 12 and 14 registers, 400 bytes of shared memory */
    assert_int_equal(inlined->registers, 12);
    assert_int_equal(inlined->smem_static_bytes, 0);
    assert_int_equal(inlined->params_bytes, 8);
    assert_int_equal(inlined->max_threads, 0);
    assert_int_equal(shared->registers, 14);
    assert_int_equal(shared->smem_static_bytes, 400);
    assert_int_equal(shared->params_bytes, 16);
    assert_int_equal(shared->max_threads, 96);
    assert_int_equal(shared->code_bytes, 0x200);
    assert_null(cubin_find(&r.cubin, "shared"));
    finish(&r);

    r = read_seed("ampere.cubin");
    assert_int_equal(r.cubin.arch, 80);
    assert_int_equal(cubin_find(&r.cubin, "_Z6sharedPKfPf")->smem_static_bytes, 400);
    finish(&r);
}

/* Counted by hand in nvdisasm's listing of inlined.cubin. */
static void instructions_are_counted_by_line(void **state)
{
    struct read r = read_seed("inlined.cubin");
    struct sass_facts f = facts_of(&r, "_Z6sharedPKfPf");

    assert_int_equal(f.all.nr, 19);
    assert_int_equal(f.nr_lines, 5);
    assert_int_equal(on(&f, 16)->of[SASS_CONSTANT_LOAD], 1);
    assert_int_equal(on(&f, 19)->nr, 10);
    assert_int_equal(on(&f, 19)->of[SASS_MOVE], 3);
    assert_int_equal(on(&f, 19)->of[SASS_CONSTANT_LOAD], 2);
    assert_int_equal(on(&f, 19)->of[SASS_INTEGER], 3);
    assert_int_equal(on(&f, 19)->of[SASS_GLOBAL_LOAD], 1);
    assert_int_equal(on(&f, 19)->of[SASS_SHARED_STORE], 1);
    assert_int_equal(on(&f, 20)->of[SASS_BARRIER], 1);
    assert_int_equal(on(&f, 21)->nr, 6);
    assert_int_equal(on(&f, 21)->of[SASS_SHARED_LOAD], 1);
    assert_int_equal(on(&f, 21)->of[SASS_GLOBAL_STORE], 1);
    assert_int_equal(on(&f, 22)->of[SASS_CONTROL], 1);
    assert_int_equal(f.all.widest_bytes, 4);
    assert_int_equal(f.all.wide_loads, 0);

    /* What was inlined counts where it is written, when that is the kernel's own file. */
    f = facts_of(&r, "_Z7inlinedPf");
    assert_int_equal(f.all.nr, 23);
    assert_int_equal(on(&f, 6)->of[SASS_FP32], 8);
    assert_int_equal(on(&f, 6)->of[SASS_SPECIAL], 2);
    assert_int_equal(on(&f, 7)->of[SASS_FP32], 2);
    assert_int_equal(on(&f, 12)->nr, 7);
    assert_int_equal(on(&f, 13)->nr, 2);
    finish(&r);
}

static void without_line_information_there_is_one_line(void **state)
{
    struct read r = read_seed("plain.cubin");
    struct sass_facts f = facts_of(&r, "_Z6sharedPKfPf");

    assert_int_equal(f.nr_lines, 1);
    assert_int_equal(f.lines[0].line, 0);
    assert_int_equal(f.lines[0].mix.of[SASS_BARRIER], 1);
    finish(&r);
}

static const char source[] =
    "__global__ void wide(const float4 *x, float4 *y)\n"
    "{\n"
    "    y[threadIdx.x] = x[threadIdx.x];\n"
    "}\n"
    "__global__ void various(const double *x, double *y, const int *index, unsigned *m, float *f)\n"
    "{\n"
    "    float own[200];\n"
    "    int t = threadIdx.x;\n"
    "    for (int i = 0; i < 200; i++)\n"
    "        own[i] = f[i];\n"
    "    f[t] = own[index[t]];\n"
    "    y[t] = 3.5 * x[t] + y[t];\n"
    "    f[t + 100] = __cosf(f[t + 200]);\n"
    "    atomicMax(&m[t], m[t + 100]);\n"
    "    asm(\"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3},\"\n"
    "        \"{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};\" : \"+f\"(f[0]), \"+f\"(f[1]), \"+f\"(f[2]),\n"
    "        \"+f\"(f[3]) : \"r\"(m[0]), \"r\"(m[1]), \"r\"(m[2]), \"r\"(m[3]), \"r\"(m[4]), "
    "\"r\"(m[5]));\n"
    "}\n";

/* What the machine code has to hold, whatever the version of ptxas. */
static void compiled_kernels_are_read(void **state)
{
    const struct compiler_options options = {.arch = "sm_90a"};
    const char *const kernels[] = {"wide", "various"};
    const struct compile_input input = {
        .source = source, .name = "kernel.cu", .kernels = kernels, .nr_kernels = 2};
    struct arena *arena = arena_create();
    struct compilation c = {0};
    enum verdict verdict;
    const char *text;
    unsigned line;
    struct err err;
    struct compiler *compiler = compiler_create(&options, &err);

    if (compiler == NULL)
        fail_msg("%s", err.text);
    if (!compile_source(compiler, &input, arena, &c, &verdict, &line, &text, &err))
        fail_msg("%s", err.text);
    if (verdict != VERDICT_OK)
        fail_msg("%s", text);
    assert_non_null(c.sass);
    assert_int_equal(c.sass[0].arch, 90);
    assert_int_equal(on(&c.sass[0], 3)->wide_loads, 1);
    assert_int_equal(on(&c.sass[0], 3)->wide_stores, 1);
    assert_int_equal(c.sass[0].all.widest_bytes, 16);
    assert_int_equal(on(&c.sass[1], 11)->of[SASS_LOCAL_LOAD], 1);
    assert_true(c.sass[1].all.of[SASS_LOCAL_STORE] >= 1);
    assert_int_equal(on(&c.sass[1], 12)->of[SASS_FP64], 1);
    assert_int_equal(on(&c.sass[1], 12)->of[SASS_GLOBAL_LOAD], 2);
    assert_int_equal(on(&c.sass[1], 12)->wide_stores, 1);
    assert_int_equal(on(&c.sass[1], 13)->of[SASS_SPECIAL], 1);
    assert_int_equal(on(&c.sass[1], 14)->of[SASS_ATOMIC], 1);
    assert_int_equal(c.sass[1].all.of[SASS_TENSOR], 1);
    assert_int_equal(c.sass[1].all.of[SASS_OTHER], 0);
    compiler_destroy(compiler);
    arena_destroy(arena);
}

static void broken_files_are_refused(void **state)
{
    struct arena *arena = arena_create();
    struct read r = read_seed("plain.cubin");
    struct cubin cubin;
    const char *why = NULL;

    assert_false(cubin_read("", 0, arena, &cubin, &why));
    assert_non_null(why);
    assert_false(cubin_read("PTX", 3, arena, &cubin, &why));
    assert_false(cubin_read(r.bytes, r.len / 2, arena, &cubin, &why));
    assert_non_null(strstr(why, "table of sections"));
    r.bytes[18] = 62; /* x86-64 */
    assert_false(cubin_read(r.bytes, r.len, arena, &cubin, &why));
    assert_non_null(strstr(why, "NVIDIA"));
    finish(&r);
    arena_destroy(arena);
}

/* Machine code of a generation that nobody looked at is not guessed at. */
static void other_generations_are_not_read(void **state)
{
    struct read r = read_seed("plain.cubin");
    struct sass_facts facts = {.arch = 1};

    r.cubin.arch = 61;
    assert_false(sass_read(&r.cubin, &r.cubin.kernels[0], r.arena, &facts));
    assert_int_equal(facts.arch, 0);
    finish(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_attributes_are_read),
        cmocka_unit_test(instructions_are_counted_by_line),
        cmocka_unit_test(without_line_information_there_is_one_line),
        cmocka_unit_test(compiled_kernels_are_read),
        cmocka_unit_test(broken_files_are_refused),
        cmocka_unit_test(other_generations_are_not_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
