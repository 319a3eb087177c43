/* Sources that crash libclang, or keep it busy: the program lives on, offers no mechanical move,
 * says why, and still tunes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "propose/propose.h"

#include <stdlib.h>
#include <string.h>

static const char head[] = "#pragma keet size N = 64\n"
                           "#pragma keet inout X : f32[N]\n"
                           "#pragma keet tune B = 32 in {32, 64}\n"
                           "#pragma keet launch f<<<ceil_div(N, B), B>>>(X, N)\n",
                  tail[] = "__global__ void f(float *x, int n)\n"
                           "{\n"
                           "    int i = blockIdx.x * B + threadIdx.x;\n"
                           "    if (i < n)\n"
                           "        x[i] += 1;\n"
                           "}\n";

/* Lists what the source offers, and carries out a move on it, unless listing took the parser's time
 * already. */
static void offered(const char *source, const char *said, unsigned least, bool moved)
{
    const struct propose_options options = {.prompts_dir = KEET_SOURCE_DIR "/prompts"};
    struct arena *arena = arena_create();
    struct task task;
    struct err err;

    if (!task_parse(&task, arena, "t.cu", source, strlen(source), &err))
        fail_msg("%s", err.text);

    struct propose *propose = propose_create(&options, &task, &err);
    struct candidate c = {.arena = arena, .task = &task, .parent = -1};
    struct candidate child = {.arena = arena,
        .task = &task,
        .option = {.action = ACTION_HOIST, .proposer = PROPOSER_REWRITER}};

    assert_non_null(propose);
    c.option.action = ACTION_NONE;
    assert_true(propose_kernel(propose, NULL, 0, &c, &err));
    if (!propose_options(propose, &c, &err))
        fail_msg("%s", err.text);
    assert_true(c.nr_options >= least);
    for (unsigned i = 0; said && i < c.nr_options; i++)
        assert_int_equal(c.options[i].proposer, PROPOSER_TUNER);
    if (said && (!strstr(c.proposal_note, "no mechanical move is offered: ") ||
                    !strstr(c.proposal_note, said) || strchr(c.proposal_note, '\n')))
        fail_msg("note: %s", c.proposal_note);
    if (said)
        assert_non_null(strstr(propose_refusals(propose), said));
    if (moved) {
        if (!propose_kernel(propose, c.source, c.source_bytes, &child, &err))
            fail_msg("%s", err.text);
        assert_int_equal(child.verdict, VERDICT_NO_KERNEL);
    }
    propose_destroy(propose);
    arena_destroy(arena);
}

/* head, then `open`, `nr` times `each`, `close` under #ifdef __clang__ , which NVRTC does not see,
 * then tail. */
static char *made(const char *open, const char *each, unsigned nr, const char *close)
{
    struct str s = {0};

    str_addf(&s, "%s#ifdef __clang__\n%s", head, open);
    for (unsigned i = 0; i < nr; i++)
        str_add(&s, each);
    str_addf(&s, "%s\n#endif\n%s", close, tail);
    return str_take(&s);
}

static void a_harmless_source_has_moves(void **state)
{
    char *source = made("int y = 0", "+1", 3, ";");

    offered(source, NULL, 2, true);
    free(source);
}

static void a_long_sum(void **state)
{
    char *source = made("int y = 0", "+1", 60000, ";");

    offered(source, "the parser crashed", 1, true);
    free(source);
}

static void deep_nests(void **state)
{
    char *chain = made(
             "__device__ int g(int a) { ", "if (a == 1) a++; else ", 20000, "a--; return a; }"),
         *parens = made("int y = ", "~", 20000, "0;");

    offered(chain, "the parser crashed", 1, true);
    offered(parens, "the parser crashed", 1, true);
    free(chain);
    free(parens);
}

/* 2^40 terms: out of time, or out of memory. */
static void a_macro_bomb(void **state)
{
    struct str s = {0};

    str_add(&s, "#define X0 + 1\n");
    for (unsigned i = 1; i <= 40; i++)
        str_addf(&s, "#define X%u X%u X%u\n", i, i - 1, i - 1);
    str_add(&s, "int y = 0 X40");
    char *source = made(str_text(&s), "", 0, ";");

    offered(source, "the parser", 1, false);
    free(source);
    str_finish(&s);
}

/* Files are out of the parser's reach: a FIFO would block it for ever. */
static void files_of_others(void **state)
{
    static const char *const words[] = {"import", "include_next", "include"};

    for (unsigned i = 0; i < ARRAY_SIZE(words); i++) {
        char *line = made("#", words[i], 1, " \\\n\"/etc/passwd\"");

        offered(line, NULL, 1, true);
        free(line);
    }
}

/* What a move makes is the same whether the moves of its source were listed before, so that the
 * text is kept, or not. */
static void kept_texts_are_those_that_are_made(void **state)
{
    const struct propose_options options = {.prompts_dir = KEET_SOURCE_DIR "/prompts"};
    char *source = made("int y = 0", "+1", 3, ";");
    struct arena *arena = arena_create();
    struct propose *lists, *makes;
    struct candidate c = {.arena = arena, .parent = -1, .option = {.action = ACTION_NONE}};
    struct task task;
    struct err err;
    unsigned nr = 0;

    assert_true(task_parse(&task, arena, "t.cu", source, strlen(source), &err));
    c.task = &task;
    lists = propose_create(&options, &task, &err);
    makes = propose_create(&options, &task, &err);
    assert_true(propose_kernel(lists, NULL, 0, &c, &err));
    for (unsigned round = 0; round < 2; round++) { /* the second list is a kept one */
        const unsigned nr_before = c.nr_options;

        assert_true(propose_options(lists, &c, &err));
        assert_true(c.nr_options > 0 && (round == 0 || c.nr_options == nr_before));
    }
    for (unsigned i = 0; i < c.nr_options; i++) {
        struct candidate kept = {.arena = arena, .task = &task, .option = c.options[i]};
        struct candidate asked = kept;

        if (c.options[i].proposer != PROPOSER_REWRITER)
            continue;
        nr++;
        assert_true(propose_kernel(lists, c.source, c.source_bytes, &kept, &err));
        assert_true(propose_kernel(makes, c.source, c.source_bytes, &asked, &err));
        assert_int_equal(kept.verdict, VERDICT_OK);
        assert_string_equal(kept.source, asked.source);
        assert_string_equal(kept.proposal_note, asked.proposal_note);
        assert_string_not_equal(kept.source, c.source);
    }
    assert_true(nr > 0);
    propose_destroy(lists);
    propose_destroy(makes);
    arena_destroy(arena);
    free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_harmless_source_has_moves),
        cmocka_unit_test(a_long_sum),
        cmocka_unit_test(deep_nests),
        cmocka_unit_test(a_macro_bomb),
        cmocka_unit_test(files_of_others),
        cmocka_unit_test(kept_texts_are_those_that_are_made),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
