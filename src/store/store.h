/* Store: every node, with everything that led to the node, in one SQLite file (WAL, foreign keys,
 * migrations by user_version). The database is the log of record: a run that was killed at any
 * point resumes from the database. Each node is one transaction. */
#ifndef KEET_STORE_STORE_H
#define KEET_STORE_STORE_H

#include "base/arena.h"
#include "base/err.h"
#include "core/candidate.h"
#include "core/experience.h"
#include "core/lesson.h"

#include <stdbool.h>
#include <stdint.h>

struct store;

/* The values that identify a run. Resuming with other values is an error, which names the
 * difference. */
struct run_info {
    int64_t id; /* filled by the store */
    const char *kernel_path;
    const char *original; /* the task's whole source */
    const char *device, *policy, *version;
    uint64_t seed;
    const char *budget;  /* as given */
    const char *models;  /* language models, one a line; "" or NULL: none */
    const char *started; /* UTC; filled by the store */
    bool done;
    const char *ended,
        *why_stopped; /* A path for store_open: a database of its own that no file holds. */
#define STORE_IN_MEMORY ":memory:"

    /* filled by store_find_run; NULL while it goes on */
};

struct store *store_open(const char *path, struct err *err); /* makes and migrates */
void store_close(struct store *store);
/* Deletes a database that is closed, with all files beside it. */
void store_remove(const char *path);

bool store_begin_run(struct store *store, struct run_info *run, struct err *err);
/* The newest run in the file; strings are in the arena. *found is false when the file has no
 * run. */
bool store_find_run(
    struct store *store, struct arena *arena, struct run_info *run, bool *found, struct err *err);
/* The run of this number becomes the current one; 0: the newest. An error when the file has no such
 * run. */
bool store_take_run(struct store *store, struct arena *arena, int64_t number, struct run_info *run,
    struct err *err);
/* The newest run with the same original, device, policy and version becomes the current one. */
bool store_find_equal_run(
    struct store *store, const struct run_info *wanted, bool *found, struct err *err);
/* May a run with the stored values be resumed as the wanted one? The error names the difference.
 * Budget and kernel path may differ: a longer budget is the usual reason to resume. */
bool store_same_run(const struct run_info *stored, const struct run_info *wanted, struct err *err);
/* Records the models and the budget of a run that is resumed. */
bool store_go_on(struct store *store, const char *models, const char *budget, struct err *err);
/* Mark the run done, with the reason and with the node that is its best by its own objective.
 * Resuming a done run with a larger budget is fine. */
bool store_end_run(struct store *store, const char *why_stopped, int64_t best, struct err *err);

/* Save the node and all its parts (source, compilation facts, check, measurement, counters,
 * findings, options with priors) in one transaction. */
bool store_kernel(struct store *store, const struct candidate *c, struct err *err);

/* The outcome of a stored node turned out to be another after the search was told. */
struct store_revision {
    int64_t number, nr_told, nr_asked; /* of the node; how many were told, and asked, by then */
    double speedup;                    /* that the search was told before */
};
/* Save the verdict, check, profile and explanation of a stored node in place of those it had.
 * revision: goes on record in the same transaction; its number is c->node. NULL: what the search
 * was told still holds. */
bool store_revise(struct store *store, const struct candidate *c,
    const struct store_revision *revision, struct err *err);

/* If a node of this run has the same compilation key, copy its check, profile, speedup and verdict
 * into c and set c->recalled_from; else leave c as it is. When the two sources have different
 * numbers of lines, the costs of lines and the verdict's line are left out, because they would name
 * wrong lines.
 */
bool store_recall(struct store *store, struct candidate *c, struct err *err);

/* If a node of this run with the same source was refused before anything ran (contract,
 * no_compile), copy its verdict into c and set c->recalled_from; else leave c as it is. */
bool store_recall_refusal(struct store *store, struct candidate *c, struct err *err);

/* Read everything that store_kernel saved of a node, except PTX and cubin, into c. The caller sets
 * c->arena and c->task. The plan is not stored: the plan is parsed anew from the source when
 * c->task is set and the verdict says that the source has a plan. *found is false when there is no
 * such node.
 */
bool store_load_node(
    struct store *store, int64_t node, struct candidate *c, bool *found, struct err *err);
/* Read what the search is told of a node: its move, verdict, speedup, time and how it was taken,
 * energy, options, and calls of models. A resumed run reads every node so; the rest takes ten times
 * as long. */
bool store_load_told(
    struct store *store, int64_t node, struct candidate *c, bool *found, struct err *err);
bool store_nr_nodes(struct store *store, int64_t *nr, struct err *err);
/* The source of a node; arena memory. */
bool store_load_source(struct store *store, struct arena *arena, int64_t node, const char **source,
    size_t *bytes, struct err *err);

/* Is this text, byte for byte, the source of a node of any run in the file? */
bool store_has_source(
    struct store *store, const char *source, size_t bytes, bool *has, struct err *err);

/* --- a run in figures, read without its nodes --- */

struct store_digest {
    int64_t nr_nodes;     /* the original excluded */
    int64_t nr_evaluated; /* what a budget counts: nodes that were not recalled from an equal node,
                             and repairs; without nr_fill */
    int64_t nr_fill;      /* evaluated while models were asked, beside the budget */
    uint64_t verdicts[NR_VERDICTS];
    uint64_t recalled[NR_VERDICTS]; /* of verdicts: those of nodes recalled from an equal node */
    int64_t best;                   /* -1: not even the original is measured */
    double speedup, best_ns;
    enum provenance from;
    uint64_t nr_calls, nr_unpriced, tokens; /* of language models; tokens in and out */
    double cost;
};
/* The digest of the run that was begun or found. */
bool store_digest(struct store *store, struct store_digest *digest, struct err *err);

/* One line of a list of runs. */
struct store_run {
    struct run_info info;
    struct store_digest digest;
};
/* All runs in the file, by rising number; arena memory. The current run stays the current one. */
bool store_list_runs(struct store *store, struct arena *arena, struct store_run **runs,
    unsigned *nr, struct err *err);

/* One line of a list of nodes. */
struct store_speed {
    int64_t number, parent; /* parent -1: the original */
    const char *action, *what, *verdict, *verdict_text;
    double speedup, time_ns; /* NaN: not measured */
};
/* All nodes of the run, by rising number; arena memory. */
bool store_list_speeds(struct store *store, struct arena *arena, struct store_speed **speeds,
    unsigned *nr, struct err *err);

/* --- the order of asking and telling, where several nodes are under way at once --- */

/* What the search was asked for: any move; a request to a model; a move of rewriter or tuner beside
 * the budget; nothing, since the node follows from the one before. */
enum pick_kind { PICK_ANY, PICK_REQUEST, PICK_FILL, PICK_FOLLOW, NR_PICK_KINDS };
struct store_pick {
    int64_t nr_told; /* how many nodes had been told when this one was asked */
    enum pick_kind kind;
    int64_t parent; /* of PICK_FOLLOW */
};
/* Note how node `number` was asked. A node of PICK_ANY that was asked after the node before was
 * told needs no note. */
bool store_add_pick(
    struct store *store, int64_t number, const struct store_pick *pick, struct err *err);
/* The order that a resumed run replays. Arena memory. */
struct store_order {
    int64_t *told; /* node numbers in the order of telling */
    int64_t nr_told;
    struct store_pick *asked; /* asked[n - 1]: of node n */
    int64_t nr_asked;
    struct store_revision *revisions; /* in the order in which they were made */
    size_t nr_revisions;
};
bool store_load_order(
    struct store *store, struct arena *arena, struct store_order *order, struct err *err);

/* --- the variants that are under way, for whoever watches --- */

/* Asked of a model; on its way through compiler, check and profile. */
enum trial_stage { STAGE_WRITTEN, STAGE_EVALUATED, NR_TRIAL_STAGES };
struct store_trial {
    int64_t number, parent;
    const char *action, *proposer, *what, *stage; /* what may be NULL; in the caller's arena */
    int64_t since_ms;                             /* UTC, since 1970 */
};
/* Note that a variant has come to this stage now. Its row goes with store_kernel, and all rows of
 * the run with store_end_run and store_go_on. */
bool store_note_trial(
    struct store *store, const struct candidate *c, enum trial_stage stage, struct err *err);
/* Of the run that was found. A run that was killed leaves its rows: ask whether it is at work. */
bool store_list_trials(struct store *store, struct arena *arena, struct store_trial **trials,
    unsigned *nr, struct err *err);

/* --- what models were asked --- */

/* Save one call as it stands, once when the call begins and once when the call has ended. So a
 * process that is killed leaves the question on record, whatever became of the node. store_kernel
 * saves all calls of a node once more, with the verdicts on their answers. */
bool store_save_call(
    struct store *store, const struct candidate *c, unsigned number, struct err *err);
bool store_load_calls(struct store *store, struct candidate *c, struct err *err); /* by c->node */

struct store_call {
    int64_t node;
    const char *action; /* NULL: the node was not finished */
    struct model_call call;
};
/* All calls of the run, in order; arena memory. */
bool store_list_calls(struct store *store, struct arena *arena, struct store_call **calls,
    unsigned *nr, struct err *err);

/* --- lessons --- */

/* own: the lesson belongs to this run, which must have begun; else the lesson belongs to no run, as
 * in a --memory file. */
bool store_add_lesson(struct store *store, const struct lesson *lesson, bool own, struct err *err);
bool store_list_lessons(struct store *store, struct arena *arena, bool own, struct lesson **lessons,
    unsigned *nr, struct err *err);

/* An experience that equals one in kernel, device, shape and story takes its place. */
bool store_add_experience(
    struct store *store, const struct experience *experience, struct err *err);
/* All of the file, the oldest first; arena memory. */
bool store_list_experiences(struct store *store, struct arena *arena,
    struct experience **experiences, unsigned *nr, struct err *err);

/* The children of a node that were told. Only option, verdict, verdict_text, speedup and number are
 * set. */
bool store_list_children(struct store *store, struct arena *arena, int64_t node,
    struct candidate **children, unsigned *nr, struct err *err);

/* A hash over the tree as the search sees the tree (parents, moves, verdicts, rewards, source
 * hashes; no wall times), for comparing runs. */
bool store_tree_hash(struct store *store, char hex[33], struct err *err);

#endif
