/* Private to intake/: launches of a winner, and the user's that they take the place of. */
#ifndef KEET_INTAKE_PATCH_PATCH_LAUNCH_H
#define KEET_INTAKE_PATCH_PATCH_LAUNCH_H

#include "intake/patch/patch_parts.h"

/* A launch of the task; expressions as the contract has them, numbers put together. */
struct launch_words {
    const char *id;
    const char *dims[2][3]; /* grid, block */
    const char *smem;
    const char *args[LAUNCH_MAX_ARGS];
    unsigned nr_args;
    const struct decls *decls; /* where its kernel is */
    const struct decl *kernel;
};

struct scratch { /* that the winner adds */
    const char *name, *variable, *type;
    const struct task_array *array;
};

struct relaunch {
    struct patcher *p;
    struct launch_words old[INTAKE_MAX_LAUNCHES], new_[INTAKE_MAX_LAUNCHES];
    unsigned nr_old, nr_new;
    struct scratch scratch[16];
    unsigned nr_scratch;
    struct scope_names scope;
};

/* False: p->why. */
bool relaunch_read(struct relaunch *l);
bool relaunch_same(const struct launch_words *a, const struct launch_words *b);
/* Launch i in place of its site, by the parts that differ. */
bool relaunch_parts(struct relaunch *l, unsigned i, const struct site *site);
/* All new launches in place of a run of nr_old sites. */
bool relaunch_run(struct relaunch *l, const struct site *const *run);

#endif
