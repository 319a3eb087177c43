/* Tests of settings by the kind of request. */
#include "propose/model/by_kind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void values_by_kind(void **state)
{
    struct arena *arena = arena_create();

    assert_null(by_kind(arena, NULL, "design"));
    assert_null(by_kind(arena, "improve=0.5", "design"));
    assert_string_equal(by_kind(arena, "0.7", "design"), "0.7");
    assert_string_equal(by_kind(arena, "design=1,0.7,improve=0.2", "design"), "1");
    assert_string_equal(by_kind(arena, "design=1,0.7,improve=0.2", "improve"), "0.2");
    assert_string_equal(by_kind(arena, "design=1,0.7,improve=0.2", "repair"), "0.7");
    arena_destroy(arena);
}

static void mistakes_are_named(void **state)
{
    static const char *const wrong[] = {"hot", "design=", "design=3", "zorn=1", "1,,2", "-1", "1x"};
    struct err err;

    assert_true(by_kind_check(NULL, "--temperature", true, &err));
    assert_true(by_kind_check("0,design=2,repair=0.25", "--temperature", true, &err));
    assert_true(by_kind_check("high,plan=low", "--effort", false, &err));
    assert_false(by_kind_check("high,plan=\"", "--effort", false, &err));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_false(by_kind_check(wrong[i], "--temperature", true, &err));
        assert_non_null(strstr(err.text, "--temperature"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_by_kind),
        cmocka_unit_test(mistakes_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
