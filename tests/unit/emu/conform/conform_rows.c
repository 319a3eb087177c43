/* Every row of ops.def has a test: either a text that is executed here and gives a value worked out
 * by hand (types and modifiers are conform_int.c's, conform_float.c's and tensor_shapes.c's
 * matter), or one that must be refused as unsupported, by name. A row without either fails. */
#include "base/file.h"
#include "conform_syntax.h"
#include "emu_harness.h"
#include "ptx/words.h"

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
    b.what = row->text;
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

    snprintf(path, sizeof(path), KEET_SOURCE_DIR "/tests/unit/emu/%s", file);
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

/* --- every form --- */

struct names {
    char (*name)[FORM_BYTES];
    size_t nr, cap;
};

static void add_name(struct names *all, const char *name)
{
    if (all->nr == all->cap) {
        all->cap = all->cap ? 2 * all->cap : 1 << 12;
        all->name = realloc(all->name, all->cap * sizeof(*all->name));
        assert_non_null(all->name);
    }
    snprintf(all->name[all->nr++], FORM_BYTES, "%s", name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* What the other programs have run, in order. */
static void read_notes(struct names *all)
{
    static const char *const files[] = {FORMS_BY};
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        char *text, *save = NULL;
        size_t bytes;
        struct err err;
        char path[512];
        snprintf(path, sizeof(path), KEET_FORMS_DIR "/%s", files[i]);
        if (!file_read(path, 1 << 24, &text, &bytes, &err))
            fail_msg("%s: run test_%s first, which says there what it has run", err.text, files[i]);
        for (char *n = strtok_r(text, "\n", &save); n; n = strtok_r(NULL, "\n", &save))
            add_name(all, n);
        free(text);
    }
    qsort(all->name, all->nr, sizeof(*all->name), by_name);
}

struct wanted {
    const struct names *run;
    unsigned nr, nr_missing;
};

static void want_form(const char *op, const char *modifiers, void *context)
{
    struct wanted *wanted = context;
    char text[2 * FORM_BYTES], name[FORM_BYTES];
    snprintf(text, sizeof(text), "%s%s", op, modifiers);
    form_name(text, strlen(text), name);
    wanted->nr++;
    if (bsearch(name, wanted->run->name, wanted->run->nr, sizeof(name), by_name))
        return;
    print_error("no test ran %s\n", text);
    wanted->nr_missing++;
}

static void every_form_was_run(void **state)
{
    struct names run = {NULL, 0, 0};
    struct wanted wanted = {.run = &run};
    (void)state;
    read_notes(&run);
    syntax_each(NULL, want_form, &wanted);
    print_message("%u forms, %u without a test\n", wanted.nr, wanted.nr_missing);
    assert_int_equal(wanted.nr_missing, 0);
    free(run.name);
}

/* --- the list of forms against what the parser accepts --- */

/* Operations that conform_syntax.def does not spell out: whose forms a test of their own runs. */
static const struct {
    enum ptx_op op;
    const char *file;
} elsewhere[] = {
#define ELSEWHERE(op, file) {PTX_OP_##op, file},
#include "conform_elsewhere.def"
};

/* What the parser takes and sm_90 does not have, or the emulator refuses. */
static const struct {
    const char *op, *word;
} not_here[] = {
#define NOT_HERE(op, word) {op, word},
#include "conform_elsewhere.def"
};

struct mention {
    const char *word;
    bool found;
};

static void look_for(const char *op, const char *modifiers, void *context)
{
    struct mention *m = context;
    const size_t len = strlen(m->word);
    for (const char *at = strstr(modifiers, m->word); at; at = strstr(at + 1, m->word))
        m->found |= at[-1] == '.' && (at[len] == '.' || at[len] == 0);
}

static bool mentioned(enum ptx_op op, const char *word)
{
    struct mention m = {word, false};
    for (size_t i = 0; i < sizeof(not_here) / sizeof(*not_here); i++) {
        const bool all = strcmp(not_here[i].op, "*") == 0;
        if ((all || strcmp(not_here[i].op, ptx_op_name(op)) == 0) &&
            strcmp(not_here[i].word, word) == 0)
            return true;
    }
    syntax_each(ptx_op_name(op), look_for, &m);
    return m.found;
}

static const struct word words[] = {
#define WORD(text, field, value) {text, FIELD_##field, value},
#include "ptx/words.def"
#undef WORD
};
enum { NR_WORDS = sizeof(words) / sizeof(*words) };

static enum field field_of(const struct word *word)
{
    return word->field == FIELD_FLAG ? (enum field)word->value : word->field;
}

/* Each type that the parser takes for an operation, and of each other question at least one answer,
 * is in one of its forms. */
static unsigned nr_not_listed(enum ptx_op op)
{
    const struct op_form *form = form_of(op);
    uint64_t seen = 0;
    unsigned nr = 0;
    for (size_t w = 0; w < NR_WORDS; w++) {
        const enum field field = field_of(&words[w]);
        if (!(form->fields >> field & 1))
            continue;
        const bool listed = mentioned(op, words[w].text);
        seen |= (uint64_t)listed << field;
        if (field == FIELD_TYPE && form->types && !listed &&
            form_allows_type(form, (enum ptx_type)words[w].value)) {
            print_error("%s: no form has .%s\n", ptx_op_name(op), words[w].text);
            nr++;
        }
    }
    for (size_t w = 0; w < NR_WORDS; w++) {
        const enum field field = field_of(&words[w]);
        if (!(form->fields >> field & 1) || seen >> field & 1 || field == FIELD_IGNORE)
            continue;
        print_error("%s: no form has .%s or the like\n", ptx_op_name(op), words[w].text);
        seen |= UINT64_C(1) << field;
        nr++;
    }
    return nr;
}

static void the_list_has_all_that_the_parser_accepts(void **state)
{
    unsigned nr = 0, nr_elsewhere = 0;
    (void)state;
    for (int i = 0; i < NR_PTX_OPS; i++) {
        const char *file = rows[i].file;
        for (size_t e = 0; e < sizeof(elsewhere) / sizeof(*elsewhere); e++)
            file = elsewhere[e].op == (enum ptx_op)i ? elsewhere[e].file : file;
        if (file && !file_holds(file, (enum ptx_op)i))
            fail_msg("%s: not in %s", ptx_op_name((enum ptx_op)i), file);
        nr_elsewhere += file != NULL;
        if (!file && !rows[i].unsupported)
            nr += nr_not_listed((enum ptx_op)i);
    }
    print_message("%u operations have a test of their own\n", nr_elsewhere);
    assert_int_equal(nr, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_row_has_a_test),
        cmocka_unit_test(every_form_was_run),
        cmocka_unit_test(the_list_has_all_that_the_parser_accepts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
