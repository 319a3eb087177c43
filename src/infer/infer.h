/* What a file does not say and trial runs on the emulator find out: the contract of a CUDA file
 * with host code, with sizes, extents and check lines that the original was seen to run at. */
#ifndef KEET_INFER_INFER_H
#define KEET_INFER_INFER_H

#include "base/arena.h"
#include "base/err.h"
#include "intake/intake.h"
#include "run/workbench.h"

#include <stdbool.h>

/* All borrowed for the call. */
struct infer_options {
    const char *path;
    struct intake_args args;
    struct workbench_options bench; /* trials take the emulator, whatever the device says */
};

/* Reads the file and fills *in, whose memory is the arena's; in->nr_missing lines may still be
 * missing. Where no sizes are found at which all launches run, one launch alone may be taken. */
bool infer_contract(
    struct intake *in, struct arena *arena, const struct infer_options *options, struct err *err);

#endif
