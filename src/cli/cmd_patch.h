/* The winner back in the user's own file: a patched copy of the whole file, host code kept, and the
 * unified diff; where that cannot be done, why. `keet-opt patch` does it for a kernel file that was
 * completed by hand. */
#ifndef KEET_CLI_CMD_PATCH_H
#define KEET_CLI_CMD_PATCH_H

#include "base/arena.h"
#include "base/err.h"
#include "cli/options.h"
#include "core/task.h"
#include "report/report.h"

#include <stdbool.h>
#include <stddef.h>

/* The user's file is options->kernel_path, read with options->args. Writes <output without
 * .keet.cu>.patched.cu and .patch, or, where a header of the user's changes as well, the folder
 * .patched/ with all that changed under its own name. Nothing is written for a file without host
 * code, or when nothing changed. */
bool writeback(struct report_patch *done, struct arena *arena, const struct options *options,
    const struct task *task, const char *best, size_t best_bytes, const char *output,
    struct err *err);

#endif
