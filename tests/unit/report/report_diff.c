/* The unified diff, against texts worked out by hand. */
#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void expect_diff(const char *a, const char *b, const char *want)
{
    struct str out = {0};

    report_diff(&out, "old", a, "new", b);
    assert_string_equal(str_text(&out), want);
    str_finish(&out);
}

static void equal_texts_give_nothing(void **state)
{
    (void)state;
    expect_diff("", "", "");
    expect_diff("a\nb\n", "a\nb\n", "");
}

static void a_changed_line_has_three_lines_of_context(void **state)
{
    (void)state;
    expect_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n",
        "--- old\n+++ new\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

static void far_changes_are_two_hunks(void **state)
{
    (void)state;
    expect_diff("a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n",
        "--- old\n+++ new\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n"
        "@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n");
}

static void additions_to_nothing_and_missing_newlines(void **state)
{
    (void)state;
    expect_diff("", "x\n", "--- old\n+++ new\n@@ -0,0 +1,1 @@\n+x\n");
    expect_diff(
        "x", "x\n", "--- old\n+++ new\n@@ -1,1 +1,1 @@\n-x\n\\ No newline at end of file\n+x\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts_give_nothing),
        cmocka_unit_test(a_changed_line_has_three_lines_of_context),
        cmocka_unit_test(far_changes_are_two_hunks),
        cmocka_unit_test(additions_to_nothing_and_missing_newlines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
