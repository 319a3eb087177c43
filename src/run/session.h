/* The session: the parts of one run, made and unmade together. A session measures the original,
 * plants the original as the root of the tree, and on --resume replays the nodes in the database.
 *
 *     struct session *s = session_open(&options, bench, &task, err);
 *     ... loop_run(s, &watcher, &why, err) && session_result(s, &result, err) ...
 *     session_close(s);
 */
#ifndef KEET_RUN_SESSION_H
#define KEET_RUN_SESSION_H

#include "core/candidate.h"
#include "core/objective.h"
#include "core/task.h"
#include "propose/propose.h"
#include "run/workbench.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct session;
struct str;

/* What a run is asked for. Strings are borrowed for the session's life. */
struct session_options {
    const char *db_path;     /* NULL: <kernel>.keet.db */
    const char *output_path; /* NULL: <kernel>.keet.cu */
    bool resume;
    uint64_t started_ns;     /* when the command began, by clock_ns; 0: now */
    const char *budget_text; /* as given */
    uint64_t budget_nodes;   /* 0: no limit */
    double budget_s;         /* 0: no limit */
    unsigned window;         /* nodes without a gain of 1% after which the run has converged */
    const char *policy;
    enum objective objective;
    uint64_t seed;
    const char *reuse_path; /* evaluations shared by runs; NULL: none */
    const char *feedback;   /* what steers the search; NULL: our explanation */
    const char *tools_dir;  /* the user's own tools; NULL: none */
    bool forbid_fast_math;
    unsigned in_flight; /* picks under way; 0: 4 with models, else one a device */
    /* with a language model */
    const char *const *models; /* specs, as llm/llm.h lists them */
    unsigned nr_models;
    const char *record_path;
    const char *memory_path;          /* lessons across runs; NULL: this run's own */
    unsigned prompt_tokens;           /* 0: the default */
    uint64_t max_tokens;              /* 0: no limit */
    double max_cost;                  /* dollars; 0: no limit */
    const char *temperature, *effort; /* by kind of request, as in propose.h; NULL: defaults */
    const char *techniques_dir;       /* the user's own pages; NULL: none */
    const char *instructions_path;    /* the user's own word to models; NULL: none */
    unsigned call_s;                  /* the time that a call may take; 0: the endpoint's default */
    bool no_memory, plan, no_techniques;
    bool no_best;  /* requests start from any version and are not shown the best */
    unsigned fill; /* evaluations of rewriter and tuner for each answer of a model, beside the
                      budget; 0: none, all share the budget */
    enum episodes episodes;
    bool model_only;  /* neither rewriter nor tuner: for comparisons */
    bool tune_only;   /* the tuner alone, on the original; to the end of the budget */
    bool show_prompt; /* session_show_prompt will be asked for, with or without a model */
};

/* Options, workbench and task are borrowed. On success the original is stored and planted, and
 * earlier nodes are replayed. NULL: err. */
struct session *session_open(const struct session_options *options, struct workbench *bench,
    const struct task *task, struct err *err);
void session_close(struct session *s); /* NULL is fine */

/* How far the run is. Tallies are kept over --resume. */
struct session_state {
    uint64_t nr_nodes;     /* stored, the original excluded */
    uint64_t nr_evaluated; /* what the budget counts: nodes that were not recalled from an equal
                              node, and repairs; without nr_fill */
    uint64_t nr_fill;      /* evaluated by rewriter and tuner beside the budget */
    uint64_t nr_ok, nr_reused;
    uint64_t verdicts[NR_VERDICTS];
    uint64_t recalled[NR_VERDICTS]; /* of verdicts: those of nodes recalled from an equal node */
    uint64_t nr_fallen;             /* nodes that led, and turned out wrong at the timed sizes */
    int64_t unsettled; /* after loop_run: a faster node that was not compared there; 0: none */
    /* The node that leads; after loop_run the best, whose outputs at the timed sizes were compared
     * (run/lead.h). */
    int64_t best;
    double best_speedup; /* >= 1 by time alone: the original is 1 */
    double elapsed_s;
    enum provenance from; /* where times come from */
};
struct session_state session_state(const struct session *s);

/* The winner of an earlier run in the same database. */
struct session_kept {
    int64_t run;
    struct candidate winner;
};

struct session_result {
    struct session_state state;
    const struct run_info *run;
    const char *db_path, *output_path;
    const struct candidate *path; /* from the original to the best, read back from the store */
    unsigned nr_path;
    char tree_hash[33];              /* of the store */
    const struct model_spent *spent; /* NULL: no model was asked */
    /* The best of the earlier runs of the same text on the same kind of device with the same
     * objective, where it is better than this run's best; else NULL. */
    const struct session_kept *kept;
};
/* May be called at any time between two nodes. The session owns the memory. */
bool session_result(struct session *s, struct session_result *result, struct err *err);

/* What became of the output file. */
struct session_output {
    const char *moved_to; /* the new place of the file that stood at output_path; NULL: none did */
    bool unchanged;       /* the output file held the best kernel already */
    bool replaced;        /* the output file held another kernel of the database */
};
/* Write the best kernel, of this run or the kept one, to the output file. A file there that is no
 * kernel of the database, or is the user's own kernel file, is somebody's work: that file is
 * renamed to the first free of <output>.1, <output>.2, ... and not overwritten. */
bool session_write_output(struct session *s, const struct session_result *result,
    struct session_output *done, struct err *err);

/* Add the prompt that a model would be sent first. */
bool session_show_prompt(struct session *s, struct str *out, struct err *err);

#endif
