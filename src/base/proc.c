/* Owns child processes from fork to reaping. */
#include "base/proc.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/sandbox.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* AddressSanitizer reserves terabytes of address space, so that limits on address space and data
 * would end any child at once; the watch over resident memory below holds there too. */
#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#ifndef HAS_ASAN
#define HAS_ASAN 0
#endif

enum {
    BODY_FD = 3,
    ERRORS_BYTES = 64 << 10,
    OUTPUT_BYTES = 256 << 20,
    ENV_BYTES = 16 << 10,
    WATCH_MS = 20
};

/* What a child tells us. */
struct child_word {
    volatile bool unsafe;   /* the sandbox could not be set up */
    volatile pid_t program; /* the process of argv; 0: it has not begun */
};

/* What a child runs: argv, or body with input. */
struct child_job {
    const char *const *argv;
    int (*body)(int fd, const void *input);
    const void *input;
    int stdin_fd; /* -1: nothing on standard input */
    const struct proc_limits *limits;
    int output[2], errors[2];            /* pipes: read end, write end */
    uint64_t data_bytes, resident_bytes; /* ours at the fork */
    struct child_word *word;             /* in memory that the child shares */
};

/* The parent's view of a running child. */
struct watch {
    pid_t pid;
    int pidfd;
    uint64_t start_ns;
    const struct child_job *job;
    struct str output, errors;
    bool killed;
    enum proc_end why;
};

static bool memory_of(pid_t pid, uint64_t *resident_bytes, uint64_t *data_bytes)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    unsigned long long size, resident, shared, text, lib, data;
    char path[32], line[160];
    ssize_t len;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    len = read(fd, line, sizeof(line) - 1);
    close(fd);
    if (len <= 0)
        return false;
    line[len] = '\0';
    if (sscanf(line, "%llu %llu %llu %llu %llu %llu", &size, &resident, &shared, &text, &lib,
            &data) != 6)
        return false;
    *resident_bytes = resident * page;
    *data_bytes = data * page;
    return true;
}

/* ---- the child, between fork and body or exec ---- */

static void limit(int resource, uint64_t value)
{
    const struct rlimit pair = {.rlim_cur = value, .rlim_max = value};

    setrlimit((__rlimit_resource_t)resource, &pair);
}

static void keep_environment(void)
{
    static const char *const kept[] = {"LANG", "LC_ALL"};
    char *values[ARRAY_SIZE(kept)];

    for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
        values[i] = getenv(kept[i]);
    clearenv();
    for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
        if (values[i])
            setenv(kept[i], values[i], 1);
    setenv("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin", 1);
    setenv("HOME", "/", 1);
}

/* Nothing runs without its sandbox, unless the user chose so. */
static void need(const struct child_job *job, bool safe)
{
    if (safe || sandbox_waived())
        return;
    job->word->unsafe = true;
    _exit(126);
}

static void set_limits(const struct child_job *job)
{
    const struct proc_limits *limits = job->limits;

    limit(RLIMIT_CORE, 0);
    if (limits->cpu_s > 0)
        limit(RLIMIT_CPU, (uint64_t)ceil(limits->cpu_s));
    if (limits->memory_bytes && !HAS_ASAN)
        limit(RLIMIT_DATA, limits->memory_bytes + (job->body ? job->data_bytes : 0));
    if (limits->readable) {
        limit(RLIMIT_FSIZE, 0);
        need(job, sandbox_read_only(limits->readable) && sandbox_no_escape());
    }
    if (limits->runnable) {
        keep_environment();
        limit(RLIMIT_FSIZE, 0);
        limit(RLIMIT_MSGQUEUE, 0);
        need(job, sandbox_look_only(limits->runnable));
    }
}

static void reset_signals(void)
{
    sigset_t none;

    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Puts the pipes on the numbers that the child expects and closes everything else, so that no
 * database or socket of ours is open in the child. */
static void arrange_files(const struct child_job *job)
{
    const int first_closed = job->body ? BODY_FD + 1 : BODY_FD;
    /* The pipes move out of the way first: one may have a number that is about to be overwritten.
     */
    const int output = fcntl(job->output[1], F_DUPFD, 16);
    const int errors = fcntl(job->errors[1], F_DUPFD, 16);
    const int input =
        job->stdin_fd >= 0 ? fcntl(job->stdin_fd, F_DUPFD, 16) : open("/dev/null", O_RDONLY);

    dup2(input, STDIN_FILENO);
    dup2(errors, STDERR_FILENO);
    dup2(job->body ? errors : output, STDOUT_FILENO);
    if (job->body)
        dup2(output, BODY_FD);
    syscall(SYS_close_range, (unsigned)first_closed, ~0u, 0);
}

/* Call before files are closed. The variables stay in memory until exec replaces it. */
static void add_environment(int fd)
{
    static char variables[ENV_BYTES + 1];
    const ssize_t len = pread(fd, variables, ENV_BYTES, 0);

    for (char *at = variables; len > 0 && at < variables + len; at += strlen(at) + 1)
        putenv(at);
}

static void die_with(pid_t parent, int signal)
{
    prctl(PR_SET_PDEATHSIG, signal);
    if (getppid() != parent)
        _exit(126); /* the parent died before prctl */
}

static void end_group(int number)
{
    (void)number;
    kill(0, SIGKILL);
}

/* Returns in a new process, which becomes a program. This one stays as the keeper of their group,
 * outside of the program's sandbox: the program's descendants, too, end when the parent dies. It
 * ends as the program does. */
static void keep_group(const struct child_job *job, pid_t parent)
{
    const pid_t keeper = getpid();
    int status = 0;
    pid_t pid;

    signal(SIGTERM, end_group);
    die_with(parent, SIGTERM);
    pid = fork();
    if (pid == 0) {
        signal(SIGTERM, SIG_DFL);
        die_with(keeper, SIGKILL);
        return;
    }
    if (pid < 0)
        dprintf(job->errors[1], "cannot start a process: %s\n", strerror(errno));
    prctl(PR_SET_NAME, "keet-keeper"); /* whoever looks for keet-opt shall not find this one */
    syscall(SYS_close_range, 0u, ~0u, 0);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    limit(RLIMIT_CORE, 0);
    signal(SIGTERM, SIG_DFL);
    if (WIFSIGNALED(status))
        raise(WTERMSIG(status));
    _exit(pid < 0 ? 127 : WEXITSTATUS(status));
}

static void child(const struct child_job *job, pid_t parent)
{
    setpgid(0, 0);
    reset_signals();
    if (job->argv)
        keep_group(job, parent);
    else
        die_with(parent, SIGKILL);
    if (job->argv && job->limits->env_fd > 0)
        add_environment(job->limits->env_fd);
    arrange_files(job);
    set_limits(job);
    if (job->body)
        _exit(job->body(BODY_FD, job->input));
    job->word->program = getpid();
    execvp(job->argv[0], (char *const *)(uintptr_t)job->argv);
    dprintf(STDERR_FILENO, "%s: %s\n", job->argv[0], strerror(errno));
    _exit(127);
}

/* ---- the parent ---- */

static atomic_bool interrupted; /* lock-free, so that a signal handler may set it */

void proc_interrupt(void)
{
    atomic_store(&interrupted, true);
}

void proc_go_on(void)
{
    atomic_store(&interrupted, false);
}

const atomic_bool *proc_interrupted(void)
{
    return &interrupted;
}

static void kill_child(struct watch *watch, enum proc_end why)
{
    if (!watch->killed) {
        watch->killed = true;
        watch->why = why;
    }
    kill(-watch->pid, SIGKILL);
    kill(watch->pid, SIGKILL); /* the child may have no group yet */
}

static void check_limits(struct watch *watch)
{
    const struct proc_limits *limits = watch->job->limits;
    const double elapsed_s = (double)(clock_ns() - watch->start_ns) * 1e-9;
    const uint64_t before = watch->job->body ? watch->job->resident_bytes : 0;
    const pid_t process = watch->job->argv ? watch->job->word->program : watch->pid;
    uint64_t resident, data;

    if (limits->time_s > 0 && elapsed_s > limits->time_s)
        kill_child(watch, PROC_DEADLINE);
    if (limits->stop && atomic_load(limits->stop))
        kill_child(watch, PROC_STOPPED);
    if (limits->memory_bytes && process > 0 && memory_of(process, &resident, &data) &&
        resident > before + limits->memory_bytes)
        kill_child(watch, PROC_MEMORY);
}

static int poll_ms(const struct watch *watch)
{
    const struct proc_limits *limits = watch->job->limits;
    const double elapsed_s = (double)(clock_ns() - watch->start_ns) * 1e-9;
    double ms = limits->time_s > 0 ? (limits->time_s - elapsed_s) * 1e3 + 1 : 1e6;

    if ((limits->memory_bytes || limits->stop || watch->pidfd < 0) && ms > WATCH_MS)
        ms = WATCH_MS;
    return ms < 0 ? 0 : (int)ms;
}

/* Takes the bytes that are in the pipe now. False at the end of the pipe. */
static bool drain(int fd, struct str *into, size_t max_bytes, bool *over)
{
    char bytes[65536];

    for (;;) {
        const ssize_t n = read(fd, bytes, sizeof(bytes));
        const size_t room = max_bytes - into->len;

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN;
        if (n == 0)
            return false;
        str_add_n(into, bytes, (size_t)n < room ? (size_t)n : room);
        *over = *over || (size_t)n > room;
    }
}

static bool has_ended(const struct watch *watch)
{
    siginfo_t info = {0};
    int failed;

    do
        failed = waitid(P_PID, (id_t)watch->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    while (failed && errno == EINTR);
    return failed || info.si_pid == watch->pid;
}

static void supervise(struct watch *watch)
{
    const struct child_job *job = watch->job;
    const size_t max = job->limits->output_bytes ? job->limits->output_bytes : OUTPUT_BYTES;
    struct pollfd polls[3] = {{.fd = job->output[0], .events = POLLIN},
        {.fd = job->errors[0], .events = POLLIN}, {.fd = watch->pidfd, .events = POLLIN}};
    bool ended, over = false, ignored = false;

    do {
        poll(polls, ARRAY_SIZE(polls), poll_ms(watch));
        /* We ask before we empty the pipes, so that no byte is written between the two. */
        ended = has_ended(watch);
        if (polls[0].fd >= 0 && !drain(polls[0].fd, &watch->output, max, &over))
            polls[0].fd = -1;
        if (polls[1].fd >= 0 && !drain(polls[1].fd, &watch->errors, ERRORS_BYTES, &ignored))
            polls[1].fd = -1;
        if (over)
            kill_child(watch, PROC_OUTPUT);
        if (!ended)
            check_limits(watch);
    } while (!ended);
}

/* The child is a zombie, so its number is still its own: we end its descendants, then reap it. The
 * descendants in its group are ours when their parents are dead (PR_SET_CHILD_SUBREAPER), and are
 * reaped as well. */
static void reap(struct watch *watch, struct proc_result *result)
{
    int status = 0;

    kill(-watch->pid, SIGKILL);
    while (waitpid(watch->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    while (waitpid(-watch->pid, NULL, 0) > 0 || errno == EINTR)
        continue;
    if (watch->killed) {
        result->end = watch->why;
    } else if (WIFSIGNALED(status)) {
        result->status = WTERMSIG(status);
        result->end = result->status == SIGXCPU ? PROC_DEADLINE : PROC_SIGNALLED;
        /* The hard limit on processor time arrives as SIGKILL. */
        if (result->status == SIGKILL && watch->job->limits->cpu_s > 0)
            result->end = PROC_DEADLINE;
    } else {
        result->end = PROC_EXITED;
        result->status = WEXITSTATUS(status);
    }
}

static bool pipes(struct child_job *job, struct err *err)
{
    if (pipe2(job->output, O_CLOEXEC) != 0)
        return err_errno(err, "cannot make a pipe");
    if (pipe2(job->errors, O_CLOEXEC) != 0) {
        err_errno(err, "cannot make a pipe");
        close(job->output[0]);
        close(job->output[1]);
        return false;
    }
    fcntl(job->output[0], F_SETFL, O_NONBLOCK);
    fcntl(job->errors[0], F_SETFL, O_NONBLOCK);
    return true;
}

static bool run_job(struct child_job *job, struct proc_result *result, struct err *err)
{
    const pid_t parent = getpid();
    struct watch watch = {.pidfd = -1, .job = job};

    if (!pipes(job, err))
        return false;
    memory_of(parent, &job->resident_bytes, &job->data_bytes);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* whose parent is killed is our child: no zombie is left */
    watch.start_ns = clock_ns();
    watch.pid = fork();
    if (watch.pid == 0)
        child(job, parent);
    close(job->output[1]);
    close(job->errors[1]);
    if (watch.pid > 0) {
        setpgid(watch.pid, watch.pid);
        watch.pidfd = (int)syscall(SYS_pidfd_open, watch.pid, 0);
        supervise(&watch);
        reap(&watch, result);
        if (watch.pidfd >= 0)
            close(watch.pidfd);
        result->output_bytes = watch.output.len;
        result->output = str_take(&watch.output);
        result->errors_bytes = watch.errors.len;
        result->errors = str_take(&watch.errors);
    } else {
        err_errno(err, "cannot start a process");
    }
    close(job->output[0]);
    close(job->errors[0]);
    return watch.pid > 0;
}

static bool start(struct child_job *job, struct proc_result *result, struct err *err)
{
    const size_t bytes = sizeof(*job->word);
    void *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool ok;

    *result = (struct proc_result){0};
    if (shared == MAP_FAILED)
        return err_errno(err, "cannot start a process");
    job->word = shared;
    ok = run_job(job, result, err);
    if (ok && job->word->unsafe)
        result->end = PROC_UNSAFE;
    munmap(shared, bytes);
    return ok;
}

const char proc_unsafe_text[] =
    "its process cannot be confined, because this kernel lacks Landlock (Linux 5.13 or newer) or "
    "seccomp; --no-sandbox goes on without";

bool proc_call(int (*body)(int fd, const void *input), const void *input,
    const struct proc_limits *limits, struct proc_result *result, struct err *err)
{
    struct child_job job = {.body = body, .input = input, .stdin_fd = -1, .limits = limits};

    return start(&job, result, err);
}

bool proc_run(const char *const argv[], const struct proc_limits *limits,
    struct proc_result *result, struct err *err)
{
    struct child_job job = {.argv = argv, .stdin_fd = -1, .limits = limits};

    return start(&job, result, err);
}

/* A file in memory rather than a pipe: a child that does not read cannot block us. */
bool proc_run_fed(const char *const argv[], const void *bytes, size_t len,
    const struct proc_limits *limits, struct proc_result *result, struct err *err)
{
    struct child_job job = {.argv = argv, .limits = limits};
    bool ok;

    job.stdin_fd = memfd_create("stdin", MFD_CLOEXEC);
    if (job.stdin_fd < 0)
        return err_errno(err, "cannot make a file in memory");
    ok = fd_write(job.stdin_fd, bytes, len) && lseek(job.stdin_fd, 0, SEEK_SET) == 0;
    if (!ok)
        err_errno(err, "cannot write to a file in memory");
    ok = ok && start(&job, result, err);
    close(job.stdin_fd);
    return ok;
}

void proc_result_finish(struct proc_result *result)
{
    free(result->output);
    free(result->errors);
    *result = (struct proc_result){0};
}
