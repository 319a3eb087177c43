/* Writes the winner back into the user's own file: a patched copy of the whole file, with its host
 * code, and the unified diff. Where the winner cannot be written back, struct report_patch says
 * why. `keet-opt patch` writes back a kernel file that was completed by hand. */
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
 * .keet.cu>.patched.cu and .patch. Where a header of the user's changes as well, the folder
 * .patched/ holds each changed file under its own name instead. Nothing is written for a file
 * without host code, or when nothing changed. */
bool writeback(struct report_patch *done, struct arena *arena, const struct options *options,
    const struct task *task, const char *best, size_t best_bytes, const char *output,
    struct err *err);

#endif
