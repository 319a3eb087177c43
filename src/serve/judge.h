/* Private to serve/: the stages of one candidate against a prepared original. False means that the
 * environment is broken; a broken candidate has a verdict. */
#ifndef KEET_SERVE_JUDGE_H
#define KEET_SERVE_JUDGE_H

#include "serve/prepared.h"

/* A candidate from text, in the arena, or with a verdict. text NULL: the original. */
void judge_read(const struct prepared *p, const char *text, size_t bytes, struct arena *arena,
    struct candidate *c);
/* The text alone, for a candidate that is begun. */
void judge_take(struct candidate *c, const char *text, size_t bytes);

/* Compiles the candidate unless it is compiled. */
bool judge_compile(struct prepared *p, struct candidate *c, struct err *err);

/* Compiles the candidate, and compares it with the original at the sizes of the check and at the
 * timed sizes, as `keet-opt check` does. *insts: thread instructions of the whole run at the timed
 * sizes; 0: not known. */
bool judge_check(struct prepared *p, struct candidate *c, uint64_t *insts, struct err *err);

/* Time and counters of a checked candidate, on a device of its own where that can be. */
bool judge_time(struct prepared *p, struct candidate *c, struct err *err);

/* All stages: check, time beside the original's, and the explanation. */
bool judge(struct prepared *p, struct candidate *c, struct err *err);

#endif
