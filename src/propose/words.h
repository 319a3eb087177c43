/* What a model is told, in words: contract, chip, source, findings, siblings, lessons. Private to
 * propose/. All text in the arena. Nothing here depends on wall time, so that a recorded run asks
 * the same again. */
#ifndef KEET_PROPOSE_WORDS_H
#define KEET_PROPOSE_WORDS_H

#include "core/candidate.h"
#include "core/chip.h"
#include "core/lesson.h"

const char *words_contract(struct arena *arena, const struct task *task);
const char *words_hardware(struct arena *arena, const struct chip *chip);
const char *words_source(struct arena *arena, const char *source); /* "  12| code" */
/* The lines around one line, numbered; all of them when line is 0 and there are few. */
const char *words_excerpt(struct arena *arena, const char *source, unsigned line);
const char *words_state(struct arena *arena, const struct candidate *c);
const char *words_findings(struct arena *arena, const struct candidate *c);
const char *words_siblings(struct arena *arena, const struct candidate *parent,
    const struct candidate *const *siblings, unsigned nr);
const char *words_lessons(struct arena *arena, const struct lesson *const *lessons, unsigned nr);
const char *words_problem(struct arena *arena, const struct candidate *c);

#endif
