/* The way back: the winner of a run as changes to the files that the task was read from.
 *
 *     struct patch patch;
 *     if (patch_make(&patch, arena, "saxpy.cu", source, bytes, &task, best, best_bytes, &err))
 *         if (patch.why) ... it cannot be written back, and why says what stands in the way ...
 *         else ... patch.files have the old and the new text of each file that changed ...
 *
 * Device code is merged line by line: what the winner has in place of the device code that was
 * read. Launches change only in the parts that differ, in the words of the place where they stand:
 * each size, array and scalar of the contract by what the host code there calls it. Tuning
 * parameters become constants, scratch memory is taken from the launch's stream and given back to
 * it. */
#ifndef KEET_INTAKE_PATCH_PATCH_H
#define KEET_INTAKE_PATCH_PATCH_H

#include "base/arena.h"
#include "base/err.h"
#include "core/task.h"
#include "intake/intake.h"

#include <stdbool.h>
#include <stddef.h>

struct patched_file {
    const char *path; /* as it was found: the user's file, or a header beside it */
    const char *name; /* as the user's file includes it; the user's file: its last component */
    const char *old, *text;
};

struct patch {
    struct patched_file *files; /* those that change; none: the winner is the original */
    unsigned nr_files;
    const char *why;  /* it cannot be written back, a sentence; NULL */
    const char *note; /* what the user should look at, a sentence; NULL */
};

/* source is the user's file, best a candidate of the task that was read from it. */
bool patch_make(struct patch *patch, struct arena *arena, const char *path, const char *source,
    size_t bytes, const struct intake_args *args, const struct task *task, const char *best,
    size_t best_bytes, struct err *err);

/* The same for a file that says its task itself and has host code beside it (intake_has_both). The
 * pragmas in it become those of the winner, with the winner's new tuning parameters as numbers. */
void patch_make_own(struct patch *patch, struct arena *arena, const char *path, const char *source,
    size_t bytes, const struct intake_args *args, const char *best, size_t best_bytes);

#endif
