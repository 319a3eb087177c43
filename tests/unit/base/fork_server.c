/* base/fork_server: answers, side by side and whatever other threads hold; limits; both ways to
 * end. */
#include "base/clock.h"
#include "base/fork_server.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const struct proc_limits loose = {.time_s = 20};

/* What a call asks for by its first letter. */
static int obey(int fd, const void *context, const void *input, size_t bytes)
{
    const char *order = input;
    char line[64];
    char *volatile heap;
    int len;

    switch (order[0]) {
    case 'e': /* echo, with what the context was at the fork */
        len = snprintf(line, sizeof(line), "%d:", *(const int *)context);
        fputs("noted", stderr);
        return fd_write(fd, line, (size_t)len) && fd_write(fd, order, bytes) ? 0 : 1;
    case 'a': /* allocates, as a compiler does */
        for (int i = 0; i < 200; i++) {
            heap = malloc((size_t)i * 37 + 1);
            if (!heap)
                return 2;
            free(heap);
        }
        return 0;
    case 'c':
        abort();
    default:
        for (;;)
            pause();
    }
}

static struct fork_server *create(const void *context, const struct proc_limits *limits)
{
    struct err err = {0};
    struct fork_server *server = fork_server_create(obey, context, limits, &err);

    if (!server)
        fail_msg("%s", err.text);
    return server;
}

static void call(struct fork_server *server, const char *order, struct proc_result *result)
{
    struct err err = {0};

    if (!fork_server_call(server, order, strlen(order), result, &err))
        fail_msg("%s", err.text);
    assert_string_equal(err.text, "");
}

static void test_answer(void **state)
{
    const size_t many = 3 << 20;
    char *order = malloc(many + 1);
    int context = 7;
    struct fork_server *server = create(&context, &loose);
    struct proc_result r;

    context = 8;
    call(server, "echo", &r);
    assert_int_equal(r.end, PROC_EXITED);
    assert_int_equal(r.status, 0);
    assert_string_equal(r.output, "7:echo");
    assert_string_equal(r.errors, "noted");
    proc_result_finish(&r);
    memset(order, 'e', many);
    order[many] = '\0';
    call(server, order, &r);
    assert_int_equal(r.output_bytes, many + 2);
    assert_string_equal(r.output + 2, order);
    proc_result_finish(&r);
    free(order);
    fork_server_destroy(server);
}

static void test_ends(void **state)
{
    const struct proc_limits brief = {.time_s = 0.2, .output_bytes = 100};
    struct fork_server *server = create(&(int){0}, &brief);
    char order[200];
    struct proc_result r;

    call(server, "sleep", &r);
    assert_int_equal(r.end, PROC_DEADLINE);
    proc_result_finish(&r);
    memset(order, 'e', sizeof(order));
    order[sizeof(order) - 1] = '\0';
    call(server, order, &r);
    assert_int_equal(r.end, PROC_OUTPUT);
    proc_result_finish(&r);
    fork_server_destroy(server);

    server = create(&(int){0}, &loose);
    call(server, "crash", &r);
    assert_int_equal(r.end, PROC_SIGNALLED);
    assert_int_equal(r.status, SIGABRT);
    proc_result_finish(&r);
    fork_server_destroy(server);
}

/* ---- threads ---- */

enum { CALLERS = 3, CALLS = 20 };

static void *allocates(void *input)
{
    atomic_bool *stop = input;

    while (!atomic_load(stop)) {
        char *volatile heap = malloc(1000);
        free(heap);
    }
    return NULL;
}

static void *calls(void *input)
{
    struct fork_server *server = input;
    uintptr_t good = 0;

    for (int i = 0; i < CALLS; i++) {
        struct proc_result r;
        struct err err;

        if (!fork_server_call(server, "allocate", 8, &r, &err))
            continue;
        good += r.end == PROC_EXITED && r.status == 0;
        proc_result_finish(&r);
    }
    return (void *)good; // NOLINT(performance-no-int-to-ptr): a count
}

/* A child forked from here would now and then wait for ever for a lock of a sanitizer's allocator,
 * which another thread held at the fork. */
static void test_side_by_side(void **state)
{
    struct fork_server *server = create(&(int){0}, &loose);
    pthread_t callers[CALLERS], noise;
    atomic_bool stop = false;

    assert_int_equal(pthread_create(&noise, NULL, allocates, &stop), 0);
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, calls, server), 0);
    for (int i = 0; i < CALLERS; i++) {
        void *good;

        pthread_join(callers[i], &good);
        assert_int_equal((uintptr_t)good, CALLS);
    }
    atomic_store(&stop, true);
    pthread_join(noise, NULL);
    fork_server_destroy(server);
}

/* ---- ends ---- */

/* With two of them, neither keeps the other alive. */
static void test_destroyed(void **state)
{
    struct fork_server *first = create(&(int){1}, &loose), *second = create(&(int){2}, &loose);
    struct proc_result r;

    fork_server_destroy(first);
    call(second, "echo", &r);
    assert_string_equal(r.output, "2:echo");
    proc_result_finish(&r);
    fork_server_destroy(second);
    fork_server_destroy(NULL);
}

static void *sleeps(void *input)
{
    struct proc_result r;

    call(input, "sleep", &r);
    return NULL;
}

/* Our death ends a call that is under way, its child included. The test takes in whatever loses its
 * parent, and so sees all of them end long before the call would. */
static void test_dies_with_us(void **state)
{
    const uint64_t start_ns = clock_ns();
    int status, nr = 0;
    pid_t program;

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    program = fork();
    if (program == 0) {
        struct fork_server *server = create(&(int){0}, &(struct proc_limits){.time_s = 60});
        pthread_t caller;

        pthread_create(&caller, NULL, sleeps, server);
        usleep(300000);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(program, &status, 0), program);
    assert_int_equal(WTERMSIG(status), SIGKILL);
    while (waitpid(-1, &status, 0) > 0)
        nr++;
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    assert_in_range(nr, 1, 3); /* the server, and its two where the call had begun */
    assert_true((double)(clock_ns() - start_ns) * 1e-9 < 30);
}

/* Killed from outside: an error that says so, no hang and no signal. */
static void test_fork_server_lost(void **state)
{
    struct fork_server *server = create(&(int){0}, &loose);
    char path[64], line[32] = "";
    struct proc_result r;
    struct err err = {0};
    FILE *children;

    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    children = fopen(path, "r");
    if (!children)
        skip(); /* a kernel without CONFIG_PROC_CHILDREN */
    assert_non_null(fgets(line, sizeof(line), children));
    fclose(children);
    assert_int_equal(kill((pid_t)atoi(line), SIGKILL), 0);
    assert_false(fork_server_call(server, "echo", 4, &r, &err));
    assert_non_null(strstr(err.text, "is gone"));
    fork_server_destroy(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answer),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_destroyed),
        cmocka_unit_test(test_dies_with_us),
        cmocka_unit_test(test_fork_server_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
