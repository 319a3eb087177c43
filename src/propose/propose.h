/* Propose: carry out the move that the search asked for, and list the moves a source allows.
 *
 * Three proposers: the rewriter, which edits CUDA by libclang's syntax tree; the tuner, which picks
 * values of tuning parameters; and, where one is given, a language model.
 *
 * The first two answer at once. A model takes its time, so several candidates may be under way:
 *
 *     propose_start(p, &context, &c, &ready, err)      // not ready: a model was asked
 *     propose_wait(p, timeout_ms, &which, err)         // one that has become ready, or NULL
 *     ... compile, check ...
 *     propose_repair(p, &c, &asked, err)               // asked: wait for it and evaluate it again
 *     propose_told(p, &c, gain)                        // done with it
 *
 * A repair is another answer for the same node, not a new node: the node's verdict and source are
 * those of the last answer, each answer with its own verdict is kept in c->calls, and each repair
 * counts as one more evaluation. A node that was not finished when a run ended is asked anew. */
#ifndef KEET_PROPOSE_PROPOSE_H
#define KEET_PROPOSE_PROPOSE_H

#include "base/err.h"
#include "core/candidate.h"
#include "core/chip.h"
#include "core/lesson.h"

#include <stdbool.h>

struct propose; /* owns the proposers */
struct cutlass; /* the caller's */
struct str;

/* What models may look up: the tools search_cutlass and read_cutlass_file. Another stage has the
 * sources, so whoever makes both hands these in. Each appends an answer for the model, which may
 * be a sentence that says what was wrong with the question. Called on the caller's thread, from
 * within propose_wait. */
struct propose_library {
    struct cutlass *library;
    void (*search)(struct cutlass *library, const char *query, struct str *out);
    void (*read)(struct cutlass *library, const char *path, unsigned first_line, unsigned nr_lines,
        struct str *out);
};

/* Where calls are put on record, by whoever has the database: each when it begins, and again when
 * it has ended. Called within propose_start, propose_wait, propose_repair and propose_abandon. */
struct session;
struct propose_journal {
    struct session *session;
    bool (*save)(
        struct session *session, const struct candidate *c, unsigned call, struct err *err);
};

enum { PROPOSE_MAX_MODELS = 8, PROPOSE_MAX_IN_FLIGHT = 64, PROPOSE_REPAIRS = 2 };

struct propose_options {
    const char *prompts_dir; /* all files in it are checked at start */
    bool forbid_fast_math;
    const struct chip *chip; /* needed to show or ask a model; else NULL */
    /* Models, as llm.h lists them; none: rewriter and tuner only. Several: a bandit chooses. */
    const char *const *models;
    unsigned nr_models;
    const char *record_path; /* NULL; the second model's replies go to PATH.2, and so on */
    unsigned in_flight;      /* calls at once; 0: 4 */
    unsigned prompt_tokens;  /* a prompt's budget, by bytes/4; 0: 24000 */
    const struct propose_library *library; /* borrowed; NULL: nothing to look up */
    const struct propose_journal *journal; /* borrowed; NULL: the candidates alone have the calls */
    bool model_only;                       /* no rewriter, no tuner */
    bool no_plan;                          /* ask for code right away */
    bool need_prices;                      /* a model without a price is an error */
    bool show_only; /* propose_show alone will be called: no model is opened, no key is needed */
    uint64_t seed;
};

/* Keys of models leave the environment for memory that no child inherits. First of all in main. */
void propose_hide_keys(void);
/* Where keys are looked for. */
enum { PROPOSE_NR_KEYS = 3 };
struct propose_key {
    char variable[64];
    bool is_set;      /* the variable itself */
    const char *file; /* what VARIABLE_FILE says; NULL */
};
void propose_keys(struct propose_key keys[PROPOSE_NR_KEYS]);

struct propose *propose_create(
    const struct propose_options *options, const struct task *task, struct err *err);
void propose_destroy(struct propose *propose);

/* Fill c->source, c->plan, c->proposal_note from parent_source and c->option. A move that does not
 * apply gives verdict no_kernel with the reason; a broken contract gives verdict contract. The root
 * (option.action ACTION_NONE) gets the task's own source. Not for options of a model. */
bool propose_kernel(struct propose *propose, const char *parent_source, size_t parent_bytes,
    struct candidate *c, struct err *err);

/* List what can be tried on c->source: c->options, priors uniform. Deterministic for a source.
 * Moves that would not change the text, or do not apply, are not listed; with a model, each move
 * that has a page in prompts/actions is. */
bool propose_options(struct propose *propose, struct candidate *c, struct err *err);

/* Why each move was not listed for the last propose_options call: "move: reason\n" lines, for -v.
 */
const char *propose_refusals(const struct propose *propose);

/* The text of prompts/actions/<move>.md. */
const char *propose_action_text(const struct propose *propose, enum action action);

/* --- with a model --- */

bool propose_has_model(const struct propose *propose);

/* What surrounds a move; all borrowed for the call only. */
struct propose_context {
    const struct candidate *parent;          /* as loaded from the store */
    const struct candidate *const *siblings; /* what was tried on it already */
    unsigned nr_siblings;
    const struct lesson *const *lessons;
    unsigned nr_lessons;
};

/* After explain has filled the priors: the model's moves together get at least half of the mass.
 * Without a model, nothing. */
void propose_priors(const struct propose *propose, struct candidate *c);

/* c must stay where it is until propose_told. */
bool propose_start(struct propose *propose, const struct propose_context *context,
    struct candidate *c, bool *ready, struct err *err);
/* A candidate whose answer is there, with source or verdict; NULL when none came in time. False:
 * no model is left that could answer. */
bool propose_wait(
    struct propose *propose, double timeout_ms, struct candidate **ready, struct err *err);
/* Ask for a repair of a candidate that failed, unless it is not the model's, the failure is not of
 * that kind, or it has had its rounds. */
bool propose_repair(struct propose *propose, struct candidate *c, bool *asked, struct err *err);
/* The candidate is done; gain is log2 of its speed over its parent's, 0 when it failed. Also for
 * stored nodes on resuming: the bandit and the tally of what was spent learn from them. */
void propose_told(struct propose *propose, const struct candidate *c, double gain);
/* The run is over: requests under way are broken off, and what they came to goes on record. No
 * model can be asked after it. */
bool propose_abandon(struct propose *propose, struct err *err);
/* How many candidates have been taken so far: the clock of recordings. */
void propose_moment(struct propose *propose, uint64_t moment);

/* Of all calls that have ended, those before a run was resumed included. */
struct model_spent propose_spent(const struct propose *propose);

/* What would be sent for c's option, in full. Sends nothing, and needs no model. */
bool propose_show(struct propose *propose, const struct propose_context *context,
    struct candidate *c, struct str *out, struct err *err);

#endif
