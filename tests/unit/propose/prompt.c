/* Tests of propose/prompt and propose/price: mistakes are named by file and line, what does not fit
 * is cut in the stated order, and sums are right. */
#include "llm/price.h"
#include "propose/model/prompt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct arena *arena;
static char folder[64];

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *format, ...)
{
    char command[1024];
    va_list ap;

    va_start(ap, format);
    vsnprintf(command, sizeof(command), format, ap);
    va_end(ap);
    assert_int_equal(system(command), 0);
}

/* A copy of the real prompts, to be spoilt. */
static int set_up(void **state)
{
    arena = arena_create();
    strcpy(folder, "/tmp/keet-prompt-XXXXXX");
    assert_non_null(mkdtemp(folder));
    shell("cp -r %s/prompts/. %s", KEET_SOURCE_DIR, folder);
    return 0;
}

static int tear_down(void **state)
{
    shell("rm -r %s", folder);
    arena_destroy(arena);
    return 0;
}

static void expect_error(const char *what)
{
    struct err err;

    assert_null(prompts_load(folder, &err));
    if (!strstr(err.text, what))
        fail_msg("'%s' should hold '%s'", err.text, what);
}

static void test_unknown_place(void **state)
{
    shell("printf 'one\\ntwo {{ not a place }} {{sauce}}\\n' > %s/improve.md", folder);
    expect_error(
        "improve.md:2: unknown placeholder {{sauce}}; known are {{contract}}, {{hardware}}");
    shell("cp %s/prompts/improve.md %s", KEET_SOURCE_DIR, folder);
    shell("printf '\\n\\n{{moves}}\\n' >> %s/actions/unroll.md", folder);
    expect_error("actions/unroll.md:");
}

static void test_missing_and_empty(void **state)
{
    shell("rm %s/node.md", folder);
    expect_error("node.md");
    shell("printf '\\n \\n' > %s/node.md", folder);
    expect_error("node.md is empty");
}

static const char *lines(char c, unsigned nr)
{
    char *text = arena_alloc(arena, nr * 10 + 1);

    for (unsigned i = 0; i < nr; i++) {
        memset(text + 10 * i, c, 9);
        text[10 * i + 9] = '\n';
    }
    return text;
}

static unsigned count(const char *text, char c)
{
    unsigned nr = 0;

    for (; *text; text++)
        nr += *text == c;
    return nr;
}

/* Lessons go before siblings, siblings before findings, and the source never. */
static void test_trim(void **state)
{
    struct err err;
    struct prompts *prompts;
    struct prompt_values out, values = {.text = {
                                            [PLACE_SOURCE] = lines('S', 20),
                                            [PLACE_FINDINGS] = lines('F', 20),
                                            [PLACE_SIBLINGS] = lines('B', 20),
                                            [PLACE_LESSONS] = lines('L', 20),
                                        }};

    shell("printf '{{source}}{{findings}}{{siblings}}{{lessons}}' > %s/node.md", folder);
    shell("printf '{{node}}' > %s/improve.md", folder);
    prompts = prompts_load(folder, &err);
    assert_non_null(prompts);
    assert_true(prompt_trim(prompts, PROMPT_IMPROVE, &values, 1000, arena, &out));
    assert_int_equal(count(prompt_fill(prompts, PROMPT_IMPROVE, &out, arena), 'L'), 180);

    assert_true(prompt_trim(prompts, PROMPT_IMPROVE, &values, 180, arena, &out));
    const char *text = prompt_fill(prompts, PROMPT_IMPROVE, &out, arena);
    assert_true(strlen(text) <= 180 * 4);
    assert_int_equal(count(text, 'S'), 180);
    assert_int_equal(count(text, 'F'), 180);
    assert_int_equal(count(text, 'B'), 180);
    assert_true(count(text, 'L') < 90 && count(text, 'L') % 9 == 0);
    assert_non_null(strstr(text, "left out"));

    assert_true(prompt_trim(prompts, PROMPT_IMPROVE, &values, 110, arena, &out));
    text = prompt_fill(prompts, PROMPT_IMPROVE, &out, arena);
    assert_int_equal(count(text, 'S'), 180);
    assert_int_equal(count(text, 'B'), 0);
    assert_int_equal(count(text, 'L'), 0);

    assert_false(prompt_trim(prompts, PROMPT_IMPROVE, &values, 40, arena, &out));
    prompts_destroy(prompts);
}

static void test_prices(void **state)
{
    struct err err;
    struct price price;
    char path[96];

    snprintf(path, sizeof(path), "%s/prices.txt", folder);
    shell("printf '# table\\nsmall*  1 0.1 2 2026-01-31 a list\\n"
          "other*  10 5 20 2026-01-31 the rest\\n' > %s",
        path);
    struct price_table *table = prices_load(path, &err);
    assert_non_null(table);
    assert_true(price_find(table, "small-2026", "openai:other", &price));
    /* 1000 in, of which 600 cached, 500 out: 400 + 60 + 1000 millionths. */
    assert_float_equal(price_of(&price, 1000, 600, 500), 0.00146, 1e-12);
    assert_true(price_find(table, "", "openai:small", &price));
    /* What is in no line has no price, rather than none to pay. */
    assert_false(price_find(table, "third", "openai:third", &price));
    prices_destroy(table);
    shell("printf 'small 1 2\\n' > %s", path);
    assert_null(prices_load(path, &err));
    assert_non_null(strstr(err.text, "prices.txt:1: expected PATTERN"));
    shell("printf '#\\nsmall 1 2 3\\n' > %s", path);
    assert_null(prices_load(path, &err));
    assert_non_null(strstr(err.text, "prices.txt:2: expected after the prices the date"));
    shell("printf 'small 1 2 3 yesterday a list\\n' > %s", path);
    assert_null(prices_load(path, &err));
    table = prices_load(KEET_SOURCE_DIR "/prompts/prices.txt", &err);
    assert_non_null(table);
    assert_false(price_find(table, "gpt-5", "openai:gpt-5", &price));
    assert_true(price_find(table, "script", "script:replies", &price));
    prices_destroy(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_unknown_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missing_and_empty, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_trim, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_prices, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
