/* Check: does the candidate compute the same numbers as the original, without touching anything
 * else? The check is independent of the proposer: it chooses sizes, seeds, values, addresses and
 * the order of warps itself. */
#ifndef KEET_CHECK_CHECK_H
#define KEET_CHECK_CHECK_H

#include "base/err.h"
#include "core/candidate.h"
#include "device/device.h"
#include "device/run.h"

#include <stdbool.h>
#include <stdint.h>

struct checker;

/* The original with double in place of float: the measure of its rounding. */
struct check_wide {
    const struct task *task; /* arrays and scalars of f32 are f64 */
    const struct plan *plan; /* of the original, or its reference launch */
    const struct compilation *compilation;
};

/* Makes it, in arena memory. *found false: the original cannot be written that way. */
typedef bool check_widen_f(
    void *owner, struct arena *arena, struct check_wide *wide, bool *found, struct err *err);

struct checker_options {
    unsigned nr_seeds; /* input sets per shape; 0: the default */
    uint64_t step_limit;
    bool screen; /* on a GPU: candidates run on the emulator's sanitizer first, at small sizes; a
                    stray access, an uninitialised read or a race never reaches the card */
    unsigned nr_threads;  /* of that emulator; 0: one per core */
    uint64_t timed_insts; /* warp instructions that the original may take at the timed sizes before
                             a sample of its blocks stands for it; 0: the default, for a search */
    check_widen_f *widen; /* NULL: tolerances alone decide */
    void *owner;          /* its first argument */
};

/* The compilation of the original (or of its `reference` kernel) is the oracle; the checker borrows
 * it for its life. */
struct checker *checker_create(struct device *device, const struct task *task,
    const struct compilation *original, const struct checker_options *options, struct err *err);
void checker_destroy(struct checker *checker);

/* True: the original runs at its own sizes only, and takes longer there than a check should. */
bool checker_is_dear(const struct checker *checker);

/* Fills c->check, or sets the verdict (wrong, fault, race, nondeterministic, timeout, ...). */
bool check_kernel(struct checker *checker, struct candidate *c, struct err *err);

/* Compares the outputs at the timed sizes with the original's, which are computed once per checker
 * and kept: on the emulator for variants that would be called best, on a card for all. Where a run
 * of the original takes too long on the emulator, a sample of its blocks says which outputs are
 * compared. The note of c->check says what was compared; a difference sets the verdict. Candidates
 * with another verdict than ok pass untouched. *thread_insts: of the candidate's whole run; 0: not
 * known. */
bool check_timed(
    struct checker *checker, struct candidate *c, uint64_t *thread_insts, struct err *err);

/* The same on a card once more, right after a candidate was timed: in the module that was timed,
 * with its variables as timing left them, at the addresses that were timed, over poisoned outputs,
 * and on other inputs. launches: bound to buffers, in which the task's arrays come first. */
bool check_after_timing(struct checker *checker, struct candidate *c, struct device_module *module,
    const struct device_launch *launches, const struct run_buffers *buffers, struct err *err);

/* Tells about how many warp instructions the original takes at the timed sizes, so that check_timed
 * need not find out that this is too long. */
void check_original_takes(struct checker *checker, double warp_insts);

/* Does beforehand what check_timed and doubtful differences need once for all candidates: for a
 * caller that goes on in several processes. */
bool check_prepare(struct checker *checker, struct err *err);

/* Has check_timed looked at the candidate? */
bool check_has_timed(const struct candidate *c);

#endif
