/* Prompts: the texts in prompts/ with their {{placeholders}} filled in. Private to propose/.
 *
 *     struct prompts *prompts = prompts_load("prompts", &err);      // err has file:line of a
 * mistake struct prompt_values values = {.text[PLACE_SOURCE] = ..., }; if (prompt_trim(prompts,
 * PROMPT_DESIGN, &values, budget_tokens, arena, &values)) text = prompt_fill(prompts,
 * PROMPT_DESIGN, &values, arena);
 *
 * A token is taken as four bytes. A prompt that is longer than its budget loses lines from the end
 * of what matters least, in this order: lessons, techniques, others, siblings, plan, findings,
 * evidence, partner, best, excerpt, hardware. The contract, the source, the move and the problem
 * are never cut.
 *
 * What is the same for a whole run (system.md, with the contract and the hardware) comes first, and
 * what is the same for a node second, so that the caches of endpoints are hit. */
#ifndef KEET_PROPOSE_MODEL_PROMPT_H
#define KEET_PROPOSE_MODEL_PROMPT_H

#include "base/arena.h"
#include "base/err.h"
#include "core/actions.h"

#include <stdbool.h>
#include <stddef.h>

enum prompt {
    PROMPT_SYSTEM,
    PROMPT_NODE,
    PROMPT_PLAN,
    PROMPT_DESIGN, /* what a model is asked to write: one of the kinds of requests */
    PROMPT_IMPROVE,
    PROMPT_COMBINE,
    PROMPT_SLOWER, /* a version that is right but slower, which is to be repaired */
    PROMPT_PARAMETERISE,
    PROMPT_EPISODE,      /* the start of a conversation with tools */
    PROMPT_EPISODE_TEXT, /* how to use its tools by text */
    PROMPT_REPAIR,       /* after an answer that failed */
    PROMPT_EXPLAIN,      /* the system's, where a profile is to be explained */
    PROMPT_CUTLASS,      /* after PROMPT_SYSTEM, where there is a library */
    PROMPT_HYPOTHESES,   /* the steps of an explanation: hypotheses, */
    PROMPT_JUDGE,        /* judgements by the counters, */
    PROMPT_REVIEW,       /* a review, */
    PROMPT_CORRECT,      /* a correction */
    PROMPT_FIRST,        /* a task's first kernel */
    PROMPT_FIRST_AGAIN,  /* the same, after what was wrong with the one before */
    PROMPT_EXECUTES,     /* what the emulator executes: its first line names instructions */
    NR_PROMPTS
};

enum place {
    PLACE_CONTRACT,     /* the contract's lines */
    PLACE_HARDWARE,     /* figures of the chip that bound the answer */
    PLACE_SOURCE,       /* of the parent, with line numbers */
    PLACE_STATE,        /* its time, its speedup, what limits it */
    PLACE_FINDINGS,     /* at most five, with evidence */
    PLACE_SIBLINGS,     /* what was tried on the parent, and what came of it */
    PLACE_LESSONS,      /* what moves did to kernels like this one */
    PLACE_MOVE,         /* the moves that the tools rank first */
    PLACE_PLAN,         /* what the model answered to plan.md */
    PLACE_PROBLEM,      /* repair: verdict and evidence */
    PLACE_EXCERPT,      /* repair: the lines around the place it names */
    PLACE_NODE,         /* node.md, filled in */
    PLACE_METRICS,      /* explain: all that was counted */
    PLACE_HYPOTHESES,   /* explain: what was expected before the counters were seen */
    PLACE_TEXT,         /* explain: the text to review or correct; first_again: what was wrong */
    PLACE_EXECUTES,     /* executes.md, or that the device executes everything */
    PLACE_INSTRUCTIONS, /* the user's own word */
    PLACE_EVIDENCE,     /* where the parent's time goes: launches, units, stalls, traffic, lines */
    PLACE_BEST,         /* the best version: source, times, evidence */
    PLACE_OTHERS,       /* the other versions, a line each */
    PLACE_PARTNER,      /* the second version of combine.md, the faster one of slower.md */
    PLACE_TECHNIQUES,   /* pages of prompts/techniques */
    PLACE_UNITS,        /* executes: the words of techniques for the chip's units */
    PLACE_UNIT_NAMES,   /* executes: those that not every chip has, as a sentence goes on */
    PLACE_HINT,         /* what makes one request differ from the next of its kind */
    NR_PLACES
};
const char *place_name(enum place place);

struct prompts;
struct prompts *prompts_load(const char *dir, struct err *err);
void prompts_destroy(struct prompts *prompts);
/* The page of a move; the prompt of a kind of request. */
const char *prompts_action(const struct prompts *prompts, enum action action);
/* The prompt of a kind of request; of other actions, that of improve. */
enum prompt prompt_of(enum action request);

struct prompt_values {
    const char *text[NR_PLACES]; /* NULL: "(none)" */
};

enum { TOKEN_BYTES = 4 };
size_t prompt_tokens(const char *text);

/* *trimmed: the values, with lines cut until the prompt fits. False: it is too long even then. */
bool prompt_trim(const struct prompts *prompts, enum prompt prompt,
    const struct prompt_values *values, size_t budget_tokens, struct arena *arena,
    struct prompt_values *trimmed);
/* The prompt with all placeholders filled in. */
char *prompt_fill(const struct prompts *prompts, enum prompt prompt,
    const struct prompt_values *values, struct arena *arena);

#endif
