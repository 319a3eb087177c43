/* Every verb of the command line as a function. Each prints to stdout, returns false with err when
 * something outside of the kernel failed, and sets *status, which is EXIT_DONE before, when the
 * program is to end otherwise. */
#ifndef KEET_CLI_COMMANDS_H
#define KEET_CLI_COMMANDS_H

#include "base/err.h"
#include "cli/options.h"

#include <stdbool.h>

enum exit_status {
    EXIT_DONE,
    EXIT_FAILED,    /* something outside of the kernel, or a campaign is not complete */
    EXIT_ARGUMENTS, /* the command line is wrong */
    EXIT_KERNEL     /* the kernel that was looked at is broken */
};

bool cmd_optimize(const struct options *options, int *status, struct err *err);
bool cmd_run(const struct options *options, int *status, struct err *err);
bool cmd_explain(const struct options *options, int *status, struct err *err);
bool cmd_init(const struct options *options, int *status, struct err *err);
bool cmd_patch(const struct options *options, int *status, struct err *err);
bool cmd_write(const struct options *options, int *status, struct err *err);
bool cmd_calls(const struct options *options, int *status, struct err *err);
bool cmd_report(const struct options *options, int *status, struct err *err);
bool cmd_export(const struct options *options, int *status, struct err *err);
bool cmd_campaign(const struct options *options, int *status, struct err *err);
bool cmd_runs(const struct options *options, int *status, struct err *err);
bool cmd_status(const struct options *options, int *status, struct err *err);
bool cmd_results(const struct options *options, int *status, struct err *err);
bool cmd_watch(const struct options *options, int *status, struct err *err);
bool cmd_stop(const struct options *options, int *status, struct err *err);
bool cmd_show(const struct options *options, int *status, struct err *err);
bool cmd_diff(const struct options *options, int *status, struct err *err);
bool cmd_doctor(const struct options *options, int *status, struct err *err);

/* Asks a running campaign to end neatly. Safe in a signal handler. */
void campaign_interrupt(void);

#endif
