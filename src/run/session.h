/* The session: the parts of one run, made and unmade together. It measures the original, plants it
 * as the root of the tree, and on --resume replays what the database already holds. */
#ifndef KEET_RUN_SESSION_H
#define KEET_RUN_SESSION_H

#include "cli/options.h"
#include "compile/compile.h"
#include "core/candidate.h"
#include "core/task.h"
#include "device/device.h"
#include "explain/explain.h"
#include "propose/propose.h"
#include "run/borrowed_explanation.h"
#include "run/evaluator.h"
#include "run/lessons.h"
#include "run/reuse.h"
#include "search/search.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct str;

/* A pick of the search on its way from asking to telling. */
struct trial {
    /* Asked of a proposer, ready to be evaluated, under way on a device, evaluated. */
    enum { TRIAL_FREE, TRIAL_ASKED, TRIAL_READY, TRIAL_UNDER_WAY, TRIAL_DONE } state;
    uint64_t turn; /* they are evaluated, and told, in the order in which they became ready */
    bool compiled;
    struct search_pick pick;
    struct candidate c, parent;
    struct arena *arena; /* of both */
};

struct session {
    const struct options *options;
    struct arena *arena; /* the run's */
    struct trial trials[PROPOSE_MAX_IN_FLIGHT];
    unsigned nr_slots; /* how many of them are used */
    struct task task;
    struct device *device; /* the evaluator's first */
    struct compiler *compiler;
    char *cutlass_root; /* NULL: there is none */
    struct cutlass *cutlass;
    struct propose_library library; /* over it */
    struct propose_journal journal; /* into the store */
    struct propose *propose;
    struct evaluator *evaluator;
    struct store *store;
    struct search *search;
    struct lessons *memory; /* NULL: none */
    struct reuse *reuse;    /* NULL: none */
    enum feedback feedback; /* what steers the search; other than findings in experiments */
    struct donor *donor;    /* FEEDBACK_OTHER; else NULL */
    struct run_info run;
    const char *db_path, *output_path;
    int lock;                     /* of the database: <db>-lock; -1: not held */
    struct candidate root;        /* in the run's arena */
    struct compilation reference; /* of the `reference` kernel, or the root's */
    uint64_t started_ns;
    /* tallies, kept over --resume */
    uint64_t nr_nodes;     /* stored, root excluded */
    uint64_t nr_evaluated; /* of them, not recalled from an equal one, and repairs: what the
                             budget counts */
    uint64_t nr_ok, nr_reused;
    uint64_t verdicts[NR_VERDICTS];
    uint64_t nr_turns, nr_taken;
    int64_t best;        /* node number */
    double best_speedup; /* of it; >= 1 by time alone: the root is 1 */
    struct objective_best standing;
};

/* False: err. On success the root is stored and planted, earlier nodes are replayed. */
bool session_open(struct session *s, const struct options *options, struct err *err);
void session_close(struct session *s); /* fine on a session that failed to open */

/* A candidate in an arena, with the fields common to all set. */
void session_candidate(struct session *s, struct arena *arena, struct candidate *c, int64_t node,
    int64_t parent, struct option option);

/* Ask the search for one more pick, and begin it. */
bool session_ask(struct session *s, bool *asked, struct err *err);
/* Begin a pick: its parent is loaded and its proposer asked. */
bool session_begin(struct session *s, const struct search_pick *pick, struct err *err);
unsigned session_nr_pending(const struct session *s);
/* See what has come from models; wait a while for one when nothing else is to be done. */
bool session_collect(struct session *s, bool wait, struct err *err);
/* The first ready trial; NULL: none. The first of those that are under way or evaluated: the next
 * to be told. */
struct trial *session_first_ready(struct session *s);
struct trial *session_first_taken(struct session *s);
/* Another one that computes the same is being evaluated: this one may be recalled from it soon. */
bool session_equal_is_under_way(const struct session *s, const struct candidate *c);
/* Take over what an equal node of this run, or an equal text of an earlier one, is known to do. */
bool session_recall(struct session *s, struct candidate *c, struct err *err);
/* A trial that failed may be asked for once more; *again: it is not ready any longer. */
bool session_repair(struct session *s, struct trial *trial, bool *again, struct err *err);
/* What the user's tools, other feedback than our own (--feedback), models and lessons do to the
 * priors of a candidate's moves. */
bool session_priors(struct session *s, struct candidate *c, struct err *err);
/* Store the trial, tell search, memory and tallies of it, and free it. */
bool session_store(struct session *s, struct trial *trial, struct err *err);
/* Write what a model would be sent for the original's most promising move. */
bool session_show_prompt(struct session *s, struct str *out, struct err *err);

/* A move as the search knows it. */
uint32_t session_move_id(const struct option *option);

#endif
