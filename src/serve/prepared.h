/* Private to serve/: originals that are ready to be compared with. Preparing one compiles it and
 * runs it on all inputs of the check, once for all candidates that follow. A few are kept; the one
 * that was not asked for longest goes first.
 *
 *     struct shelf *shelf = shelf_create(bench);
 *     p = shelf_find(shelf, &wanted, err);                  // prepared now or earlier
 *     judge_read(p, text, bytes, arena, &c);                // judge.h: a candidate
 *     ... judge_check(p, &c, err), judge_time(p, &c, err) ...
 *     shelf_destroy(shelf);
 *
 * On the emulator each original has a device of its own, so that a result does not depend on what
 * was asked before: a modelled time depends a little on the addresses of arrays. */
#ifndef KEET_SERVE_PREPARED_H
#define KEET_SERVE_PREPARED_H

#include "base/hash.h"
#include "run/station.h"
#include "run/workbench.h"

struct shelf;

struct original_text {
    const char *name; /* for messages: "kernel.cu" */
    const char *text;
    size_t bytes;
    uint64_t seed;
};

struct prepared {
    struct workbench *bench;
    struct arena *arena;
    struct hash key;
    uint64_t seed, asked; /* asked: the moment of the last call */
    struct task task;
    struct candidate original; /* passes its check; has no time yet where time_ns is 0 */
    struct compilation oracle;
    struct device *device; /* the station's own; NULL: the workbench's */
    struct station station;
};

struct shelf *shelf_create(struct workbench *bench);
void shelf_destroy(struct shelf *shelf); /* NULL is fine */

/* NULL: err. The shelf owns the result, which lives until the next call. */
struct prepared *shelf_find(
    struct shelf *shelf, const struct original_text *wanted, struct err *err);

/* For a caller that keeps it. */
struct prepared *prepared_create(
    struct workbench *bench, const struct original_text *wanted, struct err *err);
void prepared_destroy(struct prepared *p); /* NULL is fine */

/* The original's time and counters, taken when first needed, and its explanation. */
bool prepared_time(struct prepared *p, struct err *err);

#endif
