/* Private to settle*.c: a contract whose missing numbers are being chosen. */
#ifndef KEET_INFER_INFER_PARTS_H
#define KEET_INFER_INFER_PARTS_H

#include "compile/compile.h"
#include "device/device.h"
#include "infer/infer_sizes.h"

enum { SETTLE_MAX_NUMBERS = 64, SETTLE_MAX_ELEMS = 17 << 20 /* of all arrays in one trial */ };

enum number_kind { A_SIZE, A_BLOCK, AN_EXTENT, A_SCALAR, A_SPARE };

struct number {
    const char *name;
    enum number_kind kind;
    size_t at;                           /* of a size, in the shape that is tried */
    const char *form;                    /* of an extent, over sizes; NULL: a plain number */
    unsigned first_form, end_form, rank; /* those that fit */
    bool widened;                        /* more than what one input needs */
};

/* STRAY: an access out of bounds, which more room may mend. */
enum outcome { CLEAN, STRAY, UNCLEAN };

struct settling {
    const struct options *options;
    struct arena *arena;
    const struct intake *in;
    struct task task; /* with some number wherever one is missing */
    char *cutlass_root;
    struct compiler *compiler;
    struct device *device;
    struct device_module *module;
    struct candidate c;
    struct number numbers[SETTLE_MAX_NUMBERS];
    unsigned nr_numbers;
    struct shape shape; /* tried now: with these sizes */
    struct binding *sizes;
    bool seek_outputs; /* the contract has none: all arrays are inout in the task */
    bool *written;     /* by array: in the last clean trial */
    bool *outputs;     /* seek_outputs: those that were found */
    bool sanitize;     /* the trial looks for uninitialised reads */
    uint64_t seed;     /* of the trial's inputs */
    uint64_t insts;    /* of all trials */
    uint64_t most_insts;
    const char *scalar;  /* what all real numbers are */
    unsigned nr_divided; /* choices with which that was tried */
    bool divided;        /* the bounds of arrays that hold indices */
    bool hopeless;       /* the code does not compile */
    const char *strayed; /* the array that was too short for other inputs; NULL: none */
    uint64_t steps;      /* warp instructions of one trial */
    bool timed_out;      /* some trial needed more */
    unsigned nr_passes;
    const char *why; /* the first choice that failed, and how; NULL */
};

/* infer/infer_sizes.c: s->task compiled and on the emulator. False with *err empty: there is
 * nothing to try, and s->why says why. settle_close in any case. */
bool settle_open(struct settling *s, struct err *err);
void settle_close(struct settling *s);

/* As a run would check it: at its sizes and others, twice, with guards; then with more inputs. */
bool settle_passes(struct settling *s, const struct intake *in, bool with_more_inputs, bool *passed,
    struct err *err);

/* infer/trial_run.c: the original at the shape that is tried, once; UNCLEAN too when all trials
 * together took too long, or nothing is written. */
bool settle_try(struct settling *s, enum outcome *outcome, struct err *err);
bool settle_spent(const struct settling *s);

/* Keeps why the first choice failed. */
void settle_note(struct settling *s, const char *verdict, unsigned line, const char *text);

/* infer/infer_extents.c: first enough room in all arrays of unknown extent (CLEAN: it is), then
 * what each of them needs, and sizes as large as trials of small cost may have. */
bool settle_room(struct settling *s, enum outcome *outcome, struct err *err);
bool settle_extents(struct settling *s, struct err *err);

#endif
