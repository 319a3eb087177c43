/* Private to infer/: a contract whose missing numbers are being chosen. */
#ifndef KEET_INFER_INFER_PARTS_H
#define KEET_INFER_INFER_PARTS_H

#include "infer/infer_sizes.h"

enum { INFER_MAX_NUMBERS = 64, INFER_MAX_ELEMS = 17 << 20 /* of all arrays in one trial */ };

enum number_kind { A_SIZE, A_BLOCK, AN_EXTENT, A_SCALAR, A_SPARE };

struct missing_number {
    const char *name;
    enum number_kind kind;
    size_t at;                           /* the size's place in the shape that is tried */
    const char *form;                    /* the extent's text over sizes; NULL: a plain number */
    unsigned first_form, end_form, rank; /* the forms that fit the extent */
    bool widened;                        /* the extent is larger than one input needs */
};

/* STRAY: an access left its array; more room may mend that. */
enum outcome { CLEAN, STRAY, UNCLEAN };

struct inference {
    const struct workbench_options *options;
    struct arena *arena;
    const struct intake *in;
    struct task task;        /* a stand-in for each missing number */
    struct workbench *bench; /* on the emulator */
    struct device *device;   /* the workbench's */
    struct device_module *module;
    struct candidate c;
    struct missing_number numbers[INFER_MAX_NUMBERS];
    unsigned nr_numbers;
    struct shape shape; /* that is tried now; sizes points into it */
    struct binding *sizes;
    bool seek_outputs; /* the contract has no outputs: in the task all arrays are inout */
    bool *written;     /* by array: the last clean trial wrote it */
    bool *outputs;     /* seek_outputs: by array, found to be an output */
    bool sanitize;     /* the trial looks for uninitialised reads */
    uint64_t seed;     /* of the trial's inputs */
    uint64_t insts;    /* thread instructions of all trials so far */
    uint64_t most_insts;
    const char *scalar;  /* the value of all real scalars */
    unsigned nr_divided; /* choices with which `divided` was tried */
    bool divided;        /* the bounds of index arrays are lowered */
    bool hopeless;       /* the code does not compile */
    const char *strayed; /* the array that was too short for other inputs; NULL: none */
    uint64_t steps;      /* warp instructions of one trial */
    bool timed_out;      /* some trial needed more steps */
    unsigned nr_passes;
    const char *why; /* the first choice that failed, and how; NULL: none failed */
};

/* infer_sizes.c: compile s->task on a workbench of the emulator. False with *err empty: nothing can
 * be tried, and s->why says why. infer_close follows in any case. */
bool infer_open(struct inference *s, struct err *err);
void infer_close(struct inference *s);

/* Check the contract as a run would; with_more_inputs: then run the original on more inputs. */
bool infer_passes(struct inference *s, const struct intake *in, bool with_more_inputs, bool *passed,
    struct err *err);

/* trial_run.c: run the original once at s->shape. UNCLEAN also when nothing is written, and when
 * all trials together took too long. */
bool trial_run(struct inference *s, enum outcome *outcome, struct err *err);
bool trials_spent(const struct inference *s);

/* Keeps why the first choice failed. */
void trial_note(struct inference *s, const char *verdict, unsigned line, const char *text);

/* infer_extents.c: infer_room gives all arrays of unknown extent enough room (CLEAN: found);
 * infer_extents then finds what each array needs, and enlarges sizes while trials stay cheap. */
bool infer_room(struct inference *s, enum outcome *outcome, struct err *err);
bool infer_extents(struct inference *s, struct err *err);

#endif
