/* Every row of ops.def has a test: either a text that is executed here and gives a value worked out
 * by hand (types and modifiers are conform_int.c's, conform_float.c's and tensor_shapes.c's
 * matter), or one that must be refused as unsupported, by name. A row without either fails. */
#include "base/file.h"
#include "emu_harness.h"
#include "ptx/ptx.h"

#include <ctype.h>

/* Each lane l of one warp has A = 100 + l, B = 7, C = 3, and 64 words of shared memory; E is the
 * address of its word in global memory, F that of a buffer of zeros. D is what comes out of lane 5
 * (A = 105). */
struct row {
    const char *text; /* NULL: no such row */
    uint32_t want;
    bool unsupported;
    const char *file; /* tested there instead */
};

#define YES(op, text, want) [PTX_OP_##op] = {text, want, false, NULL},
#define NO(op, text) [PTX_OP_##op] = {text, 0, true, NULL},
#define BY(op, file) [PTX_OP_##op] = {NULL, 0, false, file},
#define F2 "mov.b32 D, 0f40000000;\n"

static const struct row rows[NR_PTX_OPS] = {
#include "conform_rows.def"
};

static void run_row(enum ptx_op op, const struct row *row)
{
    char ptx[4096];
    uint32_t out[32] = {0}, zero[64] = {0};
    struct bench b;

    snprintf(ptx, sizeof(ptx), "%s",
        PTX_HEAD ".func plain() { ret; }\n"
                 ".func (.param .b32 r) twice(.param .b32 q)\n{\n.reg .b32 x;\n"
                 "ld.param.b32 x, [q];\nadd.u32 x, x, x;\nst.param.b32 [r], x;\nret;\n}\n"
                 ".visible .entry k(.param .u64 p0, .param .u64 p1)\n{\n"
                 ".shared .align 16 .b8 s[256];\n.reg .b32 A, B, C, D, L, S;\n.reg .b64 E, F, G;\n"
                 ".reg .f32 f<8>;\n.reg .pred P;\n"
                 "mov.u32 L, %tid.x;\nadd.u32 A, L, 100;\nmov.u32 B, 7;\nmov.u32 C, 3;\n"
                 "ld.param.u64 F, [p1];\nld.param.u64 E, [p0];\nmad.wide.u32 E, L, 4, E;\n");
    snprintf(ptx + strlen(ptx), sizeof(ptx) - strlen(ptx), "%s\nst.global.u32 [E], D;\nret;\n}\n",
        row->text);
    bench_init(&b, ptx, 1);
    bench_buffer(&b, zero, sizeof(zero));
    bench_buffer(&b, zero, sizeof(zero));
    const enum verdict v = b.module ? bench_run(&b, 1, 32) : b.result.verdict;
    if (row->unsupported) {
        if (v != VERDICT_UNSUPPORTED || !strstr(b.result.text, ptx_op_name(op)))
            fail_msg("%s: verdict %d, not unsupported: %s", ptx_op_name(op), v, b.result.text);
    } else {
        if (v != VERDICT_OK)
            fail_msg("%s: %s", ptx_op_name(op), b.result.text);
        bench_read(&b, 0, out, sizeof(out));
        if (out[5] != row->want)
            fail_msg("%s: got 0x%x, want 0x%x", ptx_op_name(op), out[5], row->want);
    }
    bench_finish(&b);
}

/* Does the text hold the operation itself, not only a longer name? */
static bool holds(const char *text, enum ptx_op op)
{
    const char *name = ptx_op_name(op), *at = text ? strstr(text, name) : NULL;

    while (at && (isalnum((unsigned char)at[strlen(name)]) ||
                     (at > text && isalnum((unsigned char)at[-1]) && at[-1] != 'n')))
        at = strstr(at + 1, name);
    return at != NULL;
}

static bool file_holds(const char *file, enum ptx_op op)
{
    char path[512], *text;
    size_t bytes;
    struct err err;

    snprintf(path, sizeof(path), KEET_SOURCE_DIR "/tests/unit/%s", file);
    if (!file_read(path, 1 << 20, &text, &bytes, &err))
        fail_msg("%s", err.text);
    const bool found = holds(text, op);
    free(text);
    return found;
}

static void every_row_has_a_test(void **state)
{
    unsigned nr = 0, nr_refused = 0;
    (void)state;
    for (int i = 0; i < NR_PTX_OPS; i++) {
        const enum ptx_op op = (enum ptx_op)i;
        const struct row *row = &rows[op];
        if (row->file ? !file_holds(row->file, op) : !holds(row->text, op))
            fail_msg("ops.def: %s has no test", ptx_op_name(op));
        if (!row->file)
            run_row(op, row);
        nr_refused += row->unsupported;
        nr += !row->unsupported;
    }
    print_message("%u rows executed, %u refused\n", nr, nr_refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_row_has_a_test)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
