/* What a worker process cannot do once it has its context: a driver that tries it all is loaded in
 * place of the real one, and its process's exit status says what it could. */
#include "base/sandbox.h"
#include "device/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* As in tests/fake/hostile_driver.c. */
enum { CONNECTS = 1, READS = 2, WRITES = 4, EXECUTES = 32, SIGNALS_PARENT = 64, TRIED = 128 };

static unsigned what_it_could(bool no_sandbox)
{
    const struct device_options options = {.name = "gpu", .no_sandbox = no_sandbox};
    struct err err;
    struct device *device = device_create(&options, &err);
    const char *status;
    unsigned could = 0;

    if (device == NULL)
        fail_msg("%s", err.text);
    assert_true(device_alloc(device, 64, "memory", &err) == 0); /* its poison is the attempt */
    status = strstr(err.text, "(status ");
    if (status == NULL || sscanf(status, "(status %u)", &could) != 1)
        fail_msg("%s", err.text);
    device_destroy(device);
    return could;
}

/* Whether this machine's kernel enforces anything. */
static bool can_lock_up(void)
{
    const char *const none[] = {NULL};
    const pid_t pid = fork();
    int status = 1;

    if (pid == 0)
        _exit(sandbox_read_only(none) && sandbox_no_escape() ? 0 : 1);
    return waitpid(pid, &status, 0) == pid && status == 0;
}

static void a_worker_can_do_nothing_else(void **state)
{
    (void)state;
    if (!can_lock_up())
        skip();
    assert_int_equal(what_it_could(false), TRIED);
}

/* The attempts are real: without the sandbox they succeed, but for the environment, which is
 * cleared all the same. Reading the parent's takes the right to trace it, which not everyone has.
 */
static void without_a_sandbox_it_can(void **state)
{
    const unsigned could = what_it_could(true);

    (void)state;
    assert_int_equal(could & ~16u, TRIED | CONNECTS | READS | WRITES | EXECUTES | SIGNALS_PARENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_can_do_nothing_else),
        cmocka_unit_test(without_a_sandbox_it_can),
    };
    char folder[] = "/tmp/keet-sandbox-XXXXXX", command[64];
    int failed;

    if (mkdtemp(folder) == NULL)
        return 1;
    setenv("KEET_LOCK_DIR", folder, 1);
    setenv("KEET_CUDA_DRIVER", KEET_HOSTILE_DRIVER, 1);
    setenv("KEET_TEST_SECRET", "open sesame", 1);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    return system(command) != 0 || failed;
}
