/* What a model said would change, and what came of it. The prediction is part of the node's
 * proposal_note, behind the note itself. */
#ifndef KEET_CORE_PREDICTION_H
#define KEET_CORE_PREDICTION_H

#include "core/candidate.h"

/* The note with the prediction behind it; an empty prediction leaves the note as it is. Arena
 * memory. */
const char *prediction_note(struct arena *arena, const char *note, const char *prediction);

/* "expected: time 8.5 us; came out: time 10.2 us (1.20 times)": a time in ns, us or ms behind the
 * word "time", and each metric by its name with the number behind it, compared with the profile. A
 * prediction without numbers that are known is given as it is. "": there is none, or the candidate
 * was not profiled. Arena memory. */
const char *prediction_compared(struct arena *arena, const struct candidate *c);

#endif
