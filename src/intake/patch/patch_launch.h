/* Private to intake/: the launches of a winner, and the user's launches that they replace. */
#ifndef KEET_INTAKE_PATCH_PATCH_LAUNCH_H
#define KEET_INTAKE_PATCH_PATCH_LAUNCH_H

#include "intake/patch/patch_parts.h"

/* A launch of the task. Its expressions are text of the contract, with constants folded. */
struct launch_words {
    const char *id;
    const char *dims[3][3]; /* of the grid, of the block, of the cluster */
    const char *smem;
    const char *args[LAUNCH_MAX_ARGS];
    unsigned nr_args;
    const struct launch_arg *said; /* the arguments, as the plan has them */
    const struct decls *decls;     /* where the kernel is declared */
    const struct decl *kernel;     /* NULL: it is not among them */
};

bool relaunch_is_clustered(const struct launch_words *w);
/* It needs more than the part of a statement: a cluster, or a tensor map that the old launch does
 * not pass. */
bool relaunch_is_long(const struct launch_words *w, const struct launch_words *old);

struct scratch { /* an array that the winner adds */
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
    unsigned first_map; /* the first token of the first launch that gets a tensor map; 0: none */
};

/* False: p->why. */
bool relaunch_read(struct relaunch *l);
bool relaunch_same(const struct launch_words *a, const struct launch_words *b);
/* Writes launch i at its site: only the parts that differ change. */
bool relaunch_parts(struct relaunch *l, unsigned i, const struct site *site);
/* Writes all new launches in place of a run of nr_old sites. */
bool relaunch_run(struct relaunch *l, const struct site *const *run);

#endif
