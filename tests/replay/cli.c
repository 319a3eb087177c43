/* The command line as a person meets it: every wrong use gets one clear line and the right exit
 * status. The processes are the real program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../program.h"

struct wrong {
    const char *arguments;
    int status;
    const char *says; /* somewhere in the output */
};

static void wrong_use_is_answered_clearly(void **state)
{
    static const struct wrong cases[] = {
        {"", 2, "no kernel file given"},
        {"a.cu b.cu", 2, "unexpected argument b.cu"},
        {"--wat a.cu", 2, "unknown option --wat"},
        {"a.cu --budget", 2, "--budget needs a value"},
        {"a.cu --budget ten", 2, "--budget ten: expected a number of variants"},
        {"a.cu --budget 0", 2, "--budget 0: expected"},
        {"a.cu --budget -3", 2, "--budget -3: expected"},
        {"a.cu --seed x", 2, "--seed x: expected a whole number"},
        {"a.cu --policy best", 2, "expected one of mcts"},
        {"a.cu --dump d", 2, "--dump goes with"},
        {"missing.cu", 1, "missing.cu"},
        {".", 1, "cannot read"},
        {"empty.cu", 1, "empty.cu"},
        {"binary.cu", 1, "binary.cu"},
        {"plain.cu", 1, "plain.cu"},
        {"good.cu --device toaster", 1, "toaster"},
        {"good.cu --db notadb.db", 1, "notadb.db"},
        {"good.cu --db nowhere/x.db", 1, "nowhere/x.db"},
        {"good.cu --budget 1 -o nowhere/best.cu", 1, "nowhere/best.cu"},
    };
    char text[65536];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const int status = run(text, sizeof(text), "%s", cases[i].arguments);
        if (status != cases[i].status || !strstr(text, cases[i].says))
            fail_msg("keet-opt %s: status %d (want %d), said: %s", cases[i].arguments, status,
                cases[i].status, text);
        assert_null(strstr(text, "Sanitizer"));
    }
}

static void help_and_version_are_there(void **state)
{
    char text[65536];

    (void)state;
    assert_int_equal(run(text, sizeof(text), "--help"), 0);
    assert_non_null(strstr(text, "keet-opt KERNEL.cu"));
    assert_int_equal(run(text, sizeof(text), "--version"), 0);
    assert_non_null(strstr(text, "keet-opt " KEET_VERSION));
}

static void a_broken_original_is_refused_with_its_line(void **state)
{
    char text[65536];

    (void)state;
    assert_int_equal(run(text, sizeof(text), "broken.cu --budget 2"), 1);
    assert_non_null(strstr(text, "broken.cu:7"));
    assert_int_equal(run(text, sizeof(text), "run broken.cu"), 3);
    assert_non_null(strstr(text, "no_compile"));
}

static int make_folder(void **state)
{
    static const char good[] = "#pragma keet size N = 1000\n"
                               "#pragma keet check N = 33\n"
                               "#pragma keet in x : f32[N]\n"
                               "#pragma keet out y : f32[N]\n"
                               "#pragma keet launch twice<<<ceil_div(N, 64), 64>>>(x, y, N)\n"
                               "__global__ void twice(const float *x, float *y, int n)\n"
                               "{\n"
                               "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "    if (i < n)\n"
                               "        y[i] = 2 * x[i];\n"
                               "}\n";
    static const char broken[] = "#pragma keet size N = 1000\n"
                                 "#pragma keet in x : f32[N]\n"
                                 "#pragma keet out y : f32[N]\n"
                                 "#pragma keet launch twice<<<ceil_div(N, 64), 64>>>(x, y, N)\n"
                                 "__global__ void twice(const float *x, float *y, int n)\n"
                                 "{\n"
                                 "    y[nowhere] = x[threadIdx.x];\n"
                                 "}\n";

    (void)state;
    if (open_folder(state) != 0)
        return -1;
    put("good.cu", good);
    put("broken.cu", broken);
    put("empty.cu", "");
    put_bytes("binary.cu", "\177ELF\0\1\2\3\377\376", 10);
    put("plain.cu", "__global__ void f(int *p) { *p = 1; }\n");
    put("notadb.db", "this is not a database, it only has its name............");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_and_version_are_there),
        cmocka_unit_test(wrong_use_is_answered_clearly),
        cmocka_unit_test(a_broken_original_is_refused_with_its_line),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
