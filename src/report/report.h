/* What people look at: the live line, the summary at the end, the same as JSON, diffs. A pure
 * function of what is handed in: nothing is measured or decided here. */
#ifndef KEET_REPORT_REPORT_H
#define KEET_REPORT_REPORT_H

#include "base/str.h"
#include "core/candidate.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Where the winner went back into the user's own file; all NULL: it had none to go back to. */
struct report_patch {
    const char *patched_path; /* the whole file, patched */
    const char *patch_path;   /* the diff */
    const char *why;          /* it could not be written back */
    const char *note;         /* what to look at */
};

/* A finished (or interrupted) run. Everything borrowed. */
struct report_run {
    const struct task *task;
    const struct run_info *run;
    const char *db_path, *output_path;
    const char *device_name; /* of the chip */
    const char *why;         /* it stopped */
    const char *tree_hash;   /* of the store, for comparing runs */
    double elapsed_s;
    uint64_t nr_nodes, nr_evaluated, nr_ok;
    uint64_t nr_reused;       /* of all, the original included: taken over from earlier runs */
    const uint64_t *verdicts; /* [NR_VERDICTS] */
    const uint64_t *recalled; /* [NR_VERDICTS]: of verdicts, of nodes equal to an evaluated one */
    const struct model_spent *spent; /* on language models; NULL: none was to be asked */
    const struct candidate *path;    /* from the root to the best node, both included */
    unsigned nr_path;
    struct report_patch patch;
    /* The winner of an earlier run, where it is better than this run's and stays in the output
     * file; NULL: this run's best is there. */
    const struct candidate *kept;
    int64_t kept_run;
    const char *moved_to; /* what stood in the output file's place is there now; NULL: nothing */
    bool unchanged;       /* the output file held the best kernel already */
    unsigned columns;     /* of the terminal; 0: REPORT_WIDTH */
    bool tables;          /* counters and diff as well */
};

/* ---- the end of a run ---- */

/* First the result, then what limits it and what to try, then where things are. With run->tables
 * also the counters before and after, and the diff. */
void report_summary(struct str *out, const struct report_run *run);
/* One line: how fast, and where the best kernel is. */
void report_short(struct str *out, const struct report_run *run);

/* The same for programs: one JSON document with a newline. */
void report_json(struct str *out, const struct report_run *run);

/* ---- pieces ---- */

enum { REPORT_WIDTH = 98 }; /* columns of a text where nothing says how wide it may be */

/* The columns of the terminal that a file is; REPORT_WIDTH where it is none. */
unsigned report_columns(FILE *out);

/* The words of a text in lines of at most `width` columns; the first line starts with `first`, the
 * others with as many blanks. */
void report_wrap(struct str *out, unsigned width, const char *first, const char *text);

/* "speedup" for measured times, "modelled speedup" for all others. */
const char *report_speedup_word(enum provenance from);

/* 1.23 ms, 45.6 us: four digits at most. */
void report_time(struct str *out, double ns);

/* The metrics that before and after are compared by. */
extern const enum metric report_metrics[];
extern const size_t nr_report_metrics;
/* "562.4 us", "67.11 M", "-" where absent. */
void report_metric(struct str *out, enum metric metric, const struct counters *c);

/* Is `to` faster than `from` by more than 1%, or does it take less of its energy by as much? */
bool report_is_gain(const struct candidate *from, const struct candidate *to);
/* What a run came to, without a full stop; device_name NULL: it is not named. */
void report_result(struct str *out, const struct candidate *root, const struct candidate *best,
    const char *device_name);
/* "30 variants evaluated: 28 right, 2 race; 4 more compiled to the same as one of them" */
void report_counts(struct str *out, uint64_t nr_evaluated, const uint64_t verdicts[NR_VERDICTS],
    const uint64_t recalled[NR_VERDICTS]);
/* What limits a kernel: the summary and the findings, each a paragraph. */
void report_explanation(struct str *out, unsigned width, const struct explanation *e);
/* What language models took, without a full stop. */
void report_spent(struct str *out, const struct model_spent *spent);

/* Lines that say it; nothing where there is nothing to say. */
void report_patch_text(struct str *out, const struct report_patch *patch);

/* ---- the runs of a database ---- */

/* A line for each, and for its models another; holder: the process at work on the newest, 0: none
 * (base/lock.h). */
void report_runs(struct str *out, const struct store_run *runs, unsigned nr, long holder);
void report_runs_json(struct str *out, const struct store_run *runs, unsigned nr, long holder);

/* ---- one candidate, and two ---- */

/* One candidate: what is known of it, counters and advice (keet-opt run). */
void report_candidate(struct str *out, const struct candidate *c);
void report_candidate_json(struct str *out, const struct candidate *c);

/* Unified diff of two texts with three lines of context; empty when equal. */
void report_diff(
    struct str *out, const char *old_name, const char *old, const char *new_name, const char *new_);

/* The live line: rewritten in place on a terminal, a line per gain elsewhere. */
struct progress {
    FILE *out;
    bool live, quiet, verbose;
    uint64_t budget; /* nodes; 0: none */
    uint64_t last_ns;
    bool dirty; /* a live line stands on the screen */
    double best_shown;
};

/* Where the run stands. */
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
void progress_finish(struct progress *p); /* leaves the cursor on a fresh line */

#endif
