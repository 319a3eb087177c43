/* Single questions to language models outside the search. Endpoints, keys, retries, recordings and
 * prices are those of the proposer (llm/llm.h lists the specs).
 *
 *     struct ask *ask = ask_create(&options, err);
 *     text = ask_prompt(ask, ASK_HYPOTHESES, &values, arena);        // for messages[].text
 *     ask_put(ask, 0, "hypotheses", messages, nr, arena, &call, err) ... call.reply, call.error ...
 *     ask_destroy(ask);
 *
 * The prompts are files in prompts/: explain.md (the system's), hypotheses.md, judge.md, review.md,
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
    const char *record_path; /* NULL: none. The second model's replies go to PATH.2, and so on */
    bool need_prices;        /* a model without a price is an error */
    uint64_t seed;
};

/* NULL, with err, when a prompt, a price or the spec of a model is wrong. */
struct ask *ask_create(const struct ask_options *options, struct err *err);
void ask_destroy(struct ask *ask); /* NULL is fine */

enum ask_prompt {
    ASK_SYSTEM,
    ASK_HYPOTHESES,
    ASK_JUDGE,
    ASK_REVIEW,
    ASK_CORRECT,
    ASK_FIRST,      /* the first kernel of a task */
    ASK_FIRST_AGAIN /* once more; values.text says what was wrong with the one before */
};

/* What the placeholders of the prompts stand for. A text that is NULL reads "(none)". */
struct ask_values {
    const struct candidate *c; /* with a task and a source */
    const struct chip *chip;
    const char *metrics, *hypotheses, *text;
};
const char *ask_prompt(const struct ask *ask, enum ask_prompt prompt,
    const struct ask_values *values, struct arena *arena);
/* What prompts say of the contract, the chip, and what the tools found: the facts that answers are
 * checked against. */
const char *ask_known(const struct ask_values *values, struct arena *arena);

struct ask_message {
    const char *role, *text; /* "system", "user", "assistant" */
};

/* Ask model number `model`, and wait for its answer. *call is the record of it; reply is NULL and
 * error is set when no answer came. False: the request itself could not be made, or proc_interrupt
 * was called. */
bool ask_put(struct ask *ask, unsigned model, const char *purpose,
    const struct ask_message *messages, unsigned nr, struct arena *arena, struct model_call *call,
    struct err *err);

/* The kernel file in a reply, in the arena; NULL: there is none, and *why says so in a sentence.
 * base: the file that a reply of edits was shown; "": none. */
const char *ask_code(const char *reply, const char *base, struct arena *arena, const char **why);

#endif
