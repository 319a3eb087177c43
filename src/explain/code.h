/* Private to explain/: facts that can be read off the PTX without running it: the places of loads
 * and stores, values that depend on the lane, work that a loop repeats. A fact is about the source
 * line of an instruction; the counters say whether it matters.
 *
 *     const struct code *code = code_read(&c->compilation, arena);
 *     for (i < code->nr_facts) ... code->facts[i].kind, .line ...
 *
 * Loops are intervals that end in a jump back. %tid.x is followed through the arithmetic
 * (lane_pattern.h): an address changes from lane to lane by `stride` bytes, by an amount known only
 * at run time, or in an unknown way (looked up in memory). */
#ifndef KEET_EXPLAIN_CODE_H
#define KEET_EXPLAIN_CODE_H

#include "core/candidate.h"

#include <stdbool.h>
#include <stdint.h>

enum code_kind {
    CODE_STAGED,      /* a global load in a loop whose value goes to shared memory and nowhere else;
                         line2: the store */
    CODE_ACCUMULATES, /* a store in a loop to an address that the loop does not change, or in
                         unrolled code to the address that is stored to next */
    CODE_RELOADED,    /* a load from an address that was loaded from before, in a loop that does
                         not change it or in unrolled code; line2: a store that might change the
                         value in between */
    CODE_UNIFORM,     /* a special function in a loop, of a value that is the same for all lanes */
    CODE_SHORT_LOOP,  /* nr instructions, of which nr_steering keep the loop going */
    CODE_SCATTERED, /* a global access whose lanes are further apart than it is wide: stride bytes,
                       0 when only known at run time */
    CODE_NARROW,    /* a global access of neighbouring elements, of at most 4 bytes (width) */
    CODE_LOOKED_UP, /* a global load in a loop whose address was loaded from global memory */
    CODE_CHASED,    /* one of a chain of global loads, each of which gives the next its address */
    CODE_BANKS,     /* a shared access whose lanes are a multiple of 8 banks apart (stride) */
    CODE_ATOMIC,    /* on global memory */
    CODE_BARRIER,   /* in a loop */
    CODE_LOCAL,     /* an access to local memory */
    CODE_FP64,      /* arithmetic */
    CODE_SPECIAL,   /* a special function, of other values than CODE_UNIFORM's; in a loop */
    CODE_CONVERT,   /* in a loop */
    CODE_BRANCH,    /* a branch that can differ from lane to lane, guarding nr instructions */
    CODE_INTEGER,   /* integer arithmetic: nr instructions that multiply data (both factors were
                       loaded, or computed from what was loaded), nr_steering all on the line */
    NR_CODE_KINDS
};

struct code_fact {
    enum code_kind kind;
    unsigned line, line2; /* of the source; 0 unknown */
    unsigned first, last; /* lines of the innermost loop around it; 0: none */
    unsigned nr, nr_steering, width;
    int64_t stride;
    bool in_loop;
};

struct code {
    struct code_fact *facts; /* one per kind and line at most; arena memory */
    unsigned nr_facts;
};

/* NULL: there is no PTX, or it cannot be read. */
const struct code *code_read(const struct compilation *compilation, struct arena *arena);

/* The fact of a kind at a line; line 0: the first fact of the kind. NULL: there is none. */
const struct code_fact *code_find(const struct code *code, enum code_kind kind, unsigned line);

#endif
