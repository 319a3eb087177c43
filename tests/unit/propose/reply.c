/* Tests of propose/reply: a kernel file out of whatever a model writes, or a sentence that says
 * what is wrong. */
#include "propose/model/reply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define FILE_TEXT                                                                                  \
    "#pragma keet launch f<<<1, 32>>>(A)\n"                                                        \
    "__global__ void f(float *A)\n"                                                                \
    "{\n"                                                                                          \
    "    A[threadIdx.x] = 1;\n"                                                                    \
    "}\n"

static const char base[] = "#pragma keet launch f<<<1, 32>>>(A)\n"
                           "__global__ void f(float *A)\n"
                           "{\n"
                           "    int i = threadIdx.x;\n"
                           "    A[i] = 0;\n"
                           "    A[i] = 0;\n"
                           "}\n";

static struct arena *arena;

static int set_up(void **state)
{
    arena = arena_create();
    return 0;
}

static int tear_down(void **state)
{
    arena_destroy(arena);
    return 0;
}

static void expect_source(const char *text, const char *source)
{
    const struct reply r = reply_read(arena, text, base, false);

    if (r.kind != REPLY_SOURCE)
        fail_msg("kind %d: %s", r.kind, r.why);
    assert_string_equal(r.source, source);
    assert_int_equal(r.bytes, strlen(source));
}

static void expect_kind(const char *text, enum reply_kind kind, const char *why)
{
    const struct reply r = reply_read(arena, text, base, false);

    assert_int_equal(r.kind, kind);
    if (!strstr(r.why, why))
        fail_msg("'%s' should say '%s'", r.why, why);
}

static void test_blocks(void **state)
{
    expect_source("Set to one. Then more.\n\n```cuda\n" FILE_TEXT "```\nDone.\n", FILE_TEXT);
    assert_string_equal(
        reply_read(arena, "Set to one. Then.\n```\n" FILE_TEXT "```", base, false).note,
        "Set to one");
    expect_source("~~~~cpp\n" FILE_TEXT "~~~~", FILE_TEXT);
    expect_source("  ```\n" FILE_TEXT "  ```", FILE_TEXT);
    /* Other blocks, with and without a kernel, do not disturb. */
    expect_source(
        "```\nx = 1\n```\n```cuda\n" FILE_TEXT "```\n```bash\nrm -rf /\n```\n", FILE_TEXT);
    expect_source("```\n__global__ void g() {}\n```\n```\n" FILE_TEXT "```\n", FILE_TEXT);
    /* The same file twice is one file. */
    expect_source("```\n" FILE_TEXT "```\nThat is:\n```\n" FILE_TEXT "```\n", FILE_TEXT);
    /* No fences at all. */
    expect_source("Here it is:\n" FILE_TEXT, FILE_TEXT);
}

/* A note is cut at 200 bytes, before the character that would not fit. */
static void test_long_note(void **state)
{
    char text[512], expected[256] = "";

    for (int i = 0; i < 66; i++)
        strcat(expected, "\xe2\x82\xac"); /* a euro sign: 3 bytes, so that 198 fit */
    snprintf(text, sizeof(text), "%s\xe2\x82\xac more\n```\n" FILE_TEXT "```", expected);
    assert_string_equal(reply_read(arena, text, base, false).note, expected);
    snprintf(text, sizeof(text), "a%s\xe2\x82\xac more\n```\n" FILE_TEXT "```", expected);
    assert_int_equal(strlen(reply_read(arena, text, base, false).note), 199);
    snprintf(text, sizeof(text), "ab%s\xe2\x82\xac more\n```\n" FILE_TEXT "```", expected);
    assert_int_equal(strlen(reply_read(arena, text, base, false).note), 200);
}

static void test_line_ends_and_numbers(void **state)
{
    expect_source(
        "```cuda\r\n#pragma keet launch f<<<1, 1>>>()\r\n__global__ void f() {}\r\n```\r\n",
        "#pragma keet launch f<<<1, 1>>>()\n__global__ void f() {}\n");
    expect_source("```\n   1| #pragma keet launch f<<<1, 1>>>()\n   2| \n   3| __global__ void f() "
                  "{}\n```\n",
        "#pragma keet launch f<<<1, 1>>>()\n\n__global__ void f() {}\n");
}

static void test_failures(void **state)
{
    expect_kind("The move does not apply: there is no loop.", REPLY_NO_KERNEL, "there is no loop");
    expect_kind("", REPLY_NO_KERNEL, "no kernel");
    expect_kind("I'm sorry, but I can't help with that.", REPLY_REFUSED, "refused");
    expect_kind("```cuda\n" FILE_TEXT, REPLY_TRUNCATED, "cut short");
    expect_kind("```cuda\n#pragma keet la", REPLY_TRUNCATED, "cut short");
    expect_kind("```\n" FILE_TEXT "```\n```\n" FILE_TEXT "// other\n```\n", REPLY_TWO,
        "2 different kernel files");
    expect_kind("```\n__global__ void f() {}\n```\n", REPLY_NO_LAUNCH, "#pragma keet launch");
    assert_int_equal(reply_read(arena, "```\n__global__ void f", base, true).kind, REPLY_TRUNCATED);
}

static void test_edits(void **state)
{
    const char *one = "Use two.\n<<<<<<< SEARCH\n    int i = threadIdx.x;\n=======\n    int i = "
                      "threadIdx.y;\n>>>>>>> REPLACE\n";
    const char *changed = "#pragma keet launch f<<<1, 32>>>(A)\n__global__ void f(float *A)\n{\n"
                          "    int i = threadIdx.y;\n    A[i] = 0;\n    A[i] = 0;\n}\n";

    expect_source(one, changed);
    /* In a fence, with other blanks, with CRLF. */
    expect_source("```\n<<<<<<< SEARCH\nint i = threadIdx.x;  \n=======\n    int i = "
                  "threadIdx.y;\n>>>>>>> REPLACE\n```\n",
        changed);
    expect_source("<<<<<<< SEARCH\r\n    int i = threadIdx.x;\r\n=======\r\n    int i = "
                  "threadIdx.y;\r\n>>>>>>> REPLACE\r\n",
        changed);
    /* A deletion, and two edits of which the second builds on the first. */
    expect_source("<<<<<<< SEARCH\n    A[i] = 0;\n    A[i] = 0;\n=======\n    A[i] = 5;\n>>>>>>> "
                  "REPLACE\n<<<<<<< SEARCH\n    A[i] = 5;\n=======\n>>>>>>> REPLACE\n",
        "#pragma keet launch f<<<1, 32>>>(A)\n__global__ void f(float *A)\n{\n"
        "    int i = threadIdx.x;\n}\n");
}

static void test_bad_edits(void **state)
{
    expect_kind("<<<<<<< SEARCH\n    A[i] = 0;\n=======\nx\n>>>>>>> REPLACE\n", REPLY_BAD_EDIT,
        "in 2 places");
    expect_kind(
        "<<<<<<< SEARCH\n    A[j] = 0;\n=======\nx\n>>>>>>> REPLACE\n", REPLY_BAD_EDIT, "nowhere");
    expect_kind("<<<<<<< SEARCH\n    A[j] = 0;\n=======\nx\n>>>>>>> REPLACE\n", REPLY_BAD_EDIT,
        "A[j] = 0;");
    expect_kind("<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n", REPLY_BAD_EDIT, "nowhere");
    expect_kind("<<<<<<< SEARCH\n    int i\n=======\nx\n", REPLY_TRUNCATED, "inside an edit");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_blocks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_long_note, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_line_ends_and_numbers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_edits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_edits, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
