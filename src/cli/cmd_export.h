/* `keet-opt export run.db --as FORMAT`: the best kernel, or the tuning results, for other programs.
 */
#ifndef KEET_CLI_CMD_EXPORT_H
#define KEET_CLI_CMD_EXPORT_H

#include "base/err.h"
#include "cli/options.h"

/* Writes options->output_path: a file, or for flashinfer-bench a folder; NULL: beside the
 * database. "-" is stdout, for a single file. Prints what was written. */
bool export_verb(const struct options *options, struct err *err);

#endif
