/* `keet-opt explain K.cu --what-if`: the kernel with other sizes, other tuning parameters and other
 * contents of its integer inputs, and with the moves that its findings ask for, each run once at
 * the timed size and not compared with anything.
 *
 * Sizes: each plain number of the `size` lines at 3/32, 3/8 and 3 times its value, and numbers up
 * to 2048 at 12 times: small sizes are further from where a trend holds. Parameters: the next
 * smaller and the next larger of the values that their lines offer. Contents, by what the task
 * declares:
 *   integers(a, b)  in rising order; nearly so; all the same; from the lowest quarter, 64th and
 *                   1024th of the range; skewed
 *   sorted(a, b)    evenly spaced from a to b; most of the rise at the end
 *   permutation()   0, 1, 2, ...; runs of 8 in an order by lot
 *   iota()          an order by lot; the same runs
 * core/task.h has the generators.
 *
 * Moves: what the rewriter makes of the kernel where its findings ask for it (run_moves.h), which
 * says what curing a finding gains in fact. A run that fails is left out: a kernel need not take
 * every size. */
#ifndef KEET_CLI_WHAT_IF_H
#define KEET_CLI_WHAT_IF_H

#include "core/candidate.h"
#include "run/workbench.h"

struct json_t;

enum { WHAT_IF_RUNS = 64 };

struct what_if {
    struct what_if_run {
        const char *change; /* "N = 48 (3/8)", "P0 = sorted(0, 255)" */
        const struct profile *profile;
        const char *source; /* of a move; else NULL */
    } runs[WHAT_IF_RUNS];
    unsigned nr;
};

/* c has been measured; everything is in its arena. */
bool what_if_run(struct workbench *bench, const struct candidate *c, uint64_t seed,
    struct what_if *out, struct err *err);
void what_if_print(
    const struct what_if *what, const struct candidate *c, struct str *out, bool markdown);
struct json_t *what_if_json(const struct what_if *what);

#endif
