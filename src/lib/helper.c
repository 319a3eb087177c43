/* Owns a helper process: starting it, talking to it, ending it. The host may have threads, so that
 * it is never forked: posix_spawn starts the program, with no files but those named here. */
#include "lib/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SLICE_MS = 50, START_S = 60, STOP_MS = 2000, CLOCK_FACTOR = 10 };

bool helper_error(struct keet_error *error, enum keet_error_kind kind, const char *format, ...)
{
    va_list ap;

    if (!error)
        return false;
    error->kind = kind;
    va_start(ap, format);
    vsnprintf(error->text, sizeof(error->text), format, ap);
    va_end(ap);
    return false;
}

/* ---- ending ---- */

static void let_go(struct helper *helper)
{
    close(helper->socket);
    close(helper->errors);
    helper->pid = 0;
    helper->last = 0;
}

/* Its children end with it: they hold sockets to it, and have asked for its death signal. */
static void kill_helper(struct helper *helper, int *status)
{
    *status = 0;
    kill(helper->pid, SIGKILL);
    while (waitpid(helper->pid, status, 0) < 0 && errno == EINTR)
        continue;
}

void helper_stop(struct helper *helper)
{
    const struct timespec moment = {.tv_nsec = 2000000};
    int status;

    if (!helper->pid)
        return;
    shutdown(helper->socket, SHUT_RDWR); /* a forked child of this process may have a copy */
    for (int waited_ms = 0; waited_ms < STOP_MS; waited_ms += 2) {
        if (waitpid(helper->pid, NULL, WNOHANG) != 0) {
            let_go(helper);
            return;
        }
        nanosleep(&moment, NULL);
    }
    kill_helper(helper, &status);
    let_go(helper);
}

void helper_forget(struct helper *helper)
{
    if (helper->pid)
        let_go(helper);
}

/* The last line that the process printed, or how it ended. */
static void say_why(const struct helper *helper, int status, char why[512])
{
    const off_t end = lseek(helper->errors, 0, SEEK_END), from = end > 480 ? end - 480 : 0;
    const ssize_t n = end > 0 ? pread(helper->errors, why, (size_t)(end - from), from) : 0;
    char *line;

    why[n > 0 ? n : 0] = '\0';
    for (ssize_t i = n; i > 0 && (why[i - 1] == '\n' || why[i - 1] == ' '); i--)
        why[i - 1] = '\0';
    line = strrchr(why, '\n');
    if (line)
        memmove(why, line + 1, strlen(line + 1) + 1);
    if (why[0])
        return;
    if (WIFSIGNALED(status))
        snprintf(why, 512, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(why, 512, "status %d", WEXITSTATUS(status));
}

/* ---- talking ---- */

/* Processor time, so that a busy machine makes no difference; a process that sleeps for ever is
 * late as well. */
struct patience {
    clockid_t clock; /* of the helper process */
    bool has_clock;
    double until_cpu_s, until_s;
};

static double time_on(clockid_t clock)
{
    struct timespec now;

    return clock_gettime(clock, &now) == 0 ? (double)now.tv_sec + (double)now.tv_nsec * 1e-9 : 0;
}

static struct patience begin(const struct helper *helper, double limit_s)
{
    struct patience p = {.until_s = time_on(CLOCK_MONOTONIC) + CLOCK_FACTOR * limit_s};

    p.has_clock = clock_getcpuclockid(helper->pid, &p.clock) == 0;
    p.until_cpu_s = p.has_clock ? time_on(p.clock) + limit_s : 0;
    return p;
}

static bool is_late(const struct patience *p)
{
    return (p->has_clock && time_on(p->clock) >= p->until_cpu_s) ||
           time_on(CLOCK_MONOTONIC) >= p->until_s;
}

enum helper_end helper_call(struct helper *helper, const struct frame *request,
    struct frame *answer, double limit_s, const atomic_uint *interrupts, unsigned as_begun,
    char why[512])
{
    const struct patience patience = begin(helper, limit_s);
    struct pollfd one = {.fd = helper->socket, .events = POLLIN};
    bool late = false;
    enum helper_end end = HELPER_GONE;
    int status;

    if (!request || frame_send(helper->socket, request)) {
        while (poll(&one, 1, SLICE_MS) <= 0 && !late &&
               (!interrupts || atomic_load(interrupts) == as_begun))
            late = is_late(&patience);
        if (one.revents && frame_receive(helper->socket, answer))
            return HELPER_ANSWERED;
        end = one.revents ? HELPER_GONE : late ? HELPER_LATE : HELPER_INTERRUPTED;
    }
    kill_helper(helper, &status);
    say_why(helper, status, why);
    let_go(helper);
    return end;
}

/* ---- starting ---- */

/* The host's variables and one more, in heap memory; NULL: memory is short. */
static char **environment(char *cuda)
{
    size_t nr = 0, at = 0;
    char **all;

    while (environ && environ[nr])
        nr++;
    all = malloc((nr + 2) * sizeof(*all));
    if (!all)
        return NULL;
    for (size_t i = 0; i < nr; i++)
        if (!cuda || strncmp(environ[i], "KEET_CUDA=", 10) != 0)
            all[at++] = environ[i];
    if (cuda)
        all[at++] = cuda;
    all[at] = NULL;
    return all;
}

/* Interrupts of the host's terminal are the host's: the process is of a group of its own, and has
 * the default action for all signals. 0, or an errno. */
static int spawn(struct helper *helper, int socket, const char *const *argv, char **env)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int failed;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    failed = posix_spawn_file_actions_adddup2(&files, socket, STDIN_FILENO);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&files, helper->errors, STDERR_FILENO);
    if (!failed)
        failed = posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (!failed)
        failed = posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    if (!failed)
        failed = posix_spawnp(
            &helper->pid, argv[0], &files, &attributes, (char *const *)(uintptr_t)argv, env);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

/* Descriptors above those of the standard streams, so that a host without these loses nothing. */
static bool open_ends(struct helper *helper, int *far)
{
    int ends[2], errors;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    errors = memfd_create("keet-errors", MFD_CLOEXEC);
    helper->socket = fcntl(ends[0], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    *far = fcntl(ends[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    helper->errors = errors < 0 ? -1 : fcntl(errors, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(ends[0]);
    close(ends[1]);
    if (errors >= 0)
        close(errors);
    if (helper->socket >= 0 && *far >= 0 && helper->errors >= 0)
        return true;
    close(helper->socket);
    close(helper->errors);
    close(*far);
    return false;
}

/* The first message: what is at the other end, or why nothing can be done there. */
static bool hear(struct helper *helper, const char *program, struct keet_error *error)
{
    struct frame frame;
    char why[512];
    json_t *head;
    const char *text;
    bool ok;

    if (helper_call(helper, NULL, &frame, START_S, NULL, 0, why) != HELPER_ANSWERED)
        return helper_error(error, KEET_ENVIRONMENT,
            "the helper process %s did not start: %s; set KEET_OPT to the program keet-opt of this "
            "version",
            program, why);
    head = json_loadb(frame.text[FRAME_HEAD], frame.bytes[FRAME_HEAD], 0, NULL);
    frame_finish(&frame);
    text = json_string_value(json_object_get(head, "error"));
    ok = head && !text;
    if (text)
        helper_error(error, KEET_ENVIRONMENT, "%s", text);
    text = json_string_value(json_object_get(head, "version"));
    if (ok && (!text || strcmp(text, KEET_VERSION) != 0))
        ok = helper_error(error, KEET_ENVIRONMENT, "%s is of version %s, and the library of %s",
            program, text ? text : "?", KEET_VERSION);
    json_decref(head);
    if (!ok)
        helper_stop(helper);
    return ok;
}

bool helper_start(struct helper *helper, const char *const *argv, const char *cuda,
    uint64_t memory_bytes, struct keet_error *error)
{
    const struct rlimit limit = {memory_bytes, memory_bytes};
    char *variable = NULL, **env;
    int far, failed;

    if (cuda && asprintf(&variable, "KEET_CUDA=%s", cuda) < 0)
        return helper_error(error, KEET_ENVIRONMENT, "out of memory");
    env = environment(variable);
    if (!env || !open_ends(helper, &far)) {
        free(env);
        free(variable);
        return helper_error(
            error, KEET_ENVIRONMENT, "cannot start a helper process: %s", strerror(errno));
    }
    failed = spawn(helper, far, argv, env);
    close(far);
    free(env);
    free(variable);
    if (failed) {
        let_go(helper);
        return helper_error(error, KEET_ENVIRONMENT,
            "cannot start the program %s: %s; set KEET_OPT to its path", argv[0], strerror(failed));
    }
    if (memory_bytes)
        prlimit(helper->pid, RLIMIT_DATA, &limit, NULL);
    return hear(helper, argv[0], error);
}
