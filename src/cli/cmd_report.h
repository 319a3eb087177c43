/* `keet-opt report RUN.db|FOLDER`: the page, the Markdown or the JSON of a run from its database,
 * or of a campaign from its folder. */
#ifndef KEET_CLI_CMD_REPORT_H
#define KEET_CLI_CMD_REPORT_H

#include "base/err.h"
#include "cli/options.h"

/* Writes options->output_path; NULL: <database without .keet.db>.report.html or
 * FOLDER/report.html, and stdout for the other formats. "-" is stdout. */
bool report_verb(const struct options *options, struct err *err);

#endif
