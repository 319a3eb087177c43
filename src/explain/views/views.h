/* Views over several explained profiles: two versions of a kernel, one kernel over a parameter, all
 * kernels of an application. Each as text for a terminal, as Markdown, and as JSON. Nothing is
 * measured or explained here. */
#ifndef KEET_EXPLAIN_VIEWS_VIEWS_H
#define KEET_EXPLAIN_VIEWS_VIEWS_H

#include "base/str.h"
#include "core/candidate.h"
#include "core/chip.h"

#include <stdbool.h>

struct json_t; /* jansson's */

/* An explained launch of a file. Strings are borrowed. */
struct explained {
    const char *name, *file;
    unsigned file_number;
    struct candidate c;
    double saving_ns; /* expected of its first finding */
    double x;         /* of a sweep: the parameter's value */
};

struct many {
    struct arena *arena;
    const struct chip *chip;
    struct explained *all;
    unsigned nr;
    double time_ns; /* of all */
    bool verbose;   /* all findings */
};

/* ---- what counts as equal ----
 * Two times that differ by no more than this share of the longer one are equal: the difference says
 * nothing. Reason: the model of time places the arrays of a launch where no one knows them to be on
 * the chip. Of the 44 kernels of kernels/, other places change the time of one by 5%, of one
 * by 1.3% and of all others by less than 0.1%. The search counts a gain below 1% as none, too
 * (`--window`). Measured times repeat no better: clocks wander by as much. */
#define VIEW_RESOLUTION 0.01
bool view_equal(double a_ns, double b_ns); /* both above 0 */
/* "equal within the model's resolution (1%)", between two texts. */
void view_say_equal(struct str *out, enum provenance from, const char *before, const char *after);

/* ---- one kernel ---- */

/* The figures of one launch in one line, without an end: how busy the two busiest units of an SM
 * were, registers, warps that fit and what limits them, warps resident, waves, instructions a warp,
 * sectors and wavefronts of a load, hits, bytes of DRAM. What is not known is left out. */
void view_figures(struct str *out, const struct chip *chip, const struct counters *n);

/* Several lines on one launch: the time that each unit needs by itself, instructions and accesses
 * of a warp, the costliest lines, what warps wait for, and the time without each cause
 * (core/cures.def) with what limits it then. */
void view_detail(struct str *out, struct arena *arena, const struct chip *chip, const char *kernel,
    const struct counters *n, bool markdown);

/* Time first, of each launch where there are several; then the first three findings and those of
 * the user's tools, or all of them with the details of each launch. */
void view_one_print(struct str *out, const char *name, const struct chip *chip,
    const struct candidate *c, bool markdown, bool all);
/* Speed of light and Little's law. */
struct json_t *view_limits_json(const struct chip *chip, const struct candidate *c);
/* The tool of the first finding; without findings, "too few metrics" or "none". */
const char *view_bottleneck(const struct explained *e);

/* ---- two versions: what changed, and which change paid ----
 * A resource's busy time is its share of the time, times the time. What paid is a resource that was
 * busy for a large part of the time before and is busy for less time now, by at least a third of
 * the time that was saved. */
struct change {
    const char *what;
    enum metric metric;
    double before_pct, after_pct, saved_ns; /* negative: costs more now */
    bool paid;
};
enum { MAX_CHANGES = 16 };
struct version_changes {
    const struct chip *chip;
    const struct explained *before, *after;
    double saved_ns;
    bool equal;                         /* the times are: then there are no changes */
    struct change changes[MAX_CHANGES]; /* those that saved most come first */
    unsigned nr;
};
struct version_changes view_changes(
    const struct chip *chip, const struct explained *before, const struct explained *after);
void view_change_print(struct str *out, const struct version_changes *v, bool markdown);
struct json_t *view_change_json(const struct version_changes *v);

/* ---- one kernel over a parameter: which metrics move with it, where is the knee ---- */

/* Set x of all launches from the files' names, or for "grid" and "block" from the launches. Only
 * the longest launch of each file is kept. name: the parameter's name, as "N" for gemm_N256.csv;
 * NULL: the parameter is the number in which the names differ. *found: the parameter's name, or an
 * empty string. False: there are no such numbers, or the files do not hold one kernel. */
bool view_sweep_read(struct many *many, const char *name, const char **found);
void view_sweep_print(struct str *out, const struct many *many, const char *name, bool markdown);
struct json_t *view_sweep_json(const struct many *many, const char *name);

/* ---- an application's kernels: by time, by bottleneck, by what could be saved ---- */
void view_app_print(struct str *out, struct many *many, bool markdown);
struct json_t *view_app_json(struct many *many);

void view_sweep_sort(struct many *many); /* by x */

/* ---- any of them, on stdout ---- */

struct view {
    enum { VIEW_ONE, VIEW_CHANGE, VIEW_SWEEP, VIEW_APP } kind;
    struct version_changes changes;
    const char *parameter; /* of a sweep */
};
void view_show(struct many *many, const struct view *view, bool json, bool markdown);

#endif
