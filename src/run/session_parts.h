/* Private to run/: the inside of a session, for the loop and for the files below the loop. */
#ifndef KEET_RUN_SESSION_PARTS_H
#define KEET_RUN_SESSION_PARTS_H

#include "explain/explain.h"
#include "propose/propose.h"
#include "run/borrowed_explanation.h"
#include "run/evaluator.h"
#include "run/in_flight.h"
#include "run/lead.h"
#include "run/lessons.h"
#include "run/reuse.h"
#include "run/session.h"
#include "search/search.h"

struct lead {
    bool settled;    /* compared at the timed sizes: it is the best */
    uint64_t due_at; /* state.nr_nodes from which on it is compared */
};

struct session {
    const struct session_options *options;
    struct workbench *bench;
    const struct task *task;
    struct arena *arena; /* the run's */
    struct in_flight in_flight;
    struct cutlass *cutlass;
    struct propose_library library; /* over CUTLASS */
    struct propose_journal journal; /* into the store */
    struct propose *propose;
    struct evaluator *evaluator;
    struct store *store;
    struct search *search;
    struct lessons *memory; /* NULL: none */
    struct reuse *reuse;    /* NULL: none */
    enum feedback feedback; /* what steers the search; other than findings in experiments */
    struct borrowed_explanation *borrowed; /* FEEDBACK_OTHER; else NULL */
    struct run_info run;
    const char *db_path, *output_path;
    int lock;                     /* of the database: <db>-lock; -1: not held */
    struct candidate root;        /* in the run's arena */
    struct compilation reference; /* of the `reference` kernel, or the root's */
    struct session_state state;   /* but elapsed_s and from: session_state fills these in */
    struct objective_best standing;
    struct lead lead; /* of state.best */
    uint64_t started_ns;
    struct model_spent spent; /* session_result's */
};

/* A candidate in an arena, with the fields common to all set. */
void session_candidate(struct session *s, struct arena *arena, struct candidate *c, int64_t node,
    int64_t parent, struct option option);

/* Do requests to models know of nothing but the original? */
bool session_is_independent(const struct session *s);

double session_elapsed_s(const struct session *s);

/* Take over the results of an equal node of this run, or of an equal text of an earlier run. */
bool session_recall(struct session *s, struct candidate *c, struct err *err);

/* Tell search and tallies of a node. */
void session_tell(struct session *s, const struct search_pick *pick, const struct candidate *c);

/* log2 of a candidate's speed over its parent's; 0 when the candidate failed. */
double session_gain(const struct candidate *parent, const struct candidate *c);

/* loop.c: the stages check and profile of a candidate, in that order; the evaluator's work. */
bool loop_check_and_profile(struct station *station, struct candidate *c, struct err *err);

/* resume.c: ask and tell the search again in the recorded order, and begin anew each node that was
 * asked but never told. */
bool session_replay(struct session *s, struct err *err);

/* remember.c: keep what the run came to, for later runs. */
bool session_remember(struct session *s, struct err *err);

/* output.c: find the winner of an earlier run that is better than this run's best. */
bool output_find_kept(struct session *s, struct session_result *result, struct err *err);

/* steering.c: open --feedback, and set the priors of a candidate's moves by the user's tools, the
 * feedback, models and lessons. */
bool steering_open(struct session *s, struct err *err);
bool steering_priors(struct session *s, struct candidate *c, struct err *err);

#endif
