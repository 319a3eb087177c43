/* Child processes that cannot hurt us: a function of ours in a forked child, or a program, with a
 * deadline, memory and processor limits, and captured output. The child and whatever it started are
 * dead when the call returns, and they die when we do.
 *
 * How a child ended is a result (struct proc_result); false and err mean that none could be
 * started. Usage:
 *
 *     struct proc_limits limits = {.time_s = 10, .memory_bytes = 1 << 30};
 *     struct proc_result result;
 *     if (!proc_call(body, &input, &limits, &result, err))
 *         return false;
 *     if (result.end == PROC_EXITED && result.status == 0) ... result.output ...
 *     proc_result_finish(&result);
 */
#ifndef KEET_BASE_PROC_H
#define KEET_BASE_PROC_H

#include "base/err.h"
#include "base/fd.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proc_limits {
    double time_s;         /* on the wall; 0: none */
    double cpu_s;          /* of processor time, rounded up to whole seconds; 0: none */
    uint64_t memory_bytes; /* on top of what the caller had at the fork; 0: none */
    size_t output_bytes;   /* more output than this ends the child; 0: 256 MiB */
    /* Files and folders (with all below) that the child may read, ended by NULL; nothing may be
     * written. Needs Landlock (Linux 5.13); on older kernels only writing is stopped. NULL: no
     * restriction. Paths that do not exist are skipped. */
    const char *const *readable;
    /* For programs that are only to look: reads and runs what the caller may, writes nothing but
     * /dev/null, has no network, and no environment beyond PATH, HOME, LANG and LC_ALL, so that no
     * key is in it. Needs Landlock and seccomp; without them only the environment is cleared. */
    bool look_only;
    /* proc_run: a file of "NAME=VALUE", each ended by a NUL byte, that go into the program's
     * environment without ever being in the caller's own memory; 0: none. */
    int env_fd;
    const atomic_bool *stop; /* another thread sets it: the child ends as PROC_STOPPED; or NULL */
};

enum proc_end {
    PROC_EXITED,    /* status: the exit code */
    PROC_SIGNALLED, /* status: the signal, which was not ours */
    PROC_DEADLINE,  /* killed: out of wall or processor time */
    PROC_MEMORY,    /* killed: over memory_bytes */
    PROC_OUTPUT,    /* killed: over output_bytes */
    PROC_STOPPED    /* killed: the caller's wish */
};

struct proc_result {
    enum proc_end end;
    int status;
    char *output; /* heap, NUL-terminated; everything up to the end, even when killed */
    size_t output_bytes;
    char *errors; /* likewise; the first 64 KiB of the child's stderr */
    size_t errors_bytes;
};
void proc_result_finish(struct proc_result *result);

/* Run body(fd, input) in a forked child whose exit code it returns; what it writes to fd becomes
 * `output`, its stdout and stderr become `errors`. It sees the caller's memory as of now; exit
 * handlers do not run. Where the caller has other threads, body must not need a lock that one of
 * them could hold: malloc is fine, but not a sanitizer's; base/fork_server.h has neither limit. */
bool proc_call(int (*body)(int fd, const void *input), const void *input,
    const struct proc_limits *limits, struct proc_result *result, struct err *err);

/* Run a program, looked up in PATH, with nothing on its standard input. Exit code 127: not found.
 */
bool proc_run(const char *const argv[], const struct proc_limits *limits,
    struct proc_result *result, struct err *err);

/* The same with bytes on its standard input. */
bool proc_run_fed(const char *const argv[], const void *bytes, size_t len,
    const struct proc_limits *limits, struct proc_result *result, struct err *err);

#endif
