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
        {"a.cu --dump d", 2, "--dump goes with `keet-opt run`"},
        {"run a.cu --budget 3", 2, "--budget goes with `keet-opt KERNEL.cu`, `keet-opt tune`"},
        {"results a.db --md", 2,
            "--md goes with `keet-opt compare`, `keet-opt explain` and `keet-opt report`"},
        {"run", 2, "an argument is missing; try: keet-opt run"},
        {"diff a.db 1", 2, "an argument is missing; try: keet-opt diff"},
        {"doctor a.cu", 2, "unexpected argument a.cu after doctor"},
        {"export a.db", 2, "export: --as is missing: expected one of kernelbench"},
        {"report a.db --as t4", 2, "expected one of html, md, json"},
        {"completion tcsh", 2, "expected bash, zsh or fish"},
        {"help nothing", 2, "there is no verb nothing"},
        {"a.cu --threads 2000", 2, "--threads 2000: expected 0 to 1024"},
        {"a.cu --max-cost free --model none", 2, "--max-cost free: expected a sum"},
        {"a.cu -I", 2, "-I needs a value"},
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

static void a_verb_has_a_page_of_its_own(void **state)
{
    char text[65536], again[65536];

    (void)state;
    assert_int_equal(run(text, sizeof(text), "run --help"), 0);
    expect_in(text, "keet-opt run KERNEL.cu");
    expect_in(text, "--sanitize LIST");
    assert_null(strstr(text, "--budget"));
    assert_int_equal(run(again, sizeof(again), "help run"), 0);
    assert_string_equal(text, again);
    assert_int_equal(run(text, sizeof(text), "no_such.cu -h"), 0);
    expect_in(text, "--budget N|TIME");
    assert_null(strstr(text, "--prompt-tokens")); /* rare: the man page has it */
    assert_int_equal(run(text, sizeof(text), "man"), 0);
    expect_in(text, "prompt\\-tokens");
}

/* 0 and 2 are elsewhere here. */
static void the_status_says_who_is_to_blame(void **state)
{
    static const struct wrong cases[] = {
        {"run good.cu", 0, "good.cu: ok"},
        {"explain good.cu --device emu", 0, "latency-bound"},
        {"run missing.cu", 1, "missing.cu"},
        {"show missing.db best", 1, "there is no such file"},
        {"run broken.cu", 3, "no_compile"},
        {"explain broken.cu", 3, "no_compile"},
        {"run fault.cu", 3, "fault.cu:1: the original does not run cleanly"},
        {"compare good.cu good.cu --fail-if slower=0%", 0, "passed"},
        {"compare good.cu fault.cu", 3, "out of bounds"},
        {"compare fault.cu good.cu", 1, "out of bounds"},
        {"run fault.cu --sanitize memory", 3, "out of bounds"},
        {"explain fault.cu", 3, "out of bounds"},
        {"explain good.cu fault.cu", 3, "out of bounds"},
        {"fault.cu --budget 2", 1, "out of bounds"},
    };
    char text[65536];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const int status = run(text, sizeof(text), "%s", cases[i].arguments);

        if (status != cases[i].status || !strstr(text, cases[i].says))
            fail_msg("keet-opt %s: status %d (want %d), said: %s", cases[i].arguments, status,
                cases[i].status, text);
    }
}

static void headers_of_the_user_are_found_by_I(void **state)
{
    static const char *const verbs[] = {"run", "explain", "explain good.cu", ""};
    char text[65536];

    (void)state;
    assert_int_equal(run(text, sizeof(text), "run header.cu"), 3);
    expect_in(text, "twice.h");
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
        if (run(text, sizeof(text), "%s header.cu -I inc -D FACTOR=2 --device emu%s", verbs[i],
                *verbs[i] ? "" : " --budget 2") != 0)
            fail_msg("%s header.cu: %s", verbs[i], text);
}

static void a_prompt_is_shown_without_a_key(void **state)
{
    static const char *const models[] = {"openai:any", "anthropic:any"};
    char text[262144];

    (void)state;
    unsetenv("OPENAI_API_KEY");
    unsetenv("ANTHROPIC_API_KEY");
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
        assert_int_equal(run(text, sizeof(text), "good.cu --model %s --show-prompt", models[i]), 0);
        expect_in(text, "#pragma keet launch twice");
        assert_int_equal(run(text, sizeof(text), "good.cu --model %s --budget 2", models[i]), 1);
        expect_in(text, "no key");
    }
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

    static const char fault[] = "#pragma keet size N = 1000\n"
                                "#pragma keet in x : f32[N]\n"
                                "#pragma keet out y : f32[N]\n"
                                "#pragma keet launch twice<<<ceil_div(N, 64), 64>>>(x, y)\n"
                                "__global__ void twice(const float *x, float *y)\n"
                                "{\n"
                                "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                "    y[i] = 2 * x[i];\n"
                                "}\n";
    static const char header[] = "#include \"twice.h\"\n"
                                 "#pragma keet size N = 1000\n"
                                 "#pragma keet in x : f32[N]\n"
                                 "#pragma keet out y : f32[N]\n"
                                 "#pragma keet launch twice<<<ceil_div(N, 64), 64>>>(x, y, N)\n"
                                 "__global__ void twice(const float *x, float *y, int n)\n"
                                 "{\n"
                                 "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                 "    if (i < n)\n"
                                 "        y[i] = scaled(x[i]);\n"
                                 "}\n";

    (void)state;
    if (open_folder(state) != 0)
        return -1;
    put("good.cu", good);
    put("fault.cu", fault);
    put("header.cu", header);
    put("inc/twice.h",
        "#pragma once\n__device__ inline float scaled(float x) { return FACTOR * x; }\n");
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
        cmocka_unit_test(a_verb_has_a_page_of_its_own),
        cmocka_unit_test(the_status_says_who_is_to_blame),
        cmocka_unit_test(headers_of_the_user_are_found_by_I),
        cmocka_unit_test(a_prompt_is_shown_without_a_key),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
