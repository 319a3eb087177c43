/* Propose: make the variant that the search asked for, and list the moves that a source allows.
 *
 * There are three proposers. The rewriter (rewrite/) edits CUDA by libclang's syntax tree. The
 * tuner (tune/) picks values of tuning parameters. A language model (model/), where one is given,
 * writes code.
 *
 * The first two answer at once. A model takes its time, so several candidates may be under way:
 *
 *     propose_start(p, &context, &c, &ready, err)      // not ready: a model was asked
 *     propose_wait(p, timeout_ms, &which, err)         // a candidate that is ready now, or NULL
 *     ... compile, check ...
 *     propose_repair(p, &c, &asked, err)               // asked: wait for c and evaluate it again
 *     propose_told(p, &c, gain)                        // done with c
 *
 * A repair is another answer for the same node, not a new node. The node's verdict and source are
 * those of the last answer; c->calls keeps each answer with its own verdict. Each repair counts as
 * one more evaluation. A node that was not finished when a run ended is asked for anew. */
#ifndef KEET_PROPOSE_PROPOSE_H
#define KEET_PROPOSE_PROPOSE_H

#include "base/err.h"
#include "core/candidate.h"
#include "core/chip.h"
#include "core/experience.h"
#include "core/lesson.h"

#include <stdbool.h>

struct propose; /* owns the proposers */
struct cutlass; /* the caller's */
struct str;

/* What models may look up: the functions behind the tools search_cutlass and read_cutlass_file. The
 * caller has the sources. Each function appends the answer for the model; where the question is
 * wrong, a sentence that says so. Both are called on the caller's thread, within propose_wait. */
struct propose_library {
    struct cutlass *library;
    void (*search)(struct cutlass *library, const char *query, struct str *out);
    void (*read)(struct cutlass *library, const char *path, unsigned first_line, unsigned nr_lines,
        struct str *out);
};

/* What the caller does for candidates that are asked of models.
 * - save gets each call when it begins, and again when it has ended, within propose_start,
 *   propose_wait, propose_repair and propose_abandon.
 * - load reads other nodes, for models in episodes.
 * - surround collects anew what surrounds a candidate under way: a question after a plan is built
 *   when it is sent. NULL: what surrounded it at its start stays. */
struct session;
struct propose_context;
struct propose_journal {
    struct session *session;
    bool (*save)(
        struct session *session, const struct candidate *c, unsigned call, struct err *err);
    bool (*surround)(struct session *session, const struct candidate *c,
        struct propose_context *context, struct err *err);
    /* A node with all that is stored of it, in the arena; NULL in *c: there is no such node. NULL:
     * models cannot look at other nodes. */
    bool (*load)(struct session *session, struct arena *arena, int64_t node,
        const struct candidate **c, struct err *err);
};

/* Whether requests may be conversations with tools, of several tries: beside single requests, or in
 * their place. */
enum episodes { EPISODES_OFF, EPISODES_ON, EPISODES_ONLY };

enum { PROPOSE_MAX_MODELS = 8, PROPOSE_MAX_IN_FLIGHT = 64, PROPOSE_REPAIRS = 2 };

struct propose_options {
    const char *prompts_dir; /* prompts and prices; propose_create checks all files in it */
    bool forbid_fast_math;
    uint32_t smem_per_block_bytes; /* that a rewrite may use; 0: as much as an H100's block has */
    const struct chip *chip;       /* NULL: no model is asked, and no prompt shown */
    const struct chip *runs_on;    /* moves that it lacks are left out; NULL: none is */
    /* Specs of models (llm.h). None: rewriter and tuner only. Several: a bandit chooses. */
    const char *const *models;
    unsigned nr_models;
    const char *record_path; /* NULL: none. The second model's replies go to PATH.2, and so on */
    unsigned in_flight;      /* calls at once, of each model; 0: 4 */
    unsigned prompt_tokens;  /* a prompt's budget, in tokens of four bytes; 0: 24000 */
    const struct propose_library *library; /* NULL: nothing to look up */
    const struct propose_journal *journal; /* NULL: the candidates alone have the calls */
    bool model_only;                       /* no rewriter, no tuner */
    bool tune_only;                        /* all points of the original, and no other move */
    bool plan;                             /* ask how, before asking for code */
    bool no_techniques;                    /* no pages of techniques in prompts */
    bool independent;                      /* designs of the original alone are asked for */
    enum episodes episodes;
    bool emulated;              /* prompts/executes.md says what the device executes */
    const char *techniques_dir; /* pages of the user's, beside prompts/techniques; NULL: none */
    const char *instructions;   /* the user's own word, for the prompts; NULL: none */
    /* By kind of request, as "0.8" or "design=1,repair=0": kinds are those of a model's requests,
     * `repair` for all repairs, `plan`. NULL: the endpoint's defaults. */
    const char *temperature, *effort;
    double call_s;    /* the time that a call may take; 0: the endpoint's default */
    bool need_prices; /* a model without a price is an error */
    bool show_only;   /* propose_show alone will be called: no model is opened, no key is needed */
    uint64_t seed;
};

/* Move the keys of models from the environment to memory that no child inherits. To be called first
 * of all in main. */
void propose_hide_keys(void);
/* The variables that keys are looked for in. */
enum { PROPOSE_NR_KEYS = 3 };
struct propose_key {
    char variable[64];
    bool is_set;      /* the variable itself */
    const char *file; /* what VARIABLE_FILE says; NULL: it is not set */
};
void propose_keys(struct propose_key keys[PROPOSE_NR_KEYS]);
/* Loads libclang, by which sources are read, and gives its path. NULL, with err: there is none that
 * fits, and propose_create will fail. */
const char *propose_parser(struct err *err);

/* What options point to, and the task, are borrowed and must outlive the result. NULL, with err,
 * when a prompt, a price or the spec of a model is wrong. */
struct propose *propose_create(
    const struct propose_options *options, const struct task *task, struct err *err);
void propose_destroy(struct propose *propose);

/* Fill c->source, c->plan and c->proposal_note from parent_source and c->option. A move that does
 * not apply gives verdict no_kernel with the reason. A source that breaks the contract gives
 * verdict contract. The root (option.action ACTION_NONE) gets the task's own source. Not for
 * options of a model. */
bool propose_kernel(struct propose *propose, const char *parent_source, size_t parent_bytes,
    struct candidate *c, struct err *err);

/* List what can be tried on c->source, whose plan is c->plan: c->options, with uniform priors. The
 * list is the same for the same source. What the tuner will make is decided when its move is made.
 * A mechanical move that does not apply, or would not change the text, is not listed. With a model,
 * the kinds of requests to it are. */
bool propose_options(struct propose *propose, struct candidate *c, struct err *err);

/* Why moves, or variants of moves, were not listed by the last propose_options: "move: reason\n"
 * lines, each reason of a move once. */
const char *propose_refusals(const struct propose *propose);

/* The text of prompts/actions/<move>.md. */
const char *propose_action_text(const struct propose *propose, enum action action);

/* --- with a model --- */

bool propose_has_model(const struct propose *propose);

/* One line about a node. */
struct propose_headline {
    int64_t node, parent;
    const char *action, *what, *verdict, *verdict_text;
    double speedup, time_ns; /* 0: not known */
};

/* What surrounds a move. All of it is borrowed for the call only, but for the parent's plan: a
 * candidate whose move does not apply keeps it, and must not outlive the parent's arena. */
struct propose_context {
    const struct candidate *parent;          /* as loaded from the store */
    const struct candidate *const *siblings; /* what was tried on it already */
    unsigned nr_siblings;
    const struct lesson *const *lessons;
    unsigned nr_lessons;
    const struct experience *const *experiences; /* of earlier runs, on kernels like this one */
    unsigned nr_experiences;
    /* For requests to a model. NULL: none. */
    const struct candidate *best;    /* the best version so far; may be the parent */
    const struct candidate *partner; /* to combine with; of a repair: the faster version before */
    const struct propose_headline *headlines; /* fastest first, then those that failed */
    unsigned nr_headlines;
    bool evidence; /* prompts may show counters */
};

/* What the search is to know of an option: a model's kinds of requests are arms of it. */
struct search_move;
void propose_arm(const struct option *option, struct search_move *move);

/* Once explain has filled the priors: give the requests to a model together half of the mass.
 * Without a model, nothing. */
void propose_priors(const struct propose *propose, struct candidate *c);

/* *ready: c has its source or its verdict. Else a model was asked, and c must stay where it is
 * until propose_told. */
bool propose_start(struct propose *propose, const struct propose_context *context,
    struct candidate *c, bool *ready, struct err *err);
/* *ready: a candidate whose answer has come, with its source or its verdict; NULL when none came in
 * time. False: no model is left that could answer. */
bool propose_wait(
    struct propose *propose, double timeout_ms, struct candidate **ready, struct err *err);
/* Ask for a repair of a candidate that failed. *asked stays false when c is not the model's, when
 * its failure is of a kind that no repair can mend, or when c has had PROPOSE_REPAIRS. */
bool propose_repair(struct propose *propose, struct candidate *c, bool *asked, struct err *err);
/* An episode is a conversation with tools over several candidates, each a try of its own. After a
 * candidate was told to the search and before propose_told: does its episode go on? Then the caller
 * makes the next candidate, whose parent is the try, or where the try failed the try's parent, and
 * calls propose_follow, which asks the model; go on as after propose_start. */
bool propose_goes_on(const struct propose *propose, const struct candidate *c);
bool propose_follow(struct propose *propose, const struct propose_context *context,
    const struct candidate *before, struct candidate *c, struct err *err);
/* The candidate is done. The gain is log2 of its speed over its parent's; 0 when it failed. Stored
 * nodes are told too when a run is resumed: the bandit and the tally of what was spent learn from
 * them. */
void propose_told(struct propose *propose, const struct candidate *c, double gain);
/* The run is over: break off the requests under way, and put what they came to on record. No model
 * can be asked after it. */
bool propose_abandon(struct propose *propose, struct err *err);
/* How many candidates the caller has taken so far: the clock of recordings (llm.h). */
void propose_moment(struct propose *propose, uint64_t moment);

/* What all calls that have ended took, those before a run was resumed included. */
struct model_spent propose_spent(const struct propose *propose);

/* Append what would be sent for c's option, in full. Sends nothing, and needs no model. */
bool propose_show(struct propose *propose, const struct propose_context *context,
    struct candidate *c, struct str *out, struct err *err);

#endif
