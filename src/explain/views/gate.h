/* The gate of `keet-opt compare OLD NEW`: limits that NEW must keep, what becomes of each, and the
 * comparison as text, Markdown or JSON. Nothing is measured here.
 *
 * Limits, as given with --fail-if:
 *     slower=5%          the time of NEW is over 105% of OLD's
 *     metric:NAME=0      NEW's value is above 0
 *     metric:NAME=+5%    NEW's value is over 105% of OLD's; +16: higher by more than 16
 *     metric:NAME=-5%    NEW's value is below 95% of OLD's; -16: lower by more than 16
 * NAME is a metric's name, or a pattern as fnmatch has it: each known metric that matches counts.
 */
#ifndef KEET_EXPLAIN_VIEWS_GATE_H
#define KEET_EXPLAIN_VIEWS_GATE_H

#include "base/err.h"
#include "base/str.h"
#include "explain/views/views.h"

#include <stdbool.h>

enum gate_kind { GATE_SLOWER, GATE_ABOVE, GATE_RISES, GATE_FALLS };

struct gate_limit {
    const char *text; /* as given, borrowed */
    enum gate_kind kind;
    char pattern[128]; /* of metrics' names; GATE_SLOWER: empty */
    double amount;     /* 0 or more, but for GATE_ABOVE */
    bool percent;
};

/* What became of a limit for one metric; for GATE_SLOWER the metric is the time. */
struct gate_outcome {
    const struct gate_limit *limit;
    enum metric metric;
    double before, after;
    bool broken;
};

enum { GATE_MOST_OUTCOMES = 512 };

struct gate {
    const struct explained *before, *after;
    const char *device; /* the chip's name */
    const struct gate_limit *limits;
    unsigned nr_limits;
    struct gate_outcome outcomes[GATE_MOST_OUTCOMES];
    unsigned nr_outcomes, nr_broken;
    bool passed; /* NEW is right, and no limit is broken */
};

/* The error says what was expected. */
bool gate_limit_parse(struct gate_limit *limit, const char *text, struct err *err);

/* Judges a limit after the other. Fill in before, after, device, limits and nr_limits; NEW may be
 * dead: then no limit is judged, and the gate is not passed. False: a limit speaks of what is not
 * known on this device, so that nothing can be said. */
bool gate_judge(struct gate *gate, struct err *err);

/* verbose: all metrics, not only those of reports that differ, and those with a limit. */
void gate_print(struct str *out, const struct gate *gate, bool markdown, bool verbose);
void gate_print_json(struct str *out, const struct gate *gate);

#endif
