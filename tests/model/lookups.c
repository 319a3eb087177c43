/* Models that look things up in CUTLASS before they answer: by functions and by text, with unknown
 * tools, files outside the tree, and no end of it. The processes are the real program, the tree is
 * a small one made here, the evidence is the database. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../program.h"

#include "base/str.h"

#define MATMUL KEET_PRODUCT

/* The naive product with its loop unrolled, as a reply. */
static void put_kernel(const char *name)
{
    static const char loop[] = "        for (int k = 0; k < K; k++)";
    struct str text = {0};
    char *source, *at;
    struct err err;
    size_t len;

    assert_true(file_read(MATMUL, 1 << 16, &source, &len, &err));
    at = strstr(source, loop);
    assert_non_null(at);
    str_addf(&text, "Unrolled.\n\n```cuda\n%.*s#pragma unroll 3\n%s```\n", (int)(at - source),
        source, at);
    put(name, text.text);
    str_finish(&text);
    free(source);
}

static int set_up(void **state)
{
    assert_int_equal(open_folder(state), 0);
    put("tree/include/cute/tensor.hpp", "#pragma once\n");
    put("tree/include/cute/atom.hpp", "// one\nstruct SM90_RARE_ATOM {};\n// three\n");
    put("secret.h", "struct secret_outside;\n");
    return 0;
}

static void optimize(const char *model, const char *more)
{
    char text[65536];

    if (run(text, sizeof(text),
            "%s --device emu --cutlass tree --db run.db -o best.cu --budget 1 "
            "--model-only --in-flight 1 --model '%s' %s",
            MATMUL, model, more) != 0)
        fail_msg("%s", text);
}

static void test_functions(void **state)
{
    const char *prompt;

    put("s/write-1.json",
        "{\"text\": \"\", \"calls\": ["
        "{\"id\": \"a\", \"name\": \"search_cutlass\", \"arguments\": {\"query\": "
        "\"SM90_RARE_ATOM\"}},"
        "{\"id\": \"b\", \"name\": \"run_shell\", \"arguments\": {\"command\": \"id\"}},"
        "{\"id\": \"c\", \"name\": \"search_cutlass\", \"arguments\": [1]}]}");
    put("s/write-2.json",
        "{\"text\": \"\", \"calls\": ["
        "{\"id\": \"d\", \"name\": \"read_cutlass_file\", \"arguments\": {\"path\": "
        "\"include/cute/atom.hpp\", \"first_line\": 2, \"nr_lines\": 1}},"
        "{\"id\": \"e\", \"name\": \"read_cutlass_file\", \"arguments\": {\"path\": "
        "\"../secret.h\", \"first_line\": 1, \"nr_lines\": 9}}]}");
    put_kernel("s/write-3.md");
    optimize("script:s", "--no-plan");
    /* every round is a call on record, with what it asked for */
    assert_string_equal(ask("run.db", "SELECT count(*) FROM model_call"), "3");
    expect_in(ask("run.db", "SELECT answer FROM model_call WHERE seq = 0"),
        "search_cutlass({\"query\":\"SM90_RARE_ATOM\"})");
    prompt = ask("run.db", "SELECT prompt FROM model_call WHERE seq = 1");
    expect_in(prompt, "include/cute/atom.hpp:2: struct SM90_RARE_ATOM {};");
    expect_in(prompt, "there is no tool run_shell; known are search_cutlass and read_cutlass_file");
    expect_in(prompt, "arguments of search_cutlass are no JSON object");
    prompt = ask("run.db", "SELECT prompt FROM model_call WHERE seq = 2");
    expect_in(prompt, "include/cute/atom.hpp:2: struct SM90_RARE_ATOM {};"); /* still there */
    expect_in(prompt, "lines 2 to 2 of 3:\n   2  struct SM90_RARE_ATOM {};");
    expect_in(prompt, "there is no file ../secret.h");
    assert_null(strstr(prompt, "secret_outside"));
    assert_string_equal(ask("run.db", "SELECT verdict FROM node WHERE number = 1"), "ok");
    assert_string_equal(ask("run.db", "SELECT count(*) FROM model_call WHERE tokens_in > 0"), "3");
}

/* Six rounds, and then the question is what it has got. */
static void test_no_end_of_look_ups(void **state)
{
    char name[64];

    for (int i = 1; i <= 9; i++) {
        snprintf(name, sizeof(name), "s/write-%d.json", i);
        put(name, "{\"text\": \"\", \"calls\": [{\"id\": \"a\", \"name\": \"search_cutlass\", "
                  "\"arguments\": {\"query\": \"atom\"}}]}");
    }
    put_kernel("s/repair-1.md");
    optimize("script:s", "--no-plan --budget 2");
    assert_string_equal(
        ask("run.db", "SELECT count(*) FROM model_call WHERE purpose = 'write'"), "7");
    expect_in(
        ask("run.db", "SELECT prompt FROM model_call WHERE seq = 6"), "That was the last look-up.");
    assert_string_equal(
        ask("run.db", "SELECT count(*) FROM model_call WHERE purpose = 'repair'"), "1");
    assert_string_equal(ask("run.db", "SELECT verdict FROM node WHERE number = 1"), "ok");
}

/* A program knows no functions: it is told of the lines, and answered by text. Of the plan as of
 * the code. */
static void test_by_text(void **state)
{
    const char *prompt;

    put_kernel("kernel.md");
    put("agent",
        "text=$(cat)\n"
        "case $text in\n"
        "*'RESULT of'*) cat kernel.md ;;\n"
        "*) echo 'Let me look.'; echo 'TOOL search_cutlass {\"query\": \"rare atom\"}' ;;\n"
        "esac\n");
    optimize("cmd:sh agent", "--no-plan");
    assert_string_equal(ask("run.db", "SELECT count(*) FROM model_call"), "2");
    expect_in(
        ask("run.db", "SELECT prompt FROM model_call WHERE seq = 0"), "TOOL read_cutlass_file {");
    prompt = ask("run.db", "SELECT prompt FROM model_call WHERE seq = 1");
    expect_in(prompt, "RESULT of search_cutlass {\"query\": \"rare atom\"}\n");
    expect_in(prompt, "include/cute/atom.hpp:2: struct SM90_RARE_ATOM {};");
    assert_string_equal(ask("run.db", "SELECT verdict FROM node WHERE number = 1"), "ok");
}

/* An endpoint that takes no function definitions says so: the same question again, by text. */
static void test_functions_refused(void **state)
{
    put("s/write-1.json",
        "{\"outcome\": \"failed\", \"error\": \"status 400: this model does not support tools\"}");
    put("s/write-2.md", "TOOL search_cutlass {\"query\": \"SM90_RARE_ATOM\"}\n");
    put_kernel("s/write-3.md");
    optimize("script:s", "--no-plan");
    assert_string_equal(ask("run.db", "SELECT count(*) FROM model_call"), "3");
    expect_in(
        ask("run.db", "SELECT error FROM model_call WHERE seq = 0"), "does not support tools");
    expect_in(
        ask("run.db", "SELECT prompt FROM model_call WHERE seq = 1"), "TOOL read_cutlass_file {");
    expect_in(ask("run.db", "SELECT prompt FROM model_call WHERE seq = 2"),
        "include/cute/atom.hpp:2: struct SM90_RARE_ATOM {};");
    assert_string_equal(ask("run.db", "SELECT verdict FROM node WHERE number = 1"), "ok");
}

/* Recorded and replayed: the answers are part of the prompts, and are the same again. */
static void test_replayed(void **state)
{
    char text[256];

    put("s/plan-1.json",
        "{\"text\": \"\", \"calls\": [{\"id\": \"a\", \"name\": \"search_cutlass\", "
        "\"arguments\": {\"query\": \"SM90_RARE_ATOM\"}}]}");
    put("s/plan-2.md", "Unroll the loop.\n");
    put_kernel("s/write-1.md");
    optimize("script:s", "--plan --record tape");
    assert_string_equal(ask("run.db", "SELECT count(*) FROM model_call"), "3");
    expect_in(
        ask("run.db", "SELECT prompt FROM model_call WHERE purpose = 'write'"), "Unroll the loop.");
    snprintf(text, sizeof(text), "rm %s/run.db*", folder);
    assert_int_equal(system(text), 0);
    optimize("replay:tape", "--plan");
    assert_string_equal(ask("run.db", "SELECT count(*) FROM model_call WHERE error IS NULL"), "3");
    assert_string_equal(ask("run.db", "SELECT verdict FROM node WHERE number = 1"), "ok");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_functions, set_up, remove_folder),
        cmocka_unit_test_setup_teardown(test_no_end_of_look_ups, set_up, remove_folder),
        cmocka_unit_test_setup_teardown(test_by_text, set_up, remove_folder),
        cmocka_unit_test_setup_teardown(test_functions_refused, set_up, remove_folder),
        cmocka_unit_test_setup_teardown(test_replayed, set_up, remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
