/* Private to infer/: a contract whose missing numbers are being chosen. */
#ifndef KEET_INFER_INFER_PARTS_H
#define KEET_INFER_INFER_PARTS_H

#include "infer/infer_sizes.h"

enum { INFER_MAX_NUMBERS = 64, INFER_MAX_ELEMS = 17 << 20 /* of all arrays in one trial */ };

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

struct inference {
    const struct workbench_options *options;
    struct arena *arena;
    const struct intake *in;
    struct task task;        /* with some number wherever one is missing */
    struct workbench *bench; /* on the emulator */
    struct device *device;   /* the workbench's */
    struct device_module *module;
    struct candidate c;
    struct number numbers[INFER_MAX_NUMBERS];
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
 * nothing to try, and s->why says why. infer_close in any case. */
bool infer_open(struct inference *s, struct err *err);
void infer_close(struct inference *s);

/* As a run would check it: at its sizes and others, twice, with guards; then with more inputs. */
bool infer_passes(struct inference *s, const struct intake *in, bool with_more_inputs, bool *passed,
    struct err *err);

/* infer/trial_run.c: the original at the shape that is tried, once; UNCLEAN too when all trials
 * together took too long, or nothing is written. */
bool trial_run(struct inference *s, enum outcome *outcome, struct err *err);
bool trials_spent(const struct inference *s);

/* Keeps why the first choice failed. */
void trial_note(struct inference *s, const char *verdict, unsigned line, const char *text);

/* infer/infer_extents.c: first enough room in all arrays of unknown extent (CLEAN: it is), then
 * what each of them needs, and sizes as large as trials of small cost may have. */
bool infer_room(struct inference *s, enum outcome *outcome, struct err *err);
bool infer_extents(struct inference *s, struct err *err);

#endif
