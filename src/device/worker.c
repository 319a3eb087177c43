/* Owns the parent's side of a worker: its birth, requests with deadlines, its end. */
#include "device/worker.h"

#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WATCH_MS = 50, CHILD_FD = 3 };

struct worker {
    pid_t pid;
    int fd;
    void *window;
    uint64_t memory_bytes; /* limit; 0: none */
    bool reaped;
};

/* ---- the child, between fork and worker_child ---- */

/* Keeps the variables that the driver reads and clears all others. */
static void clean_environment(void)
{
    static const char *const kept[] = {"CUDA_VISIBLE_DEVICES", "KEET_CUDA_DRIVER",
        "KEET_CUDA_STEPS", "KEET_CUDA_THREADS", "KEET_CUDA_DEVICES", "KEET_NVML", "KEET_CUPTI",
        "KEET_CUDA", "CUDA_HOME", "CUDA_MPS_PIPE_DIRECTORY"};
    char *values[ARRAY_SIZE(kept)];

    for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
        const char *value = getenv(kept[i]);

        values[i] = value != NULL ? xstrdup(value) : NULL;
    }
    clearenv();
    for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
        if (values[i] != NULL)
            setenv(kept[i], values[i], 1);
        free(values[i]);
    }
    setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
    setenv("CUDA_CACHE_DISABLE", "1", 1); /* the driver may not write files */
}

static void arrange_child(int fd, pid_t parent, bool may_write)
{
    const struct rlimit none = {0};
    sigset_t signals;
    int null;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(126);
    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_DFL);
    signal(SIGXFSZ, SIG_IGN); /* a driver that writes to a file gets an error and is not killed */
    signal(SIGINT, SIG_IGN);  /* the parent ends the run in order, and us with it */
    sigemptyset(&signals);
    sigprocmask(SIG_SETMASK, &signals, NULL);
    fd = fcntl(fd, F_DUPFD, 16);
    null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(fd, CHILD_FD);
    syscall(SYS_close_range, (unsigned)CHILD_FD + 1, ~0u, 0);
    setrlimit(RLIMIT_CORE, &none);
    if (!may_write)
        setrlimit(RLIMIT_FSIZE, &none);
    clean_environment();
}

/* ---- the parent ---- */

static void reap(struct worker *worker, int *status)
{
    if (!worker->reaped) {
        while (waitpid(worker->pid, status, 0) < 0 && errno == EINTR)
            ;
        worker->reaped = true;
    }
}

void worker_stop(struct worker *worker)
{
    int status;

    if (worker == NULL)
        return;
    if (!worker->reaped && worker->pid > 0)
        kill(worker->pid, SIGKILL);
    if (worker->pid > 0)
        reap(worker, &status);
    if (worker->fd >= 0)
        close(worker->fd);
    if (worker->window != NULL)
        munmap(worker->window, WORKER_WINDOW_BYTES);
    free(worker);
}

pid_t worker_pid(const struct worker *worker)
{
    return worker->pid;
}

void *worker_window(const struct worker *worker)
{
    return worker->window;
}

static uint64_t resident_bytes(pid_t pid)
{
    unsigned long long size, resident = 0;
    char path[48];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%llu %llu", &size, &resident) != 2)
        resident = 0;
    fclose(file);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static enum worker_end died(struct worker *worker, struct err *why)
{
    int status = 0;

    kill(worker->pid, SIGKILL); /* the worker may have closed its socket and live on */
    reap(worker, &status);
    if (WIFSIGNALED(status))
        err_set(why, "the worker process was ended by signal %d (%s)", WTERMSIG(status),
            strsignal(WTERMSIG(status)));
    else
        err_set(why, "the worker process ended by itself (status %d)", WEXITSTATUS(status));
    return WORKER_DIED;
}

static enum worker_end end(struct worker *worker, enum worker_end how)
{
    int status;

    kill(worker->pid, SIGKILL);
    reap(worker, &status);
    return how;
}

/* Waits for one message of exactly that many bytes. */
static enum worker_end receive(
    struct worker *worker, void *message, size_t bytes, double deadline_s, struct err *why)
{
    const uint64_t start_ns = clock_ns();

    for (;;) {
        const double left_s = deadline_s - (double)(clock_ns() - start_ns) * 1e-9;
        struct pollfd poller = {.fd = worker->fd, .events = POLLIN};

        if (left_s <= 0) {
            err_set(why, "no answer within %g s", deadline_s);
            return end(worker, WORKER_DEADLINE);
        }
        if (poll(&poller, 1, left_s * 1e3 < WATCH_MS ? (int)(left_s * 1e3) + 1 : WATCH_MS) > 0) {
            if (recv(worker->fd, message, bytes, MSG_TRUNC) == (ssize_t)bytes)
                return WORKER_OK;
            return died(worker, why);
        }
        if (worker->memory_bytes > 0 && resident_bytes(worker->pid) > worker->memory_bytes) {
            err_set(why, "the worker process took more than %llu MB of host memory",
                (unsigned long long)(worker->memory_bytes >> 20));
            return end(worker, WORKER_MEMORY);
        }
    }
}

static bool give_birth(struct worker *worker, const struct worker_options *options, struct err *err)
{
    const pid_t parent = getpid();
    int pair[2];

    worker->window =
        mmap(NULL, WORKER_WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (worker->window == MAP_FAILED) {
        worker->window = NULL;
        return err_errno(err, "no memory to share with a worker process");
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return err_errno(err, "no socket for a worker process");
    fflush(NULL); /* so that the child does not print our buffers again */
    worker->pid = fork();
    if (worker->pid == 0) {
        arrange_child(pair[1], parent, options->counts);
        worker_child(CHILD_FD, worker->window, options);
    }
    close(pair[1]);
    worker->fd = pair[0];
    return worker->pid > 0 || err_errno(err, "no worker process");
}

struct worker *worker_start(
    const struct worker_options *options, struct worker_info *info, struct err *err)
{
    struct worker *worker = xcalloc(1, sizeof(*worker));
    struct worker_hello hello;

    worker->fd = -1;
    worker->memory_bytes = options->memory_bytes;
    if (!give_birth(worker, options, err)) {
        worker_stop(worker);
        return NULL;
    }
    if (receive(worker, &hello, sizeof(hello), options->start_s, err) != WORKER_OK) {
        err_wrap(err, "starting the worker process of GPU %u", options->ordinal);
        worker_stop(worker);
        return NULL;
    }
    if (!hello.ok) {
        hello.text[sizeof(hello.text) - 1] = '\0';
        err_set(err, "%s", hello.text);
        worker_stop(worker);
        return NULL;
    }
    *info = hello.info;
    return worker;
}

enum worker_end worker_call(struct worker *worker, const struct worker_request *request,
    struct worker_reply *reply, double deadline_s, struct err *why)
{
    enum worker_end how;

    if (send(worker->fd, request, sizeof(*request), MSG_NOSIGNAL) != (ssize_t)sizeof(*request))
        return died(worker, why);
    how = receive(worker, reply, sizeof(*reply), deadline_s, why);
    if (how == WORKER_OK)
        reply->text[sizeof(reply->text) - 1] = '\0';
    return how;
}
