/* Texts that people read: the live line, the summary at the end of a run, lists and diffs. Programs
 * read the same facts as JSON. Each text is a pure function of the arguments: nothing is measured
 * or decided here. */
#ifndef KEET_REPORT_REPORT_H
#define KEET_REPORT_REPORT_H

#include "base/str.h"
#include "core/candidate.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* How the winner was written back into the user's own file. All NULL: the user has no file with
 * host code. */
struct report_patch {
    const char *patched_path; /* the whole file, patched */
    const char *patch_path;   /* the diff */
    const char *why;          /* why the winner could not be written back */
    const char *note;         /* what the user should look at */
    const char *stale;        /* a patched file of an earlier run; this run wrote none */
};

/* A finished (or interrupted) run. Everything is borrowed. */
struct report_run {
    const struct task *task;
    const struct run_info *run;
    const char *db_path, *output_path;
    const char *device_name; /* of the chip */
    const char *why;         /* why the run stopped */
    const char *tree_hash;   /* of the store, for comparing runs */
    double elapsed_s;
    uint64_t nr_nodes, nr_evaluated, nr_ok;
    uint64_t nr_fallen;              /* nodes that led, and turned out wrong at the timed sizes */
    int64_t unsettled;               /* a faster node that was not compared there; 0: none */
    uint64_t nr_fill;                /* evaluated beside the budget, while models were asked */
    uint64_t nr_reused;              /* nodes taken over from earlier runs, the original included */
    const uint64_t *verdicts;        /* [NR_VERDICTS] */
    const uint64_t *recalled;        /* [NR_VERDICTS]: of verdicts, those of recalled nodes */
    const struct model_spent *spent; /* on language models; NULL: the run asks no model */
    const struct candidate *path;    /* from the root to the best node, both included */
    unsigned nr_path;
    struct report_patch patch;
    /* The winner of an earlier run that is better than this run's best, and so stays in the output
     * file. NULL: the output file holds this run's best. */
    const struct candidate *kept;
    int64_t kept_run;
    const char *moved_to; /* the new place of the file that stood at output_path; NULL: none did */
    bool unchanged;       /* the output file held the best kernel already */
    bool replaced;        /* the output file held another kernel of the database */
    unsigned columns;     /* of the terminal; 0: REPORT_WIDTH */
    bool tables;          /* print counters and diff as well */
};

/* ---- the end of a run ---- */

/* Adds the result, then the limits of the best kernel and what to try, then the places of all
 * files. With run->tables also adds the counters before and after, and the diff. */
void report_summary(struct str *out, const struct report_run *run);
/* One line: how fast the best kernel is, and which file holds the kernel. */
void report_short(struct str *out, const struct report_run *run);

/* The summary for programs: one JSON document with a newline. */
void report_json(struct str *out, const struct report_run *run);

/* ---- pieces ---- */

enum { REPORT_WIDTH = 98 }; /* columns of a text whose width nothing else sets */

/* The columns of the terminal behind `out`; REPORT_WIDTH when `out` is no terminal. */
unsigned report_columns(FILE *out);

/* Adds the words of a text in lines of at most `width` columns. The first line starts with `first`,
 * each other line with as many blanks. */
void report_wrap(struct str *out, unsigned width, const char *first, const char *text);

/* "speedup" for measured times, "modelled speedup" for all others. */
const char *report_speedup_word(enum provenance from);

/* 1.23 ms, 45.6 us: four digits at most. */
void report_time(struct str *out, double ns);

/* The metrics by which a report compares two kernels. */
extern const enum metric report_metrics[];
extern const size_t nr_report_metrics;
/* "562.4 us", "67.11 M", "-" where absent. */
void report_metric(struct str *out, enum metric metric, const struct counters *c);

/* Is `to` faster than `from` by more than 1%, or does `from` take more energy than `to` by more
 * than 1%? */
bool report_is_gain(const struct candidate *from, const struct candidate *to);
/* "1.50x", or why there is no speedup: a node on the way to the best may have turned out wrong. */
void report_speed_or_verdict(struct str *out, const struct candidate *c);
/* The outcome of a run, without a full stop. device_name NULL: the text names no device. */
void report_result(struct str *out, const struct candidate *root, const struct candidate *best,
    const char *device_name);
/* "30 variants evaluated: 28 right, 2 race; 4 more compiled to the same as one of them". Where some
 * were evaluated beside the budget: "6 answers of models and 24 variants between them evaluated:
 * ..." */
void report_counts(struct str *out, uint64_t nr_evaluated, uint64_t nr_fill,
    const uint64_t verdicts[NR_VERDICTS], const uint64_t recalled[NR_VERDICTS]);
/* The limits of a kernel: the summary and each finding of `e` as a paragraph. */
void report_explanation(struct str *out, unsigned width, const struct explanation *e);
/* The calls, tokens, cost and waiting time of language models, and what each percent of the run's
 * speedup took, without a full stop. */
void report_spent(struct str *out, const struct model_spent *spent, double speedup);

/* Adds a line for each field of `patch` that is not NULL. */
void report_patch_text(struct str *out, const struct report_patch *patch);

/* ---- the runs of a database ---- */

/* Adds a line for each run, and a second line for the run's models. holder: the process at work on
 * the newest run (base/lock.h); 0: none. */
void report_runs(struct str *out, const struct store_run *runs, unsigned nr, long holder);
void report_runs_json(struct str *out, const struct store_run *runs, unsigned nr, long holder);

/* ---- one candidate, and two ---- */

/* Adds all that is known of a candidate, with counters and advice (keet-opt run). */
void report_candidate(struct str *out, const struct candidate *c);
void report_candidate_json(struct str *out, const struct candidate *c);
struct json_t *report_candidate_value(const struct candidate *c); /* the caller's */

/* Adds the unified diff of two texts, with three lines of context; adds nothing when they are
 * equal. */
void report_diff(
    struct str *out, const char *old_name, const char *old, const char *new_name, const char *new_);

/* The live line. On a terminal the line is rewritten in place; any other file gets a line per
 * gain. */
struct progress {
    FILE *out;
    bool live, quiet, verbose;
    uint64_t budget; /* nodes; 0: none */
    uint64_t last_ns;
    bool dirty; /* a live line stands on the screen */
    double best_shown;
};

/* How far the run is. */
struct progress_state {
    uint64_t nr_evaluated, nr_failed;
    double best_speedup, elapsed_s;
    int64_t best;
    enum provenance from;
};

void progress_init(struct progress *p, FILE *out, bool quiet, bool verbose, uint64_t budget);
void progress_trying(
    struct progress *p, const struct progress_state *state, const struct candidate *c);
void progress_done(
    struct progress *p, const struct progress_state *state, const struct candidate *c);
/* A node that led has another verdict, or another time, since the timed sizes were compared. */
void progress_revised(
    struct progress *p, const struct progress_state *state, const struct candidate *c);
void progress_finish(struct progress *p); /* leaves the cursor on a fresh line */

#endif
