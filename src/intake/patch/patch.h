/* The way back: the winner of a run, as changes to the files that its task was read from.
 *
 *     struct patch patch;
 *     if (patch_make(&patch, arena, "saxpy.cu", source, bytes, &args, &task, false, best,
 * best_bytes, &err)) if (patch.why) ... it cannot be written back, and why says what stands in the
 * way ... else ... patch.files have the old and the new text of each file that changed ...
 *
 * Device code is merged line by line: the winner's lines take the place of the device code that was
 * read. A launch changes only in the parts that differ. Its new parts are in the words of the place
 * where it stands: each size, array and scalar of the contract by the name that it has there.
 * Tuning parameters become constants. Scratch memory is allocated and freed in the stream of the
 * launch. */
#ifndef KEET_INTAKE_PATCH_PATCH_H
#define KEET_INTAKE_PATCH_PATCH_H

#include "base/arena.h"
#include "base/err.h"
#include "core/task.h"
#include "intake/intake.h"

#include <stdbool.h>
#include <stddef.h>

struct patched_file {
    const char *path; /* of the user's file, or of a header beside it */
    const char
        *name; /* as #include spells it; of the user's file: the last component of its path */
    const char *old, *text;
};

struct patch {
    struct patched_file *files; /* the files that change; none: the winner is the original */
    unsigned nr_files;
    const char *why;  /* a sentence that says why the winner cannot be written back; or NULL */
    const char *note; /* a sentence that says what the user should look at; or NULL */
};

/* source is the user's file; best is the source of a candidate of the task that was read from it.
 * code: a capture made the task by itself, whose launch says nothing in words of the host code, so
 * that only device code is put back, and a winner that is launched in another way is refused.
 * False: the file cannot be read as that task; err says why. */
bool patch_make(struct patch *patch, struct arena *arena, const char *path, const char *source,
    size_t bytes, const struct intake_args *args, const struct task *task, bool code,
    const char *best, size_t best_bytes, struct err *err);

/* The same for a file that says its task itself and has host code beside it (intake_has_both). The
 * pragmas in it become those of the winner, with the winner's new tuning parameters as numbers. */
void patch_make_own(struct patch *patch, struct arena *arena, const char *path, const char *source,
    size_t bytes, const struct intake_args *args, const char *best, size_t best_bytes);

#endif
