/* Check: does the candidate compute what the original computes, without touching anything else?
 * Independent of the proposer: sizes, seeds, values, addresses and order are chosen here. */
#ifndef KEET_CHECK_CHECK_H
#define KEET_CHECK_CHECK_H

#include "base/err.h"
#include "core/candidate.h"
#include "device/device.h"

#include <stdbool.h>
#include <stdint.h>

struct checker;

struct checker_options {
    unsigned nr_seeds; /* input sets per shape; 0: the default */
    uint64_t step_limit;
    bool screen; /* on a GPU: candidates run on the emulator's sanitizer first, at small sizes; a
                    stray access, an uninitialised read or a race never reaches the card */
    unsigned nr_threads; /* of that emulator; 0: one per core */
};

/* The original's compilation (or its `reference` kernel's) is the oracle: borrowed for the
 * checker's life. */
struct checker *checker_create(struct device *device, const struct task *task,
    const struct compilation *original, const struct checker_options *options, struct err *err);
void checker_destroy(struct checker *checker);

/* The original runs at its own sizes only, and takes longer there than a check should. */
bool checker_is_dear(const struct checker *checker);

/* Fill c->check, or set the verdict (wrong, fault, race, nondeterministic, timeout, ...). */
bool check_kernel(struct checker *checker, struct candidate *c, struct err *err);

#endif
