/* Private to serve/: what an answer says of a candidate. Each function gives a new JSON value. */
#ifndef KEET_SERVE_ANSWERS_H
#define KEET_SERVE_ANSWERS_H

#include "core/chip.h"
#include "serve/prepared.h"

#include <jansson.h>

/* The members of a candidate of `keet-opt check --json`, but file and seconds. */
json_t *answer_check(const struct candidate *c);

/* A variant of docs/reference/json.md, with "reason", "line" and "check". */
json_t *answer_variant(const struct candidate *c);

/* The same with what `keet-opt explain` adds: "limits", and "text" for people. */
json_t *answer_explained(const struct prepared *p, const struct chip *chip, struct candidate *c);

/* A model's reply: "verdict", "reason", "line", "reward", "feedback", and where there was a kernel
 * "source", "check", "time_ns", "time_from", "original_ns", "speedup". c NULL: there was no kernel,
 * and why says so. */
json_t *answer_reward(
    const struct prepared *p, const struct chip *chip, struct candidate *c, const char *why);

#endif
