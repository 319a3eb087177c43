/* Single questions to language models outside the search, with the same endpoints, keys, retries,
 * recordings and prices as the proposer's (llm/llm.h lists the specs).
 *
 *     struct ask *ask = ask_create(&options, err);
 *     text = ask_prompt(ask, ASK_HYPOTHESES, &values, arena);
 *     ask_put(ask, 0, "hypotheses", messages, nr, arena, &call, err) ... call.reply, call.error ...
 *     ask_destroy(ask);
 *
 * Prompts are files of prompts/: explain.md (the system's), hypotheses.md, judge.md, review.md,
 * correct.md, first.md, first_again.md. */
#ifndef KEET_PROPOSE_MODEL_ASK_H
#define KEET_PROPOSE_MODEL_ASK_H

#include "base/arena.h"
#include "base/err.h"
#include "core/candidate.h"
#include "core/chip.h"

#include <stdbool.h>

struct ask;

/* All borrowed. */
struct ask_options {
    const char *const *models; /* at least one */
    unsigned nr_models;
    const char *prompts_dir;
    const char *record_path; /* NULL; the second model's replies go to PATH.2, and so on */
    bool need_prices;        /* a model without a price is an error */
    uint64_t seed;
};

struct ask *ask_create(const struct ask_options *options, struct err *err);
void ask_destroy(struct ask *ask); /* NULL is fine */

enum ask_prompt {
    ASK_SYSTEM,
    ASK_HYPOTHESES,
    ASK_JUDGE,
    ASK_REVIEW,
    ASK_CORRECT,
    ASK_FIRST, /* the first kernel of a task; then, with what was wrong with it in text */
    ASK_FIRST_AGAIN
};

/* What stands in the prompts. NULL texts: "(none)". */
struct ask_values {
    const struct candidate *c; /* living, with a task */
    const struct chip *chip;
    const char *metrics, *hypotheses, *text;
};
const char *ask_prompt(const struct ask *ask, enum ask_prompt prompt,
    const struct ask_values *values, struct arena *arena);
/* What prompts say of the chip and of what the tools found: known facts, for checking answers. */
const char *ask_known(const struct ask_values *values, struct arena *arena);

struct ask_message {
    const char *role, *text; /* "system", "user", "assistant" */
};

/* Ask and wait. *call says all: reply NULL and error set when none came. False: the request itself
 * could not be made. */
bool ask_put(struct ask *ask, unsigned model, const char *purpose,
    const struct ask_message *messages, unsigned nr, struct arena *arena, struct model_call *call,
    struct err *err);

/* The kernel file in a reply, in the arena; NULL: there is none, and *why says so in a sentence. */
const char *ask_code(const char *reply, struct arena *arena, const char **why);

#endif
