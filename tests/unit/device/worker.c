/* The GPU device and its worker, driven through the software driver: what kernels, crashes and
 * hangs do, what survives them, and what is left behind. */
#include "base/clock.h"
#include "base/sandbox.h"
#include "base/mem.h"
#include "device/device.h"

#include "faults_ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NR = 1000 };

static struct kernel_facts facts[] = {
    {.kernel = "add", .lowered = "add", .registers = 10},
    {.kernel = "stray", .lowered = "stray", .registers = 10},
    {.kernel = "endless", .lowered = "endless", .registers = 10},
    {.kernel = "trapped", .lowered = "trapped", .registers = 10},
};
enum { ADD, STRAY, ENDLESS, TRAPPED };

static const struct compilation compiled = {
    .ptx = faults_ptx, .ptx_bytes = sizeof(faults_ptx), .kernels = facts, .nr_kernels = 4};

static struct device *create(double deadline_s)
{
    const struct device_options options = {.name = "gpu", .deadline_s = deadline_s};
    struct err err;
    struct device *device = device_create(&options, &err);

    if (device == NULL)
        fail_msg("%s", err.text);
    return device;
}

static struct device_result launch(
    struct device *device, struct device_module *module, unsigned kernel, uint64_t array)
{
    const struct launch_config config = {
        .kernel = facts[kernel].kernel, .grid = {8, 1, 1}, .block = {128, 1, 1}};
    const struct device_arg args[] = {{.kind = ARG_ARRAY, .address = array, .name = "a"},
        {.kind = ARG_INTEGER, .integer = 3}, {.kind = ARG_INTEGER, .integer = NR}};
    const struct device_launch what = {.config = &config,
        .facts = &facts[kernel],
        .args = args,
        .nr_args = kernel == ADD ? 3 : 1,
        .line = 7};
    struct device_result result;
    struct err err;

    if (!device_launch(device, module, &what, &result, &err))
        fail_msg("%s", err.text);
    return result;
}

static struct device_module *load(struct device *device)
{
    struct device_module *module;
    struct device_result result;
    struct err err;

    if (!device_load(device, &compiled, &module, &result, &err))
        fail_msg("%s", err.text);
    assert_int_equal(result.verdict, VERDICT_OK);
    return module;
}

static uint64_t array_of(struct device *device, uint32_t first)
{
    uint32_t words[NR];
    struct err err;
    const uint64_t address = device_alloc(device, sizeof(words), "words", &err);

    for (uint32_t i = 0; i < NR; i++)
        words[i] = first + i;
    assert_true(device_write(device, address, words, sizeof(words), &err));
    return address;
}

static bool holds(struct device *device, uint64_t address, uint32_t first)
{
    uint32_t words[NR];
    struct err err;

    if (!device_read(device, address, words, sizeof(words), &err))
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < NR; i++)
        if (words[i] != first + i)
            return false;
    return true;
}

/* Children of this process, the dead that nobody fetched included. */
static unsigned nr_children(pid_t *last)
{
    char path[64];
    unsigned nr = 0;
    FILE *file;
    int pid;

    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    file = fopen(path, "r");
    assert_non_null(file);
    while (fscanf(file, "%d", &pid) == 1) {
        nr++;
        *last = pid;
    }
    fclose(file);
    return nr;
}

static void kernels_run(void **state)
{
    struct device *device = create(0);
    struct device_module *module = load(device);
    const uint64_t a = array_of(device, 100);

    (void)state;
    assert_string_equal(device->ops->name, "gpu");
    assert_string_equal(device->chip->name, "NVIDIA H100 (software)");
    assert_int_equal(device->ops->time_from, PROV_MODELLED); /* and never measured */
    assert_int_equal(launch(device, module, ADD, a).verdict, VERDICT_OK);
    assert_true(holds(device, a, 103));
    device_unload(device, module);
    device_free(device, a);
    device_destroy(device);
}

static void time_is_modelled(void **state)
{
    const struct launch_config config = {.kernel = "add", .grid = {8, 1, 1}, .block = {128, 1, 1}};
    struct device *device = create(0);
    struct device_module *module = load(device);
    const uint64_t a = array_of(device, 0);
    const struct device_arg args[] = {{.kind = ARG_ARRAY, .address = a, .name = "a"},
        {.kind = ARG_INTEGER, .integer = 3}, {.kind = ARG_INTEGER, .integer = NR}};
    const struct device_launch one = {
        .config = &config, .facts = &facts[ADD], .args = args, .nr_args = 3};
    const struct device_launch launches[] = {one, one};
    const struct device_measure measure = {.launches = launches, .nr_launches = 2};
    struct arena *arena = arena_create();
    struct profile profile;
    struct device_result result;
    struct err err;

    (void)state;
    assert_true(device_measure(device, module, &measure, arena, &profile, &result, &err));
    assert_int_equal(result.verdict, VERDICT_OK);
    assert_int_equal(profile.time_from, PROV_MODELLED);
    assert_int_equal(profile.nr_launches, 2);
    assert_true(profile.time_ns > 1e3 && profile.time_ns < 1e6);
    assert_float_equal(counters_get(&profile.launches[0], METRIC_TIME_NS) * 2, profile.time_ns, 1);
    assert_int_equal(counters_get(&profile.total, METRIC_BLOCK_THREADS), 128);
    arena_destroy(arena);
    device_unload(device, module);
    device_destroy(device);
}

/* Adds one to a variable of its module, and says what the variable holds then. */
static const char counting_ptx[] = ".version 8.0\n.target sm_90a\n.address_size 64\n"
                                   ".global .align 4 .u32 calls;\n"
                                   ".global .align 4 .b8 table[8] = {1, 2};\n"
                                   ".visible .entry count(\n.param .u64 count_param_0\n)\n{\n"
                                   ".reg .b32 %r<3>;\n.reg .b64 %rd<2>;\n"
                                   "ld.param.u64 %rd1, [count_param_0];\n"
                                   "atom.global.add.u32 %r1, [calls], 1;\n"
                                   "add.u32 %r2, %r1, 1;\n"
                                   "st.global.u32 [%rd1], %r2;\nret;\n}\n";

static void variables_are_restored(void **state)
{
    static struct kernel_facts count = {.kernel = "count", .lowered = "count", .registers = 8};
    static const struct compilation counting = {
        .ptx = counting_ptx, .ptx_bytes = sizeof(counting_ptx), .kernels = &count, .nr_kernels = 1};
    static const struct launch_config config = {
        .kernel = "count", .grid = {1, 1, 1}, .block = {1, 1, 1}};
    struct device *device = create(0);
    const uint64_t a = array_of(device, 0);
    const struct device_arg arg = {.kind = ARG_ARRAY, .address = a, .name = "a"};
    const struct device_launch one = {
        .config = &config, .facts = &count, .args = &arg, .nr_args = 1};
    const struct device_launch launches[] = {one, one};
    const struct device_measure measure = {.launches = launches, .nr_launches = 2};
    /* After so many launches: the first two; after a reset one; the two that are timed find what
     * there was before the measurement, though it ran each by itself first. */
    static const uint32_t want[] = {1, 2, 1, 3, 4};
    struct arena *arena = arena_create();
    struct device_module *module;
    struct device_result result;
    struct profile profile;
    uint32_t got;
    struct err err;

    (void)state;
    assert_true(device_load(device, &counting, &module, &result, &err));
    assert_int_equal(result.verdict, VERDICT_OK);
    for (unsigned i = 0; i < ARRAY_SIZE(want); i++) {
        if (i == 2)
            device->ops->reset(device, module);
        assert_true(i == 3
                        ? device_measure(device, module, &measure, arena, &profile, &result, &err)
                        : device_launch(device, module, &one, &result, &err));
        assert_int_equal(result.verdict, VERDICT_OK);
        assert_true(device_read(device, a, &got, sizeof(got), &err));
        assert_int_equal(got, want[i]);
    }
    arena_destroy(arena);
    device_unload(device, module);
    device_free(device, a);
    device_destroy(device);
}

struct killer {
    pid_t pid;
};

static void *kill_soon(void *argument)
{
    usleep(30000);
    kill(((struct killer *)argument)->pid, SIGABRT);
    return NULL;
}

/* One candidate that ends badly, in one of four ways. */
static struct device_result end_badly(
    struct device *device, struct device_module *module, unsigned way, uint64_t a)
{
    struct device_result result;
    struct killer killer;
    pthread_t thread;

    switch (way) {
    case 0:
        return launch(device, module, STRAY, a);
    case 1:
        return launch(device, module, TRAPPED, a);
    case 2:
        return launch(device, module, ENDLESS, a);
    default: /* the process itself crashes under a kernel */
        assert_int_equal(nr_children(&killer.pid), 1);
        assert_int_equal(pthread_create(&thread, NULL, kill_soon, &killer), 0);
        result = launch(device, module, ENDLESS, a);
        pthread_join(thread, NULL);
        return result;
    }
}

static void hundred_deaths_lose_nothing(void **state)
{
    static const enum verdict expected[] = {
        VERDICT_FAULT, VERDICT_FAULT, VERDICT_TIMEOUT, VERDICT_FAULT};
    static const char *const words[] = {"CUDA_ERROR_ILLEGAL_ADDRESS", "CUDA_ERROR_LAUNCH_FAILED",
        "did not end within 1.5 s", "signal 6"};
    struct device *device = create(1.5);
    struct device_module *module = load(device);
    const uint64_t kept = array_of(device, 7), a = array_of(device, 0);
    uint64_t replaced_ns = 0, start_ns;
    pid_t pid;

    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        /* few by the deadline, which is long, so that a busy machine is not late for the others */
        const unsigned way = i % 4 == 2 && i % 20 != 2 ? 3 : i % 4;
        const struct device_result result = end_badly(device, module, way, a);

        assert_int_equal(result.verdict, expected[way]);
        assert_int_equal(result.line, 7);
        assert_non_null(strstr(result.text, words[way]));
        assert_true(nr_children(&pid) <= 1);
        /* The next candidate runs as if nothing had been, on data written long ago. */
        start_ns = clock_ns();
        assert_true(holds(device, a, 0));
        replaced_ns += clock_ns() - start_ns;
        assert_int_equal(launch(device, module, ADD, a).verdict, VERDICT_OK);
        assert_true(holds(device, a, 3));
        assert_true(holds(device, kept, 7));
        assert_int_equal(nr_children(&pid), 1);
    }
    assert_true(replaced_ns / 100 < 500 * UINT64_C(1000000));
    device_unload(device, module);
    device_destroy(device);
    assert_int_equal(nr_children(&pid), 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

/* The driver's refusals leave the worker as it was. */
static void refusals_are_verdicts(void **state)
{
    struct device *device = create(0);
    struct device_module *module = load(device), *none;
    const uint64_t a = array_of(device, 0);
    const struct launch_config config = {
        .kernel = "endless", .grid = {1, 1, 1}, .block = {1025, 1, 1}};
    const struct device_arg arg = {.kind = ARG_ARRAY, .address = a, .name = "a"};
    const struct device_launch large = {
        .config = &config, .facts = &facts[ENDLESS], .args = &arg, .nr_args = 1, .line = 7};
    const struct compilation bad = {
        .ptx = "nonsense", .ptx_bytes = 9, .kernels = facts, .nr_kernels = 1};
    struct device_result result;
    struct err err;
    pid_t before, after;

    (void)state;
    nr_children(&before);
    assert_true(device_launch(device, module, &large, &result, &err));
    assert_int_equal(result.verdict, VERDICT_LAUNCH_FAILED);
    assert_non_null(strstr(result.text, "CUDA_ERROR_INVALID_VALUE"));
    assert_true(device_load(device, &bad, &none, &result, &err));
    assert_int_equal(result.verdict, VERDICT_NO_COMPILE);
    assert_null(none);
    nr_children(&after);
    assert_int_equal(before, after);
    device_unload(device, module);
    device_destroy(device);
}

static void one_process_per_gpu(void **state)
{
    const struct device_options options = {.name = "gpu:0"};
    struct device *device = create(0), *second;
    char holder[32];
    struct err err;

    (void)state;
    assert_null(device_create(&options, &err));
    snprintf(holder, sizeof(holder), "process %d)", (int)getpid());
    assert_non_null(strstr(err.text, holder));
    device_destroy(device);
    second = device_create(&options, &err);
    assert_non_null(second);
    device_destroy(second);
}

static void there_is_no_second_gpu(void **state)
{
    const struct device_options options = {.name = "gpu:1"};
    struct err err;

    (void)state;
    assert_null(device_create(&options, &err));
    assert_non_null(strstr(err.text, "there is no GPU 1"));
}

/* A GPU is preferred where one is; where none is, the emulator does. */
static void auto_takes_the_gpu(void **state)
{
    const struct device_options options = {.name = "auto", .nr_threads = 1};
    struct err err;
    struct device *device = device_create(&options, &err);

    (void)state;
    assert_string_equal(device->ops->name, "gpu");
    device_destroy(device);
    setenv("KEET_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
    device = device_create(&options, &err);
    assert_string_equal(device->ops->name, "emu");
    device_destroy(device);
    setenv("KEET_CUDA_DRIVER", KEET_SOFTWARE_DRIVER, 1);
}

static void the_sandbox_holds(void **state)
{
    int status;
    const pid_t pid = fork();

    (void)state;
    if (pid == 0) {
        char *const argv[] = {(char *)(uintptr_t) "true", NULL};

        if (!sandbox_no_escape())
            _exit(77);
        if (socket(AF_INET, SOCK_STREAM, 0) != -1 || errno != EPERM)
            _exit(1);
        if (kill(getppid(), 0) != -1 || errno != EPERM)
            _exit(2);
        if (execv("/bin/true", argv) != -1 || errno != EPERM)
            _exit(3);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_run),
        cmocka_unit_test(time_is_modelled),
        cmocka_unit_test(variables_are_restored),
        cmocka_unit_test(hundred_deaths_lose_nothing),
        cmocka_unit_test(refusals_are_verdicts),
        cmocka_unit_test(one_process_per_gpu),
        cmocka_unit_test(there_is_no_second_gpu),
        cmocka_unit_test(auto_takes_the_gpu),
        cmocka_unit_test(the_sandbox_holds),
    };
    char folder[] = "/tmp/keet-worker-XXXXXX", path[128];
    struct dirent *entry;
    int failed;
    DIR *dir;

    if (mkdtemp(folder) == NULL)
        return 1;
    setenv("KEET_LOCK_DIR", folder, 1);
    setenv("KEET_CUDA_DRIVER", KEET_SOFTWARE_DRIVER, 1);
    setenv("KEET_CUDA_THREADS", "1", 1);
    setenv("KEET_CUDA_STEPS", "100000", 1); /* an endless kernel soon stops using the processor */
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    dir = opendir(folder);
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        snprintf(path, sizeof(path), "%s/%.60s", folder, entry->d_name);
        unlink(path);
    }
    if (dir != NULL)
        closedir(dir);
    rmdir(folder);
    return failed;
}
