/* Executors: where a campaign's tasks run. A batch of items is started, looked at now and then, and
 * perhaps cancelled; nothing else. To add one: a struct executor_ops and its row in executor.c.
 *
 *     struct executor *e = executor_create("local", &options, &err);
 *     e->ops->start(e, items, nr, &err);
 *     while (!executor_all_ended(items, nr) && !stopped)
 *         e->ops->poll(e, 200, &err);            // waits at most so long; updates items
 *     if (stopped) e->ops->cancel(e, &err);      // neatly; returns when nothing runs any longer
 *     e->ops->destroy(e);
 *
 * An item is a program with arguments, whose standard output and error go to files. It is safe to
 * run an item again after any end: the program goes on from its database. So an executor may run an
 * item that it lost (a node went down) once more by itself. No item is left running when cancel
 * or destroy has returned, nor, as far as the executor can help it, when this process is killed. */
#ifndef KEET_CAMPAIGN_EXECUTOR_H
#define KEET_CAMPAIGN_EXECUTOR_H

#include "base/err.h"

#include <stdbool.h>

struct exec_item {
    /* set by the campaign; borrowed until the item has ended */
    const char *name;        /* of the task; fit for file names */
    const char *const *argv; /* the program's absolute path first, NULL last; the executor puts
                                "--threads N" behind that, the cores that an item has */
    bool gpu;                /* it takes one GPU; the executor adds "--device gpu:N" as it sees fit,
                                argv has no --device then */
    const char *out_path, *err_path;
    double deadline_s; /* on the wall; then it is ended neatly (SIGTERM), GRACE_S later killed; 0:
                          none */
    /* set by the executor */
    enum exec_state { EXEC_WAITING, EXEC_RUNNING, EXEC_ENDED } state;
    int status;       /* ended: the exit code; -1: see signal */
    int signal;       /* ended by it; 0: it exited */
    bool late;        /* the deadline was over */
    const char *lost; /* ended without a status: why ("its node failed 3 times"); else NULL */
    double wall_s;
};

enum { EXEC_GRACE_S = 30 };

struct executor_options {
    unsigned jobs;      /* items at once that need no GPU; 0: one per core */
    const char *gpus;   /* "0,1": numbers of GPUs, one item each at a time; NULL: none */
    const char *folder; /* of the campaign, for an executor's own files */
    const char *gres;   /* slurm: what each job asks for; NULL: gpu:1 for items that take a GPU */
    const char *slurm;  /* slurm: further options for sbatch, as on a command line; or NULL */
};

struct executor {
    const struct executor_ops *ops;
    /* What keeps items from running, and what to do, for a person to read; NULL: nothing that is
     * known. The executor's, until it is called again. */
    const char *trouble;
};

struct executor_ops {
    const char *name;
    struct executor *(*create)(const struct executor_options *options, struct err *err);
    /* Take over a batch; the one before has ended. */
    bool (*start)(struct executor *e, struct exec_item *items, unsigned nr, struct err *err);
    bool (*poll)(struct executor *e, int wait_ms, struct err *err);
    /* End all items neatly, those that wait without running; those cut off keep their state. */
    bool (*cancel)(struct executor *e, struct err *err);
    void (*destroy)(struct executor *e); /* kills what still runs */
};

/* NULL: there is none of this name, or it cannot be used here. */
struct executor *executor_create(
    const char *name, const struct executor_options *options, struct err *err);
bool executor_all_ended(const struct exec_item *items, unsigned nr);

#endif
