/* Owns the processes of calls. */
#include "mcp/mcp_child.h"

#include "base/sandbox.h"
#include "base/share.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_PATHS = 128 };

struct cage_paths {
    const char *list[MOST_PATHS + 1];
    unsigned nr;
};

static void add_path(struct cage_paths *paths, const char *path)
{
    if (path && *path && paths->nr < MOST_PATHS)
        paths->list[paths->nr++] = path;
}

static void add_paths(struct cage_paths *paths, const char *const *more)
{
    while (*more)
        add_path(paths, *more++);
}

/* What any program on this system reads: libraries, and what the kernel tells. */
static const char *const system_paths[] = {"/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache",
    "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime", "/proc", "/sys",
    "/opt", NULL};
/* Where the user says that parts of CUDA and of this program are. */
static const char *const variables[] = {"KEET_CUDA", "CUDA_HOME", "KEET_CUTLASS", "KEET_SHARE",
    "KEET_CUDA_DRIVER", "KEET_CUPTI", "KEET_NVML", "VIRTUAL_ENV", "CONDA_PREFIX"};
static const char *const devices[] = {
    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/run/lock", NULL};

/* In the child: nothing that is allocated here is freed. */
static bool confine(const char *program, const struct mcp_cage *cage)
{
    struct cage_paths readable = {{0}, 0}, writable = {{0}, 0};
    const char *home = getenv("HOME");
    struct str wheels = {0};
    glob_t cards;

    add_paths(&readable, system_paths);
    add_path(&readable, program);
    add_path(&readable, share_find("prompts"));
    add_path(&readable, share_find("kernels"));
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        add_path(&readable, getenv(variables[i]));
    if (home)
        str_addf(&wheels, "%s/.local/lib", home);
    add_path(&readable, str_text(&wheels));
    add_paths(&readable, cage->readable);
    add_path(&writable, cage->root);
    add_path(&writable, cage->scratch);
    add_path(&writable, getenv("KEET_LOCK_DIR"));
    add_paths(&writable, devices);
    add_paths(&writable, cage->writable);
    if (glob("/dev/nvidia*", 0, NULL, &cards) == 0)
        for (size_t i = 0; i < cards.gl_pathc; i++)
            add_path(&writable, cards.gl_pathv[i]);
    return sandbox_within(readable.list, writable.list);
}

static void become(
    const char *const *argv, const struct mcp_cage *cage, const int *fds, pid_t parent)
{
    const int in = open("/dev/null", O_RDONLY);
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || in < 0 || dup2(in, 0) < 0 || dup2(fds[0], 1) < 0 ||
        dup2(fds[1], 2) < 0 || chdir(cage->root) != 0 || setenv("TMPDIR", cage->scratch, 1) != 0)
        _exit(127);
    if (!confine(argv[0], cage) && !sandbox_waived()) {
        dprintf(2, "this system cannot confine a process (Landlock); see `keet-opt doctor`");
        _exit(127);
    }
    execv(argv[0], (char *const *)(uintptr_t)argv);
    dprintf(2, "%s: %s", argv[0], strerror(errno));
    _exit(127);
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

bool mcp_child_start(
    struct mcp_child *child, const char *const *argv, const struct mcp_cage *cage, struct err *err)
{
    const pid_t parent = getpid();
    int out[2] = {-1, -1}, errors[2] = {-1, -1};
    bool ok = pipe2(out, O_CLOEXEC) == 0 && pipe2(errors, O_CLOEXEC) == 0;

    *child = (struct mcp_child){.fds = {out[0], errors[0]}};
    if (ok) {
        child->pid = fork();
        if (child->pid == 0)
            become(argv, cage, (int[]){out[1], errors[1]}, parent);
        ok = child->pid > 0;
    }
    if (!ok) {
        err_errno(err, "starting a process");
        child->pid = 0;
        close_fd(&out[0]);
        close_fd(&errors[0]);
    }
    close_fd(&out[1]);
    close_fd(&errors[1]);
    if (!ok)
        return false;
    setpgid(child->pid, child->pid); /* parent and child both call setpgid, whoever is first */
    for (int i = 0; i < 2; i++)
        fcntl(child->fds[i], F_SETFL, O_NONBLOCK);
    return true;
}

unsigned mcp_child_poll(const struct mcp_child *child, struct pollfd *fds)
{
    unsigned nr = 0;

    for (int i = 0; child->pid > 0 && i < 2; i++)
        if (child->fds[i] >= 0)
            fds[nr++] = (struct pollfd){.fd = child->fds[i], .events = POLLIN};
    return nr;
}

/* Takes what can be read now. */
static void take(struct mcp_child *child, int which)
{
    struct str *text = which == 0 ? &child->output : &child->errors;
    char bytes[65536];
    ssize_t got = 1;

    while (child->fds[which] >= 0 && got > 0) {
        got = read(child->fds[which], bytes, sizeof(bytes));
        if (got > 0 && text->len < MCP_MOST_OUTPUT_BYTES)
            str_add_n(text, bytes, (size_t)got);
        else if (got > 0)
            child->too_much = true;
    }
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        close_fd(&child->fds[which]);
}

bool mcp_child_look(struct mcp_child *child)
{
    if (child->pid <= 0)
        return true;
    if (!child->ended && waitpid(child->pid, &child->status, WNOHANG) == child->pid) {
        child->ended = true;
        kill(-child->pid, SIGKILL); /* what it left behind */
    }
    for (int i = 0; i < 2; i++)
        take(child, i);
    if (child->too_much && !child->ended)
        mcp_child_kill(child);
    return child->ended;
}

void mcp_child_interrupt(struct mcp_child *child)
{
    if (child->pid > 0 && !child->ended)
        kill(child->pid, SIGINT);
}

void mcp_child_kill(struct mcp_child *child)
{
    if (child->pid > 0 && !child->ended)
        kill(-child->pid, SIGKILL);
}

void mcp_child_finish(struct mcp_child *child)
{
    mcp_child_kill(child);
    if (child->pid > 0 && !child->ended)
        waitpid(child->pid, &child->status, 0);
    for (int i = 0; child->pid > 0 && i < 2; i++)
        close_fd(&child->fds[i]);
    str_finish(&child->output);
    str_finish(&child->errors);
    *child = (struct mcp_child){0};
}
