/* The task of a command: from a kernel file, or from a file with host code. */
#ifndef KEET_CLI_LOAD_TASK_H
#define KEET_CLI_LOAD_TASK_H

#include "base/arena.h"
#include "base/err.h"
#include "cli/options.h"
#include "core/task.h"
#include "infer/infer.h"

#include <stdbool.h>

/* A task from options->kernel_path. For a file with host code the inferred contract is shown on
 * stderr first (unless quiet), and an error lists the lines that the user must complete. */
bool load_task(
    struct task *task, struct arena *arena, const struct options *options, struct err *err);

/* The text that load_task parses, in arena memory: the file, or of a file with host code the
 * contract and the device code. */
bool load_source(const char **source, size_t *bytes, struct arena *arena,
    const struct options *options, struct err *err);

/* Prints to stderr what was inferred and what is missing, each line with its origin. */
void load_task_show(struct arena *arena, const struct intake *in);

/* The options for inferring a task: --args, split at blanks outside of quotes; -I, -D, and the
 * workbench's options. */
struct infer_options load_task_options(struct arena *arena, const struct options *options);

/* The file's text with another value of a size or tuning parameter; NULL: no `size` or `tune` line
 * gives it one. */
const char *task_with_value(
    struct arena *arena, const char *source, const char *name, const char *value);

#endif
