/* What a model is told, in words: contract, chip, source, findings, siblings, lessons. Private to
 * propose/. All text is in the arena. None depends on wall time, so that a recorded run asks the
 * same again. */
#ifndef KEET_PROPOSE_MODEL_PHRASES_H
#define KEET_PROPOSE_MODEL_PHRASES_H

#include "base/str.h"
#include "core/candidate.h"
#include "core/chip.h"
#include "core/experience.h"
#include "core/lesson.h"

/* The text without newlines at its end; empties `out`. */
const char *phrase_finish(struct arena *arena, struct str *out);
const char *phrase_contract(struct arena *arena, const struct task *task);
const char *phrase_hardware(struct arena *arena, const struct chip *chip);
/* What the emulator executes of this chip: as words for technique_facts, and as the end of an
 * enumeration. */
const char *phrase_units(const struct chip *chip);
const char *phrase_unit_names(const struct chip *chip);
const char *phrase_source(struct arena *arena, const char *source); /* "  12| code" */
/* The lines around one line, numbered; a remark when line is 0. */
const char *phrase_excerpt(struct arena *arena, const char *source, unsigned line);
const char *phrase_state(struct arena *arena, const struct candidate *c);
const char *phrase_time(struct arena *arena, double ns); /* "8.5 us" */
const char *phrase_findings(struct arena *arena, const struct candidate *c);
/* Of those siblings whose source and profile were loaded also what they changed. */
const char *phrase_siblings(struct arena *arena, const struct candidate *parent,
    const struct candidate *const *siblings, unsigned nr, bool evidence);
const char *phrase_lessons(struct arena *arena, const struct lesson *const *lessons, unsigned nr);
/* Whole runs on kernels that are alike, with their code. */
const char *phrase_experiences(
    struct arena *arena, const struct experience *const *experiences, unsigned nr);
const char *phrase_problem(struct arena *arena, const struct candidate *c);

#endif
