/* What a model is told of where a version's time goes, and of the versions beside it. Private to
 * propose/. Like phrases.h: text in the arena, none of it by wall time. */
#ifndef KEET_PROPOSE_MODEL_EVIDENCE_H
#define KEET_PROPOSE_MODEL_EVIDENCE_H

#include "core/candidate.h"
#include "core/chip.h"
#include "propose/propose.h"

/* Launches with their times; units and stalls, the busiest first; occupancy and its limiter; memory
 * traffic; the lines where warps wait most; the largest error against the tolerance. "" where
 * nothing is known. */
const char *evidence_text(struct arena *arena, const struct chip *chip, const struct candidate *c);

/* A whole version: its number, where it stands, its source with line numbers and, with_evidence,
 * its evidence and findings. */
const char *evidence_version(
    struct arena *arena, const struct chip *chip, const struct candidate *c, bool with_evidence);

/* The counters that moved most from one version to the other, and the lines that changed, at most
 * most_lines of them; "" where nothing is known. */
const char *evidence_change(struct arena *arena, const struct candidate *from,
    const struct candidate *to, unsigned most_lines);

/* The lines alone. */
const char *evidence_lines(struct arena *arena, const struct candidate *from,
    const struct candidate *to, unsigned most_lines);

/* The moves that the findings weigh most, at most five, with what each is for; moves that the
 * version's facts rule out are left out. `pages` gives a move's page. */
const char *evidence_moves(struct arena *arena, const struct chip *chip, const struct candidate *c,
    const char *(*page)(const void *pages, enum action action), const void *pages);

/* Known versions but for those of the two numbers, a line each, fastest first, then what failed. */
const char *evidence_others(struct arena *arena, const struct propose_headline *headlines,
    unsigned nr, int64_t but, int64_t and_but);

#endif
