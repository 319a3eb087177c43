/* base/proc and base/sandbox: every way in which a child can end, and what it may not do. */
#include "base/clock.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static const struct proc_limits loose = {.time_s = 20};

static void run(const char *script, const struct proc_limits *limits, struct proc_result *result)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    struct err err;

    if (!proc_run(argv, limits, result, &err))
        fail_msg("%s", err.text);
}

static void call(int (*body)(int, const void *), const void *input,
    const struct proc_limits *limits, struct proc_result *result)
{
    struct err err;

    if (!proc_call(body, input, limits, result, &err))
        fail_msg("%s", err.text);
}

static void test_program(void **state)
{
    struct proc_result r;

    run("echo out; echo oops >&2; cat; exit 3", &loose, &r);
    assert_int_equal(r.end, PROC_EXITED);
    assert_int_equal(r.status, 3);
    assert_string_equal(r.output, "out\n"); /* cat found its input empty */
    assert_string_equal(r.errors, "oops\n");
    proc_result_finish(&r);
    assert_null(r.output);
}

/* Its keeper, which SIGTERM tells of our death, ends as the program does. */
static void test_program_that_is_terminated(void **state)
{
    struct proc_result r;

    (void)state;
    run("kill -TERM $$", &loose, &r);
    assert_int_equal(r.end, PROC_SIGNALLED);
    assert_int_equal(r.status, SIGTERM);
    proc_result_finish(&r);
}

static void test_program_that_is_not(void **state)
{
    static const char *const argv[] = {"keet-no-such-program", NULL};
    struct proc_result r;
    struct err err;

    assert_true(proc_run(argv, &loose, &r, &err));
    assert_int_equal(r.end, PROC_EXITED);
    assert_int_equal(r.status, 127);
    assert_non_null(strstr(r.errors, "keet-no-such-program"));
    proc_result_finish(&r);
}

static int send_pattern(int fd, const void *input)
{
    const unsigned *nr = input;
    char *bytes = malloc(*nr);

    for (unsigned i = 0; i < *nr; i++)
        bytes[i] = (char)(i * 7 + i / 251);
    puts("to nowhere in particular");
    fflush(stdout);
    return fd_write(fd, bytes, *nr) ? 5 : 6;
}

/* Far more than a pipe holds, bytes of every value. */
static void test_body(void **state)
{
    const unsigned nr = 5000000;
    struct proc_result r;

    call(send_pattern, &nr, &loose, &r);
    assert_int_equal(r.end, PROC_EXITED);
    assert_int_equal(r.status, 5);
    assert_int_equal(r.output_bytes, nr);
    for (unsigned i = 0; i < nr; i++) {
        if (r.output[i] != (char)(i * 7 + i / 251))
            fail_msg("byte %u differs", i);
    }
    assert_non_null(strstr(r.errors, "nowhere"));
    proc_result_finish(&r);
}

/* The program and what it started are gone, and no zombie is left of them, whoever was their
 * parent. */
static void test_deadline_takes_the_group(void **state)
{
    const struct proc_limits limits = {.time_s = 1};
    const uint64_t start_ns = clock_ns();
    int program, descendant;
    struct proc_result r;

    run("sleep 60 & echo $$ $!; sleep 60", &limits, &r);
    assert_int_equal(r.end, PROC_DEADLINE);
    assert_int_equal(sscanf(r.output, "%d %d", &program, &descendant), 2);
    assert_true(clock_ns() - start_ns < 15000000000u);
    assert_int_equal(kill(program, 0), -1);
    assert_int_equal(errno, ESRCH);
    assert_int_equal(kill(descendant, 0), -1);
    assert_int_equal(errno, ESRCH);
    proc_result_finish(&r);
}

/* A descendant that keeps the pipe open must not keep us. */
static void test_descendant_left_behind(void **state)
{
    const uint64_t start_ns = clock_ns();
    struct proc_result r;
    pid_t left;

    run("sleep 60 & echo $!", &loose, &r);
    assert_int_equal(r.end, PROC_EXITED);
    assert_int_equal(r.status, 0);
    assert_true(clock_ns() - start_ns < 15000000000u);
    left = (pid_t)atol(r.output);
    assert_true(left > 0);
    assert_int_equal(kill(left, 0), -1); /* not even a zombie is there */
    assert_int_equal(errno, ESRCH);
    proc_result_finish(&r);
}

static void test_too_much_output(void **state)
{
    const struct proc_limits limits = {.time_s = 20, .output_bytes = 1000};
    struct proc_result r;

    run("yes", &limits, &r);
    assert_int_equal(r.end, PROC_OUTPUT);
    assert_int_equal(r.output_bytes, 1000);
    assert_memory_equal(r.output, "y\ny\ny\n", 6);
    proc_result_finish(&r);
}

static void test_errors_are_capped(void **state)
{
    struct proc_result r;

    run("head -c 1000000 /dev/zero >&2; echo done", &loose, &r);
    assert_int_equal(r.end, PROC_EXITED);
    assert_string_equal(r.output, "done\n");
    assert_int_equal(r.errors_bytes, 64 << 10);
    proc_result_finish(&r);
}

/* Takes memory until it has none, then waits to be noticed. */
static int eat(int fd, const void *input)
{
    const size_t step = 4 << 20;

    for (size_t total = 0; total < (size_t)2 << 30; total += step) {
        char *volatile p = malloc(step); /* volatile: or compilers see that it serves nothing */
        if (!p)
            return fd_write(fd, "refused", 7) ? 0 : 1;
        memset(p, 1, step);
        usleep(1000);
    }
    return 9;
}

static void test_memory(void **state)
{
    const struct proc_limits limits = {.time_s = 20, .memory_bytes = 100 << 20};
    struct proc_result r;

    call(eat, NULL, &limits, &r);
    if (r.end == PROC_EXITED)
        assert_string_equal(r.output, "refused");
    else
        assert_int_equal(r.end, PROC_MEMORY);
    proc_result_finish(&r);
}

static void test_processor_time(void **state)
{
    const struct proc_limits limits = {.time_s = 20, .cpu_s = 1};
    struct proc_result r;

    run("while :; do :; done", &limits, &r);
    assert_int_equal(r.end, PROC_DEADLINE);
    proc_result_finish(&r);
}

static int crash(int fd, const void *input)
{
    raise(SIGSEGV);
    return 0;
}

static void test_crash(void **state)
{
    struct proc_result r;

    call(crash, NULL, &loose, &r);
    assert_int_equal(r.end, PROC_SIGNALLED);
    assert_int_equal(r.status, SIGSEGV);
    proc_result_finish(&r);
}

static void ignore(int number)
{
}

/* Handlers, blocked signals and open files stay with the parent. */
static int looks_around(int fd, const void *input)
{
    const int *ours = input;
    struct sigaction now;
    sigset_t blocked;

    sigaction(SIGUSR1, NULL, &now);
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    if (now.sa_handler != SIG_DFL)
        return 1;
    if (sigismember(&blocked, SIGUSR2))
        return 2;
    if (fcntl(*ours, F_GETFD) != -1)
        return 3;
    if (getpgrp() != getpid())
        return 4;
    return 0;
}

static void test_inherits_little(void **state)
{
    const int low = socket(AF_UNIX, SOCK_STREAM, 0), fd = fcntl(low, F_DUPFD, 40);
    struct proc_result r;
    sigset_t block;

    assert_true(fd >= 0);
    sigemptyset(&block);
    sigaddset(&block, SIGUSR2);
    sigprocmask(SIG_BLOCK, &block, NULL);
    signal(SIGUSR1, ignore);
    call(looks_around, &fd, &loose, &r);
    signal(SIGUSR1, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &block, NULL);
    assert_int_equal(r.end, PROC_EXITED);
    assert_int_equal(r.status, 0);
    proc_result_finish(&r);
    close(low);
    close(fd);
}

static int tries_files(int fd, const void *input)
{
    const char *dir = input;
    char path[256];
    int result = 0;

    snprintf(path, sizeof(path), "%s/in", dir);
    result |= open(path, O_RDONLY) >= 0 ? 0 : 1;
    result |= open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES ? 0 : 2;
    snprintf(path, sizeof(path), "%s/new", dir);
    result |= open(path, O_WRONLY | O_CREAT, 0600) < 0 ? 0 : 4;
    result |= open("/proc/self/environ", O_RDONLY) < 0 ? 0 : 8;
    return result;
}

static int has_landlock(int fd, const void *input)
{
    static const char *const none[] = {NULL};

    return sandbox_read_only(none) ? 1 : 0;
}

static void test_sandbox(void **state)
{
    char dir[] = "/tmp/keet-proc-XXXXXX", path[64];
    const char *const readable[] = {dir, "/nonexistent", NULL};
    const struct proc_limits limits = {.time_s = 20, .readable = readable};
    struct proc_result r;
    struct err err;
    bool enforced;

    call(has_landlock, NULL, &loose, &r);
    enforced = r.end == PROC_EXITED && r.status == 1;
    proc_result_finish(&r);
    if (!enforced)
        skip(); /* an older kernel of the operating system */
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/in", dir);
    assert_true(file_write(path, "x", 1, &err));
    call(tries_files, dir, &limits, &r);
    assert_int_equal(r.end, PROC_EXITED);
    assert_int_equal(r.status, 0);
    proc_result_finish(&r);
    unlink(path);
    rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_program),
        cmocka_unit_test(test_program_that_is_terminated),
        cmocka_unit_test(test_program_that_is_not),
        cmocka_unit_test(test_body),
        cmocka_unit_test(test_deadline_takes_the_group),
        cmocka_unit_test(test_descendant_left_behind),
        cmocka_unit_test(test_too_much_output),
        cmocka_unit_test(test_errors_are_capped),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_processor_time),
        cmocka_unit_test(test_crash),
        cmocka_unit_test(test_inherits_little),
        cmocka_unit_test(test_sandbox),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
