/* Executors: the places where a campaign's tasks run. An executor starts a batch of items, looks at
 * the items now and then, and may cancel them; nothing else. To add an executor, write a struct
 * executor_ops and add its row in executor.c.
 *
 *     struct executor *e = executor_create("local", &options, &err);
 *     e->ops->start(e, items, nr, &err);
 *     while (!executor_all_ended(items, nr) && !stopped)
 *         e->ops->poll(e, 200, &err);            // waits at most 200 ms; updates items
 *     if (stopped) e->ops->cancel(e, &err);      // neatly; returns when nothing runs any longer
 *     e->ops->destroy(e);
 *
 * An item is a program with arguments, whose standard output and error go to files. It is safe to
 * run an item again after any end: the program goes on from its database. So an executor may run an
 * item that it lost (a node went down) once more by itself. No item still runs when cancel or
 * destroy has returned. Where an executor can ensure it, no item outlives this process either, even
 * when this process is killed. */
#ifndef KEET_CAMPAIGN_EXECUTOR_H
#define KEET_CAMPAIGN_EXECUTOR_H

#include "base/err.h"

#include <stdbool.h>

struct exec_item {
    /* set by the campaign; borrowed until the item has ended */
    const char *name;        /* of the task; fit for file names */
    const char *const *argv; /* the program's absolute path first, NULL last; the executor adds
                                "--threads N" for the cores that an item has */
    bool gpu;                /* the item takes one GPU: argv has no --device, and the executor adds
                                "--device gpu:N" for the GPU that it chose */
    const char *out_path, *err_path;
    double deadline_s; /* on the wall; then SIGTERM ends the item neatly, and EXEC_GRACE_S later it
                          is killed; 0: none */
    /* set by the executor */
    enum exec_state { EXEC_WAITING, EXEC_RUNNING, EXEC_ENDED } state;
    int status;       /* ended: the exit code; -1: see signal */
    int signal;       /* that ended the item; 0: the item exited */
    bool late;        /* the item ran past its deadline */
    const char *lost; /* why there is no status ("its node failed 3 times"); else NULL */
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
    /* The reason why items do not run, and the cure, for a person to read; NULL: no reason is
     * known. Valid until the executor is called again. */
    const char *trouble;
};

struct executor_ops {
    const char *name;
    struct executor *(*create)(const struct executor_options *options, struct err *err);
    /* Takes over a batch; the batch before has ended. */
    bool (*start)(struct executor *e, struct exec_item *items, unsigned nr, struct err *err);
    bool (*poll)(struct executor *e, int wait_ms, struct err *err);
    /* Ends all running items neatly; waiting items never run. Items that were cut off keep their
     * state. */
    bool (*cancel)(struct executor *e, struct err *err);
    void (*destroy)(struct executor *e); /* kills what still runs */
};

/* NULL: there is no executor of this name, or the executor cannot be used here. */
struct executor *executor_create(
    const char *name, const struct executor_options *options, struct err *err);
bool executor_all_ended(const struct exec_item *items, unsigned nr);

#endif
