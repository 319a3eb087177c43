/* Tests of `keet-opt doctor`: on this machine, and on machines that lack something. */
#include "base/file.h"
#include "base/proc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    root = doctor("KEET_CACHE", "/proc/nonexistent", 0);
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

/* ---- machines with a GPU, played by libraries in a folder of the test's ---- */

static char folder[] = "/tmp/keet-doctor-XXXXXX";

static void put(const char *name, const char *text, size_t bytes)
{
    char path[128];
    struct err err;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (!file_write(path, text, bytes, &err))
        fail_msg("%s", err.text);
}

static void put_library(const char *name, const char *from)
{
    char *bytes;
    size_t nr;
    struct err err;

    if (!file_read(from, 256 << 20, &bytes, &nr, &err))
        fail_msg("%s", err.text);
    put(name, bytes, nr);
    free(bytes);
}

/* The variables lead to the folder; NVML only where settings are given. */
static void play(const char *driver, const char *nvml, const char *params)
{
    char path[128];

    put_library("libcuda.so", KEET_POSING_DRIVER);
    put("driver.txt", driver, strlen(driver));
    put("params", params, strlen(params));
    snprintf(path, sizeof(path), "%s/libcuda.so", folder);
    setenv("KEET_CUDA_DRIVER", path, 1);
    snprintf(path, sizeof(path), "%s/params", folder);
    setenv("KEET_NVIDIA_PARAMS", path, 1);
    snprintf(path, sizeof(path), "%s/%s", folder, nvml ? "libnvidia-ml.so" : "nothing.so");
    setenv("KEET_NVML", path, 1);
    if (nvml) {
        put_library("libnvidia-ml.so", KEET_FAKE_NVML);
        put("fake.txt", nvml, strlen(nvml));
    }
}

static void play_nothing(void)
{
    unsetenv("KEET_CUDA_DRIVER");
    unsetenv("KEET_NVIDIA_PARAMS");
    unsetenv("KEET_NVML");
}

static void test_a_gpu(void **state)
{
    json_t *root;

    (void)state;
    play("version 13000", "mhz 1755 throttle 4", "RmProfilingAdminOnly: 0\n");
    root = doctor(NULL, NULL, 0);
    assert_row(root, "GPU driver", "ok", "CUDA 13.0 (toolkit");
    assert_row(root, "GPU", "ok", "compute capability 9.0, 132 SMs");
    assert_non_null(get(root, "GPU worker", "text"));
    assert_non_null(strstr(get(root, "GPU worker", "advice"), "--no-sandbox"));
    assert_row(root, "NVML", "ok", "1 GPU");
    assert_row(root, "state", "ok", "SM clock 1755 MHz");
    assert_row(root, "state", "ok", "power cap");
    assert_null(get(root, "MIG", "text"));
    assert_row(root, "counters", "ok", "permitted");
    assert_true(json_is_true(json_object_get(root, "gpu_found")));
    json_decref(root);
    play_nothing();
}

static void test_an_old_driver(void **state)
{
    json_t *root;

    (void)state;
    play("version 11040", "mhz 1755", "RmProfilingAdminOnly: 0\n");
    root = doctor(NULL, NULL, 0);
    assert_row(root, "GPU driver", "absent", "CUDA 11.4");
    assert_row(root, "GPU driver", "absent", "install a newer driver");
    assert_true(json_is_false(json_object_get(root, "gpu_found")));
    json_decref(root);
    play("init 999", "mhz 1755", ""); /* CUDA_ERROR_UNKNOWN */
    root = doctor(NULL, NULL, 0);
    assert_row(root, "GPU driver", "absent", "does not start");
    assert_row(root, "GPU driver", "absent", "nvidia-modprobe");
    json_decref(root);
    play("init 100", "mhz 1755", ""); /* CUDA_ERROR_NO_DEVICE */
    root = doctor(NULL, NULL, 0);
    assert_row(root, "GPU driver", "absent", "--gpus all");
    json_decref(root);
    play_nothing();
}

static void test_mig_and_no_nvml(void **state)
{
    json_t *root;

    (void)state;
    play("version 13000", "mig 1", "RmProfilingAdminOnly: 0\n");
    root = doctor(NULL, NULL, 0);
    assert_row(root, "MIG", "absent", "a slice of the GPU");
    assert_non_null(strstr(get(root, "MIG", "advice"), "-mig 0"));
    json_decref(root);
    play("version 13000", NULL, "RmProfilingAdminOnly: 0\n");
    root = doctor(NULL, NULL, 0);
    assert_row(root, "NVML", "absent", "nothing.so");
    assert_non_null(strstr(get(root, "NVML", "advice"), "clocks"));
    json_decref(root);
    play("version 13000", "init 9", ""); /* the driver is not loaded */
    root = doctor(NULL, NULL, 0);
    assert_row(root, "NVML", "absent", "not loaded");
    json_decref(root);
    play("version 13000", "init 18", ""); /* of another version */
    root = doctor(NULL, NULL, 0);
    assert_row(root, "NVML", "absent", "restarted");
    json_decref(root);
    play_nothing();
}

/* The kernel module's word for ERR_NVGPUCTRPERM, to an administrator and to somebody else. */
static void test_no_permission_to_count(void **state)
{
    const char *const argv[] = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
        "--bounding-set=-all", "env", "HOME=/tmp", KEET_BINARY, "doctor", NULL};
    const struct proc_limits limits = {.time_s = 60};
    struct proc_result result;
    struct err err;
    json_t *root;

    (void)state;
    play("version 13000", "mhz 1755", "Other: 1\nRmProfilingAdminOnly: 1\n");
    if (geteuid() != 0) {
        root = doctor(NULL, NULL, 0);
        assert_row(root, "counters", "absent", "ERR_NVGPUCTRPERM");
        assert_non_null(
            strstr(get(root, "counters", "advice"), "NVreg_RestrictProfilingToAdminUsers=0"));
        json_decref(root);
        play_nothing();
        return;
    }
    root = doctor(NULL, NULL, 0);
    assert_row(root, "counters", "ok", "administrator");
    json_decref(root);
    assert_int_equal(chmod(folder, 0755), 0);
    assert_true(proc_run(argv, &limits, &result, &err));
    if (!strstr(result.output, "ERR_NVGPUCTRPERM") && result.status == 127)
        print_message("no setpriv here: not seen as another user\n");
    else if (!strstr(result.output, "ERR_NVGPUCTRPERM") && result.status == 126)
        print_message("another user may not enter the build folder: not seen as that user\n");
    else if (!strstr(result.output, "ERR_NVGPUCTRPERM") ||
             !strstr(result.output, "NVreg_RestrictProfilingToAdminUsers=0"))
        fail_msg("%s%s", result.output, result.errors);
    proc_result_finish(&result);
    play_nothing();
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
        cmocka_unit_test(test_a_gpu),
        cmocka_unit_test(test_an_old_driver),
        cmocka_unit_test(test_mig_and_no_nvml),
        cmocka_unit_test(test_no_permission_to_count),
        cmocka_unit_test(test_text_and_arguments),
    };
    char command[64];
    int failed;

    if (!mkdtemp(folder))
        return 1;
    failed = cmocka_run_group_tests_name("doctor", tests, NULL, NULL);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    return system(command) != 0 || failed;
}
