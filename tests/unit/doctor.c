/* Tests of `keet-opt doctor`: on this machine, and on machines that lack something. */
#include "base/proc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

/* One run with a variable of the environment set (NULL: none); the answer as JSON. */
static json_t *doctor(const char *name, const char *value, int status)
{
    const char *const argv[] = {KEET_BINARY, "doctor", "--json", NULL};
    const struct proc_limits limits = {.time_s = 60};
    struct proc_result result;
    json_error_t problem;
    struct err err;
    json_t *root;

    if (name)
        setenv(name, value, 1);
    assert_true(proc_run(argv, &limits, &result, &err));
    if (name)
        unsetenv(name);
    assert_int_equal(result.end, PROC_EXITED);
    if (result.status != status)
        print_message("%s%s\n", result.output, result.errors);
    assert_int_equal(result.status, status);
    root = json_loads(result.output, 0, &problem);
    assert_non_null(root);
    proc_result_finish(&result);
    return root;
}

static const char *get(const json_t *root, const char *row, const char *key)
{
    size_t i;
    const json_t *object;

    json_array_foreach(json_object_get(root, "rows"), i, object)
    {
        if (strcmp(json_string_value(json_object_get(object, "name")), row) == 0)
            return json_string_value(json_object_get(object, key));
    }
    return NULL;
}

static void assert_row(const json_t *root, const char *row, const char *state, const char *part)
{
    const char *got = get(root, row, "state"), *text = get(root, row, "text");

    if (!got || strcmp(got, state) != 0)
        print_message("%s: %s\n", row, text ? text : "not there");
    assert_non_null(got);
    assert_string_equal(got, state);
    assert_non_null(strstr(text, part));
}

static void test_here(void **state)
{
    static const char *const names[] = {"NVRTC", "CUDA headers", "libclang", "emulator", "sandbox",
        "cache", "prompts", "GPU driver", "NVML", "CUPTI", "counters"};
    json_t *root = doctor(NULL, NULL, 0);

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_non_null(get(root, names[i], "text"));
    assert_true(json_is_true(json_object_get(root, "emulator_works")));
    assert_row(root, "NVRTC", "ok", "NVRTC 1");
    assert_row(root, "emulator", "ok", "small kernel");
    assert_row(root, "prompts", "ok", "/prompts");
    json_decref(root);
}

static void test_without_driver(void **state)
{
    json_t *root = doctor("KEET_CUDA_DRIVER", "/nonexistent/libcuda.so", 0);

    (void)state;
    assert_row(root, "GPU driver", "absent", "/nonexistent/libcuda.so");
    assert_row(root, "counters", "absent", "no GPU");
    assert_true(json_is_false(json_object_get(root, "gpu_found")));
    assert_non_null(strstr(json_string_value(json_object_get(root, "summary")), "emulator"));
    json_decref(root);
    /* A library that is there and is no driver. */
    root = doctor("KEET_CUDA_DRIVER", "libm.so.6", 0);
    assert_row(root, "GPU driver", "absent", "cuInit");
    json_decref(root);
}

static void test_without_toolkit(void **state)
{
    json_t *root = doctor("KEET_CUDA", "/nonexistent", 1);

    (void)state;
    assert_row(root, "NVRTC", "broken", "setup.sh");
    assert_row(root, "emulator", "broken", "NVRTC");
    assert_non_null(strstr(json_string_value(json_object_get(root, "summary")), "cannot"));
    json_decref(root);
}

static void test_without_folders(void **state)
{
    json_t *root = doctor("KEET_SHARE", "/nonexistent", 0);

    (void)state;
    assert_row(root, "prompts", "absent", "prompts/");
    assert_non_null(strstr(get(root, "prompts", "advice"), "KEET_SHARE"));
    json_decref(root);
    root = doctor("XDG_CACHE_HOME", "/proc/nonexistent", 0);
    assert_row(root, "cache", "absent", "/proc/nonexistent");
    json_decref(root);
}

/* Whether keys are there is said, and never what they are. */
static void test_models(void **state)
{
    json_t *root;
    char *text;

    (void)state;
    unsetenv("OPENAI_API_KEY");
    unsetenv("ANTHROPIC_API_KEY");
    unsetenv("KEET_API_KEY");
    root = doctor(NULL, NULL, 0);
    assert_row(root, "model keys", "absent", "OPENAI_API_KEY: not set");
    assert_non_null(strstr(get(root, "model keys", "advice"), "VARIABLE_FILE"));
    json_decref(root);
    root = doctor("OPENAI_API_KEY", "sk-not-to-be-shown", 0);
    assert_row(root, "model keys", "ok", "ANTHROPIC_API_KEY: not set; OPENAI_API_KEY: set");
    text = json_dumps(root, 0);
    assert_null(strstr(text, "not-to-be"));
    free(text);
    json_decref(root);
    root = doctor("OPENAI_API_KEY_FILE", "/nonexistent/key", 0);
    assert_row(root, "model keys", "absent", "OPENAI_API_KEY: in a file that cannot be read");
    json_decref(root);
    root = doctor("KEET_CUTLASS", "/nonexistent", 0);
    assert_row(root, "CUTLASS", "absent", "/nonexistent");
    assert_non_null(strstr(get(root, "CUTLASS", "advice"), "setup.sh --cutlass"));
    json_decref(root);
    root = doctor("KEET_CUTLASS", "none", 0);
    assert_row(root, "CUTLASS", "absent", "not found");
    json_decref(root);
}

static void test_text_and_arguments(void **state)
{
    const char *const text[] = {KEET_BINARY, "doctor", NULL};
    const char *const wrong[] = {KEET_BINARY, "doctor", "kernel.cu", NULL};
    const struct proc_limits limits = {.time_s = 60};
    struct proc_result result;
    struct err err;

    (void)state;
    assert_true(proc_run(text, &limits, &result, &err));
    assert_int_equal(result.status, 0);
    assert_non_null(strstr(result.output, "ok      NVRTC"));
    assert_non_null(strstr(result.output, "works here on the emulator"));
    proc_result_finish(&result);
    assert_true(proc_run(wrong, &limits, &result, &err));
    assert_int_equal(result.status, 2);
    proc_result_finish(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_here),
        cmocka_unit_test(test_without_driver),
        cmocka_unit_test(test_without_toolkit),
        cmocka_unit_test(test_without_folders),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_text_and_arguments),
    };

    return cmocka_run_group_tests_name("doctor", tests, NULL, NULL);
}
