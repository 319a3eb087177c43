/* What a run has measured of points of tuning parameters, and the point to try next.
 *
 * Sources that differ in the values of their `tune` lines alone are a family: all its points are
 * one space, wherever in the tree they stand. Families with the same parameters tell each other
 * what they know: a source after `unroll` begins with what its parent's points took, shifted by the
 * difference at the points that both have measured. */
#ifndef KEET_PROPOSE_TUNE_TUNING_MEMORY_H
#define KEET_PROPOSE_TUNE_TUNING_MEMORY_H

#include "propose/rewrite/rewrite.h"
#include "propose/tune/surrogate.h"

struct tuning *tuning_create(uint64_t seed);
void tuning_destroy(struct tuning *tuning); /* NULL is fine */

/* A source was measured: its speedup over the original, 0 when it failed. Its plan has parameters.
 */
void tuning_told(struct tuning *tuning, const struct rewrite_in *in, double speedup);

/* The number of other points that are allowed, at most `most`. */
unsigned tuning_nr_others(const struct rewrite_in *in, unsigned most);

/* The point to try next from the source of `in`: one that was neither measured nor given out; once
 * there is none, the best that was measured. False: there is no other point at all. */
bool tuning_next(struct tuning *tuning, const struct rewrite_in *in, struct tune_point *point);

/* The nth allowed point, from 0, that differs from the source in one parameter, in the order of the
 * `tune` lines. False: there are fewer. */
bool tuning_neighbour(const struct rewrite_in *in, unsigned nth, struct tune_point *point);

/* The point was given out by number. */
void tuning_given(
    struct tuning *tuning, const struct rewrite_in *in, const struct tune_point *point);

#endif
