/* Private to check/: a checker, and its knowledge of the original. */
#ifndef KEET_CHECK_CHECK_PARTS_H
#define KEET_CHECK_CHECK_PARTS_H

#include "check/check.h"
#include "check/check_exact.h"
#include "check/check_run.h"
#include "check/check_screen.h"
#include "check/check_shapes.h"
#include "check/check_timed.h"

enum {
    LEAST_DERIVED = 2,   /* sizes, whatever they cost */
    POISON_FIRST = 0xAA, /* as run_alloc's */
    POISON_SECOND = 0xFF /* NaN in every float format but e4m3's sign, -1 in every integer */
};

/* Thread instructions that checking one candidate should cost about, when it is no slower than the
 * reference. */
#define CHECK_BUDGET UINT64_C(40000000)

struct reference {
    unsigned shape;
    struct input_set asked, set; /* what was asked for, and what was used: scale 1 where the scale
                                    asked for gave no finite numbers */
    struct host_arrays outputs;
    struct host_arrays inputs; /* empty: not kept */
    uint64_t bytes;
};

struct checker {
    struct device *device;
    struct screen *screen; /* NULL: none */
    const struct task *task;
    struct task compared; /* the task, where outputs that hold clock readings are none */
    const struct compilation *original;
    struct device_module *module;
    struct arena *arena;
    struct plan oracle; /* the original's plan, or its reference launch */
    unsigned nr_seeds;
    uint64_t step_limit;
    uint64_t timed_insts;
    double original_insts; /* warp instructions of the original at the timed sizes; 0: not known */
    uint64_t try_limit;    /* of the reference, while sizes are tried; 0: none */
    uint64_t try_seed;     /* of the reference's warp order; 0: warps run in their natural order */
    bool sanitize;         /* the finer checks are on */
    bool oblivious;        /* they find the same in the original on all inputs of a size */
    bool unvetted;         /* the original, being costly, has not run under the finer checks yet */
    struct check_shape *shapes;
    uint64_t *costs; /* thread instructions of the reference, per shape */
    unsigned nr_shapes, nr_explicit;
    struct reference *cache;
    size_t nr_cache, cap_cache;
    uint64_t cache_bytes, inputs_bytes;
    struct timed *timed; /* the original's outputs at the timed sizes; NULL: not needed yet */
    struct extra_set *extras;
    unsigned nr_extras;
    bool vary_scalars;
    struct task varied;  /* the task with other values of the scalars */
    double *typical;     /* mean magnitudes of the outputs as declared, per array; NULL: unknown */
    struct exact *exact; /* NULL: not needed yet */
    check_widen_f *widen;
    void *owner;
    const char *caveat; /* what could not be checked, for the note; "" */
};

/* Adds a clause to the caveat. The text lives as long as the checker. */
void caveat_add(struct checker *k, const char *text);

/* Chooses sizes, and keeps those at which the original runs cleanly; of derived sizes, as many as
 * the budget buys. False: err says why there are none. */
bool tied_keep_shapes(struct checker *k, struct err *err);

/* Tries k->shapes from number `first` on; keeps those at which the original runs, as above. *slow:
 * the original took too long at a derived shape. */
bool original_try_shapes(struct checker *k, unsigned first, bool *slow, struct err *err);
/* Does the original run cleanly at a derived shape? Nothing is kept. */
bool original_runs_at(
    struct checker *k, unsigned shape, bool *clean, struct device_result *result, struct err *err);
void original_drop_shape(struct checker *k, unsigned shape);

/* For an original that reads a clock: leaves out of the comparison those outputs in which two runs
 * of the original differ; the caveat says so. */
bool original_leave_out_clocks(struct checker *k, struct err *err);

/* The outputs of the original. Where a scale leads out of the finite numbers (a root of a
 * negative), a comparison would prove nothing, so scale 1 takes its place. *kept: the cache frees
 * the reference; else call reference_finish. inputs: of this set. */
bool original_reference(struct checker *k, unsigned shape, const struct input_set *set,
    const struct host_arrays *inputs, struct reference *r, bool *kept, struct device_result *result,
    struct err *err);
void reference_finish(struct reference *r);

/* Puts the values of `expect` files in place of the original's outputs at these sizes. False: the
 * original does not agree with them, or a file cannot be read. folder: the case's, or NULL. */
bool original_hold_to_files(struct checker *k, const struct env *sizes, const char *folder,
    struct host_arrays *outputs, struct err *err);

/* The inputs of a set that recurs: of one whose reference is in the cache. NULL: they are not kept.
 */
const struct host_arrays *original_inputs(
    const struct checker *k, unsigned shape, const struct input_set *set);
/* Takes the inputs over, which stay valid as long as the checker. False: they stay the caller's. */
bool original_keep_inputs(struct checker *k, unsigned shape, const struct input_set *set,
    const struct host_arrays *inputs);

/* One run of the original; the caller owns the outputs. */
bool original_run(struct checker *k, unsigned shape, const struct input_set *set, bool sanitize,
    struct host_arrays *outputs, struct device_result *result, struct err *err);

/* The same for inputs that the caller has made; the outputs are initialised. */
bool original_outputs(struct checker *k, unsigned shape, const struct host_arrays *inputs,
    struct host_arrays *outputs, struct device_result *result, struct err *err);

/* The usual inputs of a shape, as declared or scaled. Each candidate gets new inputs at cheap
 * shapes; at expensive shapes the inputs come from a small pool, so that the reference need not run
 * again each time. The first set is always the same; without a candidate it is meant. */
struct input_set sets_usual(
    const struct checker *k, const struct candidate *c, unsigned shape, unsigned set);
struct input_set sets_extra(
    const struct checker *k, const struct candidate *c, const struct extra_set *extra);
uint64_t sets_pool_seed(unsigned shape, unsigned which);

/* Chooses the extra sets, when the shapes are known. */
void sets_choose(struct checker *k);

/* Notes what outputs look like as declared; the caveat says where `abs` is larger than they are. */
void sets_note_typical(struct checker *k, const struct host_arrays *outputs);

/* By how much `abs` shrinks for each array; NULL: it does not. room: per array. */
const double *sets_shrink(const struct checker *k, const struct input_set *set,
    const struct host_arrays *outputs, double *room);

/* Can only the finer checks have given this verdict (a race, an uninitialised read)? */
bool original_is_finer(enum verdict verdict);

/* After a candidate failed under the finer checks: runs the original under them, and leaves these
 * checks out from now on if the original fails, too. */
bool original_vet(struct checker *k, unsigned shape, const struct input_set *set, struct err *err);

#endif
