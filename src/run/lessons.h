/* Search memory: the effects of moves on kernels, within a run and, with --memory FILE, across
 * runs. A lesson is noted after each node, shown to the model, and folded into the priors. The
 * memory is off with --no-memory, and also where neither a model nor a memory file is given. */
#ifndef KEET_RUN_LESSONS_H
#define KEET_RUN_LESSONS_H

#include "core/experience.h"
#include "core/lesson.h"
#include "store/store.h"

#include <stdbool.h>

struct lessons;

struct lessons_options {
    const char *path;    /* of the file that outlives the run; NULL: the run's own lessons only */
    struct store *store; /* the run's; borrowed */
    const char *kernel, *device; /* of this run */
};

struct lessons *lessons_create(const struct lessons_options *options, struct err *err);
void lessons_destroy(struct lessons *memory);

/* Note what became of c, a variant of parent. For all functions below, memory may be NULL: nothing
 * happens. */
bool lessons_note(struct lessons *memory, const struct candidate *parent, const struct candidate *c,
    struct err *err);

enum { LESSONS_SHOWN = 6 };
/* The lessons that say most about the candidate's kernel, best first. */
unsigned lessons_recall(
    struct lessons *memory, const struct candidate *c, const struct lesson *found[LESSONS_SHOWN]);
/* Keep what a run came to, in the memory file where there is one. */
bool lessons_conclude(struct lessons *memory, const struct experience *experience, struct err *err);
enum { EXPERIENCES_SHOWN = 2 };
/* What earlier runs came to on kernels that are like this task, the most alike first. */
unsigned lessons_experiences(const struct lessons *memory, const struct task *task,
    struct arena *arena, const struct experience *found[EXPERIENCES_SHOWN]);
/* Scale the priors of c's moves by what the same moves did elsewhere: at most doubled or halved. */
void lessons_priors(const struct lessons *memory, struct candidate *c);

#endif
