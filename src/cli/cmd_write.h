/* `keet-opt write task.cu --model SPEC`: the first kernel of a task that has a contract and no
 * code. */
#ifndef KEET_CLI_CMD_WRITE_H
#define KEET_CLI_CMD_WRITE_H

#include "base/err.h"
#include "cli/options.h"

/* Asks the first model, tries what it answers as the original of a run, and tells it what was
 * wrong, at most three times. Writes options->output_path (NULL: <task>.first.cu) when the kernel
 * is right in all that the contract checks. */
bool first_verb(const struct options *options, struct err *err);

#endif
