/* Evaluations kept over runs (--reuse FILE). On the emulator the same text has the same verdict,
 * check, profile and list of moves every time. So many runs over one kernel (other seeds, policies,
 * feedback) need not evaluate a text again.
 *
 *     struct reuse *r = reuse_open("pool.keet.db", &run, settings, err);
 *     reuse_made(r, parent, &c, &found, err)   // found: the move's text
 *     ... else propose; reuse_note_made(r, parent, &c, err) ...
 *     ... compile ...
 *     reuse_find(r, &c, &found, err)    // found: verdict, check, profile, options as they were
 *     ... else check, profile, list the moves ...
 *     reuse_note(r, &c, err)
 *     ... the candidate leads ...
 *     reuse_find_compared(r, &c, &found, err)    // found: as the comparison at the timed sizes
 * left c
 *     ... else compare; reuse_note_compared(r, &c, err) ...
 *
 * The file is a database like a run's, in which a node stands for a text, for a
 * text that was compared at the timed sizes, or for a move on a text.
 * A result is taken over only where everything that the result depends on is equal: the original,
 * the device, the settings, the source code of this program's evaluating parts (reuse_evaluator),
 * the candidate's text and the code compiled from the text. With --reuse the random numbers of a
 * check follow from the candidate's text, not from the run's seed: reuse_find sets c->seed.
 * c->reused and the check's note mark a reused node. Several processes may share one file. */
#ifndef KEET_RUN_REUSE_H
#define KEET_RUN_REUSE_H

#include "store/store.h"

#include <stdbool.h>

struct reuse;

extern const char reuse_evaluator[]; /* a hash, made by cmake/evaluator.cmake */

/* settings: whatever else decides which moves are offered, in words. */
struct reuse *reuse_open(
    const char *path, const struct run_info *run, const char *settings, struct err *err);
void reuse_close(struct reuse *reuse);

/* Find the sound text that rewriter or tuner made of the parent's text by c->option. For these six
 * functions reuse may be NULL: nothing is found, nothing is kept. */
bool reuse_made(struct reuse *reuse, const struct candidate *parent, struct candidate *c,
    bool *found, struct err *err);
bool reuse_note_made(struct reuse *reuse, const struct candidate *parent, const struct candidate *c,
    struct err *err);
/* After compiling. */
bool reuse_find(struct reuse *reuse, struct candidate *c, bool *found, struct err *err);
/* After listing the moves of a candidate that was evaluated here and now. */
bool reuse_note(struct reuse *reuse, const struct candidate *c, struct err *err);
/* Around the comparison of a lead, after compiling. The evaluation stays in the file beside the
 * comparison: a later run tells its search of both in the same order. */
bool reuse_find_compared(struct reuse *reuse, struct candidate *c, bool *found, struct err *err);
bool reuse_note_compared(struct reuse *reuse, const struct candidate *c, struct err *err);

#endif
