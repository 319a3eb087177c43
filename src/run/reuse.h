/* Evaluations kept over runs (--reuse FILE): on the emulator, the same text has the same verdict,
 * check, profile and list of moves every time, so that many runs over one kernel (other seeds,
 * policies, feedback) need not evaluate it again.
 *
 *     struct reuse *r = reuse_open("pool.keet.db", &run, settings, err);
 *     reuse_made(r, parent, &c, &found, err)   // found: the move's text
 *     ... else propose; reuse_note_made(r, parent, &c, err) ...
 *     ... compile ...
 *     reuse_find(r, &c, &found, err)    // found: verdict, check, profile, options as they were
 *     ... else check, profile, list the moves ...
 *     reuse_note(r, &c, err)
 *
 * The file is a database like a run's, in which a node stands for a text, or for a move on a text.
 * Results are taken over only where all that they depend on is equal: the original, the device, the
 * settings, the source code of this program's evaluating parts (reuse_evaluator), the candidate's
 * text and what was compiled from it. What a check draws at random follows from the candidate's
 * text then, not from the run's seed: reuse_find sets c->seed. A reused node says so: c->reused,
 * and in the check's note. Several processes may share one file. */
#ifndef KEET_RUN_REUSE_H
#define KEET_RUN_REUSE_H

#include "store/store.h"

#include <stdbool.h>

struct reuse;

extern const char reuse_evaluator[]; /* their hash; made when building, by cmake/evaluator.cmake */

/* settings: whatever else decides which moves are offered, in words. */
struct reuse *reuse_open(
    const char *path, const struct run_info *run, const char *settings, struct err *err);
void reuse_close(struct reuse *reuse);

/* What rewriter or tuner made of the parent's text by c->option, when it was a sound text. NULL,
 * for all four: nothing is found, nothing is kept. */
bool reuse_made(struct reuse *reuse, const struct candidate *parent, struct candidate *c,
    bool *found, struct err *err);
bool reuse_note_made(struct reuse *reuse, const struct candidate *parent, const struct candidate *c,
    struct err *err);
/* After compiling. */
bool reuse_find(struct reuse *reuse, struct candidate *c, bool *found, struct err *err);
/* After listing the moves; of a candidate that was evaluated here and now. */
bool reuse_note(struct reuse *reuse, const struct candidate *c, struct err *err);

#endif
