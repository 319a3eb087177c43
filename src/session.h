/* The session: the parts of one run, made and unmade together. It measures the original, plants it
 * as the root of the tree, and on --resume replays what the database already holds. */
#ifndef KEET_SESSION_H
#define KEET_SESSION_H

#include "check/check.h"
#include "compile/compile.h"
#include "core/candidate.h"
#include "core/task.h"
#include "device/device.h"
#include "explain/explain.h"
#include "options.h"
#include "profile/profile.h"
#include "propose/propose.h"
#include "search/search.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct session {
    const struct options *options;
    struct arena *arena; /* the run's */
    struct arena *step;  /* one node's; reset before each */
    struct task task;
    struct device *device;
    struct compiler *compiler;
    struct propose *propose;
    struct checker *checker;
    struct profiler *profiler;
    struct store *store;
    struct search *search;
    struct run_info run;
    const char *db_path, *output_path;
    struct candidate root;        /* in the run's arena */
    struct compilation reference; /* of the `reference` kernel, or the root's */
    uint64_t started_ns;
    /* tallies, kept over --resume */
    uint64_t nr_nodes;     /* stored, root excluded */
    uint64_t nr_evaluated; /* of them, not recalled from an equal one: what the budget counts */
    uint64_t nr_ok;
    uint64_t verdicts[NR_VERDICTS];
    int64_t best;        /* node number */
    double best_speedup; /* >= 1: the root is 1 */
};

/* False: err. On success the root is stored and planted, earlier nodes are replayed. */
bool session_open(struct session *s, const struct options *options, struct err *err);
void session_close(struct session *s); /* fine on a session that failed to open */

/* Start the next candidate: the step arena is reset, the fields common to all are set. */
void session_candidate(
    struct session *s, struct candidate *c, int64_t node, int64_t parent, struct option option);

/* Tell search and tallies of a finished node. */
void session_tell(struct session *s, const struct search_pick *pick, const struct candidate *c);

/* A move as the search knows it. */
uint32_t session_move_id(const struct option *option);

#endif
