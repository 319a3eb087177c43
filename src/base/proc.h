/* Child processes that cannot hurt us. A child is a function of ours in a forked process, or a
 * program; it has a deadline, limits on memory and processor time, and captured output. The child
 * and all processes that it started are dead when the call returns, and they die when we do.
 *
 * The way in which a child ended is a result (struct proc_result). False with err means that no
 * child could be started. Usage:
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
    /* For bodies. Files and folders (with all below) that the child may read, ended by NULL;
     * nothing may be written, and sandbox_no_escape holds. NULL: no restriction. Paths that do not
     * exist are skipped. */
    const char *const *readable;
    /* For the user's programs that only look: sandbox_look_only of these files and folders, ended
     * by NULL. The environment is LANG, LC_ALL, a PATH of the system's folders, and HOME=/, so that
     * it holds no key. NULL: no restriction. */
    const char *const *runnable;
    /* For proc_run: a file of "NAME=VALUE", each ended by a NUL byte. The variables go into the
     * program's environment and are never in the caller's own memory; 0: none. */
    int env_fd;
    const atomic_bool
        *stop; /* once it is set, the child ends within 20 ms: PROC_STOPPED; or NULL */
};

enum proc_end {
    PROC_EXITED,    /* status: the exit code */
    PROC_SIGNALLED, /* status: the signal, which we did not send */
    PROC_DEADLINE,  /* killed: out of wall or processor time */
    PROC_MEMORY,    /* killed: over memory_bytes */
    PROC_OUTPUT,    /* killed: over output_bytes */
    PROC_UNSAFE,    /* not begun: the sandbox of `readable` or `runnable` could not be set up */
    PROC_STOPPED    /* killed: the caller set `stop` */
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

/* A sentence for PROC_UNSAFE: what lacks, and what to do. */
extern const char proc_unsafe_text[];

/* Asks for the end of all children whose caller gave proc_interrupted() as `stop`, those that run
 * and those to come, and of calls of fork servers. Fine in a signal handler. */
void proc_interrupt(void);
const atomic_bool *proc_interrupted(void);
void proc_go_on(void); /* children to come run as before; not in a signal handler */

/* Runs body(fd, input) in a forked child. The value that body returns is the child's exit code; the
 * bytes that body writes to fd become `output`; its stdout and stderr become `errors`. The body
 * sees the caller's memory as it is now; exit handlers do not run. Where the caller has other
 * threads, the body must not need a lock that another thread could hold: glibc's malloc is fine, a
 * sanitizer's is not. base/fork_server.h has no such limit. */
bool proc_call(int (*body)(int fd, const void *input), const void *input,
    const struct proc_limits *limits, struct proc_result *result, struct err *err);

/* Runs a program, looked up in PATH, with an empty standard input. Exit code 127: not found. */
bool proc_run(const char *const argv[], const struct proc_limits *limits,
    struct proc_result *result, struct err *err);

/* proc_run with bytes on the program's standard input. */
bool proc_run_fed(const char *const argv[], const void *bytes, size_t len,
    const struct proc_limits *limits, struct proc_result *result, struct err *err);

#endif
