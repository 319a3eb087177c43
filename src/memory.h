/* Search memory: what moves did to which kernels, within a run and, with --memory FILE, across
 * runs. Noted after each node, shown to the model, folded into the priors; off with --no-memory,
 * and off where neither a model nor a memory file is given, so that such runs stay as they were. */
#ifndef KEET_MEMORY_H
#define KEET_MEMORY_H

#include "core/lesson.h"
#include "store/store.h"

#include <stdbool.h>

struct memory;

struct memory_options {
    const char *path;    /* of the file that outlives the run; NULL: the run's own lessons only */
    struct store *store; /* the run's; borrowed */
    const char *kernel, *device; /* of this run */
};

struct memory *memory_create(const struct memory_options *options, struct err *err);
void memory_destroy(struct memory *memory);

/* What became of c, made on parent. memory may be NULL for all of these: nothing happens. */
bool memory_note(struct memory *memory, const struct candidate *parent, const struct candidate *c,
    struct err *err);

enum { MEMORY_SHOWN = 6 };
/* The lessons that say most about the candidate's kernel, best first. */
unsigned memory_recall(
    struct memory *memory, const struct candidate *c, const struct lesson *found[MEMORY_SHOWN]);
/* Scale the priors of c's moves by what they did elsewhere: at most doubled or halved. */
void memory_priors(const struct memory *memory, struct candidate *c);

#endif
