/* `keet-opt init some.cu`: a kernel file from a CUDA file with host code; and the same in memory
 * for the verbs that take a kernel. */
#ifndef KEET_CLI_CMD_INIT_H
#define KEET_CLI_CMD_INIT_H

#include "base/arena.h"
#include "base/err.h"
#include "cli/options.h"
#include "core/task.h"
#include "intake/intake.h"

#include <stdbool.h>

/* Writes the kernel file to --output, or to stdout; what was inferred and what is missing to
 * stderr. --json: both as one document on stdout. */
bool init_verb(const struct options *options, struct err *err);

/* --args, split at blanks; parts in quotes stay together; -I and -D. */
struct intake_args init_args(struct arena *arena, const struct options *options);

/* A task from a kernel file, or from a file with host code: then the contract that was inferred is
 * shown on stderr first (unless quiet), and an error lists what the user must complete. */
bool init_load_task(
    struct task *task, struct arena *arena, const struct options *options, struct err *err);

#endif
