/* Owns the processes of a batch on this machine. */
#include "campaign/exec_local.h"

#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_GPUS = 64, MOST_JOBS = 1024 };

/* A place where one item can run at a time. */
struct local_place {
    int gpu;                /* its number; -1: a core */
    struct exec_item *item; /* NULL: free */
    pid_t pid;
    int pidfd;
    uint64_t start_ns;
    uint64_t asked_ns; /* when we asked the item to end; 0: we did not */
};

struct local {
    struct executor base;
    struct local_place *places;
    unsigned nr_places;
    unsigned nr_threads; /* of an item */
    struct exec_item *items;
    unsigned nr_items;
    bool cancelled; /* nothing new is begun */
};

static struct executor *local_create(const struct executor_options *options, struct err *err)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const unsigned jobs = options->jobs ? options->jobs : cores > 0 ? (unsigned)cores : 1;
    struct local *l = xcalloc(1, sizeof(*l));

    (void)err;
    l->base.ops = &exec_local_ops;
    l->nr_threads = cores > (long)jobs ? (unsigned)(cores / (long)jobs) : 1;
    l->places = xcalloc(MOST_GPUS + MOST_JOBS, sizeof(*l->places));
    for (const char *at = options->gpus; at && *at && l->nr_places < MOST_GPUS;) {
        char *end;

        l->places[l->nr_places++].gpu = (int)strtol(at, &end, 10);
        at = *end == ',' ? end + 1 : end + strlen(end);
    }
    for (unsigned i = 0; i < jobs && i < MOST_JOBS; i++)
        l->places[l->nr_places++].gpu = -1;
    return &l->base;
}

/* ---- one item ---- */

static void become(const struct exec_item *item, const char *const *argv, pid_t parent)
{
    const int in = open("/dev/null", O_RDONLY);
    const int out = open(item->out_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    const int errors = open(item->err_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || in < 0 || out < 0 || errors < 0 || dup2(in, 0) < 0 ||
        dup2(out, 1) < 0 || dup2(errors, 2) < 0)
        _exit(127);
    execv(argv[0], (char *const *)argv);
    dprintf(2, "keet-opt: %s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

static bool begin(
    struct local *l, struct local_place *place, struct exec_item *item, struct err *err)
{
    const char **argv;
    const pid_t parent = getpid();
    char threads[32], device[32];
    unsigned nr = 0;

    while (item->argv[nr])
        nr++;
    argv = xcalloc(nr + 5, sizeof(*argv));
    snprintf(threads, sizeof(threads), "%u", l->nr_threads);
    argv[0] = item->argv[0];
    argv[1] = "--threads";
    argv[2] = threads;
    memcpy(&argv[3], &item->argv[1], (nr - 1) * sizeof(*argv));
    if (item->gpu) {
        snprintf(device, sizeof(device), "gpu:%d", place->gpu);
        argv[nr + 2] = "--device";
        argv[nr + 3] = device;
    }
    place->pid = fork();
    if (place->pid == 0)
        become(item, argv, parent);
    free(argv);
    if (place->pid < 0)
        return err_errno(err, "starting %s", item->name);
    setpgid(place->pid, place->pid); /* parent and child both call setpgid, whoever is first */
    place->pidfd = (int)syscall(SYS_pidfd_open, place->pid, 0);
    place->item = item;
    place->start_ns = clock_ns();
    place->asked_ns = 0;
    item->state = EXEC_RUNNING;
    return true;
}

/* Notes the end of an item. The processes that the item started end with the item. */
static void reap(struct local_place *place, int status)
{
    struct exec_item *item = place->item;

    kill(-place->pid, SIGKILL);
    if (place->pidfd >= 0)
        close(place->pidfd);
    item->state = EXEC_ENDED;
    item->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    item->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    item->wall_s = (double)(clock_ns() - place->start_ns) * 1e-9;
    place->item = NULL;
}

static void ask_to_end(struct local_place *place)
{
    if (place->asked_ns == 0) {
        place->asked_ns = clock_ns();
        kill(place->pid, SIGTERM);
    } else if ((double)(clock_ns() - place->asked_ns) * 1e-9 > EXEC_GRACE_S) {
        kill(-place->pid, SIGKILL);
    }
}

static void look(struct local *l, struct local_place *place)
{
    const double deadline_s = place->item->deadline_s;
    int status;

    if (waitpid(place->pid, &status, WNOHANG) == place->pid) {
        reap(place, status);
    } else if (l->cancelled) {
        ask_to_end(place);
    } else if (deadline_s > 0 && (double)(clock_ns() - place->start_ns) * 1e-9 > deadline_s) {
        place->item->late = true;
        ask_to_end(place);
    }
}

/* ---- the batch ---- */

static bool fill(struct local *l, struct err *err)
{
    for (unsigned p = 0; p < l->nr_places && !l->cancelled; p++) {
        struct local_place *place = &l->places[p];

        for (unsigned i = 0; i < l->nr_items && !place->item; i++) {
            struct exec_item *item = &l->items[i];
            if (item->state == EXEC_WAITING && item->gpu == (place->gpu >= 0) &&
                !begin(l, place, item, err))
                return false;
        }
    }
    return true;
}

static bool has_gpu(const struct local *l)
{
    return l->nr_places > 0 && l->places[0].gpu >= 0;
}

static bool local_start(struct executor *e, struct exec_item *items, unsigned nr, struct err *err)
{
    struct local *l = (struct local *)e;

    for (unsigned i = 0; i < nr; i++)
        if (items[i].gpu && !has_gpu(l))
            return err_set(err,
                "%s wants a GPU, and none is there; see keet-opt doctor, or use "
                "--device emu",
                items[i].name);
    l->items = items;
    l->nr_items = nr;
    return fill(l, err);
}

static bool local_poll(struct executor *e, int wait_ms, struct err *err)
{
    struct local *l = (struct local *)e;
    struct pollfd fds[MOST_GPUS + MOST_JOBS];
    nfds_t nr = 0;

    for (unsigned p = 0; p < l->nr_places; p++)
        if (l->places[p].item && l->places[p].pidfd >= 0)
            fds[nr++] = (struct pollfd){.fd = l->places[p].pidfd, .events = POLLIN};
    if (poll(fds, nr, wait_ms) < 0 && errno != EINTR)
        return err_errno(err, "waiting for tasks");
    for (unsigned p = 0; p < l->nr_places; p++)
        if (l->places[p].item)
            look(l, &l->places[p]);
    return fill(l, err);
}

static bool runs(const struct local *l)
{
    for (unsigned p = 0; p < l->nr_places; p++)
        if (l->places[p].item)
            return true;
    return false;
}

static bool local_cancel(struct executor *e, struct err *err)
{
    struct local *l = (struct local *)e;

    l->cancelled = true;
    while (runs(l))
        if (!local_poll(e, 50, err))
            return false;
    return true;
}

static void local_destroy(struct executor *e)
{
    struct local *l = (struct local *)e;
    int status;

    for (unsigned p = 0; p < l->nr_places; p++) {
        struct local_place *place = &l->places[p];

        if (!place->item)
            continue;
        kill(-place->pid, SIGKILL);
        while (waitpid(place->pid, &status, 0) < 0 && errno == EINTR)
            ;
        reap(place, status);
    }
    free(l->places);
    free(l);
}

const struct executor_ops exec_local_ops = {
    "local", local_create, local_start, local_poll, local_cancel, local_destroy};
