/* Memory for secrets: whole, wiped, and not there in a child. */
#include "base/secret.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Blocks of all sizes, freed in another order: none overlaps, all begin as zeros. */
static void test_blocks(void **state)
{
    enum { NR = 400 };
    unsigned char *blocks[NR];
    size_t bytes[NR];
    uint32_t x = 1;

    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < NR; i++) {
            x = x * 1664525u + 1013904223u;
            bytes[i] = i % 50 == 0 ? 300000 + x % 1000 : (x >> 8) % (i % 7 ? 200 : 20000);
            blocks[i] = secret_alloc(bytes[i]);
            assert_int_equal((uintptr_t)blocks[i] % 16, 0);
            for (size_t k = 0; k < bytes[i]; k++)
                assert_int_equal(blocks[i][k], 0);
            memset(blocks[i], i % 255 + 1, bytes[i]);
        }
        for (int i = 0; i < NR; i++) {
            const int at = i * 149 % NR; /* 149 and NR have no common divisor */
            for (size_t k = 0; k < bytes[at]; k++)
                assert_int_equal(blocks[at][k], at % 255 + 1);
            secret_free(blocks[at]);
        }
    }
    secret_free(NULL);
}

static void test_growing(void **state)
{
    char *text = secret_realloc(NULL, 4);

    strcpy(text, "key");
    for (size_t bytes = 5; bytes < 1000000; bytes = bytes * 3 / 2) {
        text = secret_realloc(text, bytes);
        assert_string_equal(text, "key");
        text[bytes - 1] = '\0';
    }
    secret_free(text);
    text = secret_strdup("another");
    assert_string_equal(text, "another");
    secret_free(text);
    text = secret_calloc(3, 5);
    assert_int_equal(text[14], 0);
    secret_free(text);
}

/* A child that reads it faults. */
static void test_children(void **state)
{
    volatile char *key = secret_strdup("sk-0123456789");
    const pid_t pid = fork();
    int status;

    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL);
        _exit(key[3] == '0' ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
    assert_int_equal(key[3], '0');
    secret_free((char *)(uintptr_t)key);
}

static void test_environment(void **state)
{
    char *value, *where;

    setenv("KEET_TEST_KEY", "sk-in-the-environment", 1);
    where = getenv("KEET_TEST_KEY");
    value = secret_take_env("KEET_TEST_KEY");
    assert_string_equal(value, "sk-in-the-environment");
    assert_null(getenv("KEET_TEST_KEY"));
    assert_int_equal(where[0], 0);
    assert_int_equal(where[10], 0);
    assert_null(secret_take_env("KEET_TEST_KEY"));
    secret_free(value);
}

/* Numbers that the compiler holds in registers survive. */
static void test_registers(void **state)
{
    volatile double seed = 1.5;
    double a = seed * 2, b = seed * 3, c = seed * 5;

    secret_clear_registers();
    assert_true(a + b + c == 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_growing),
        cmocka_unit_test(test_children),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_registers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
