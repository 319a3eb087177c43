/* Readers of the values of OPTION_OWN. Only the table of options calls these functions. */
#ifndef KEET_CLI_OPTION_VALUES_H
#define KEET_CLI_OPTION_VALUES_H

#include "cli/option_table.h"

bool option_capture_time(struct options *options, const char *value, struct err *err);
bool option_budget(struct options *options, const char *value, struct err *err);
bool option_episodes(struct options *options, const char *value, struct err *err);
bool option_policy(struct options *options, const char *value, struct err *err);
bool option_objective(struct options *options, const char *value, struct err *err);
bool option_sanitize(struct options *options, const char *value, struct err *err);
bool option_include(struct options *options, const char *value, struct err *err);
bool option_fail_if(struct options *options, const char *value, struct err *err);
bool option_define(struct options *options, const char *value, struct err *err);
bool option_model(struct options *options, const char *value, struct err *err);
bool option_gpus(struct options *options, const char *value, struct err *err);
bool option_plot(struct options *options, const char *value, struct err *err);
bool option_deadline(struct options *options, const char *value, struct err *err);
bool option_worker_memory(struct options *options, const char *value, struct err *err);
bool option_campaign_time(struct options *options, const char *value, struct err *err);
bool option_task_time(struct options *options, const char *value, struct err *err);
bool option_tolerance(struct options *options, const char *text, struct err *err);
bool option_compared(struct options *options, const char *text, struct err *err);
bool option_tokens(struct options *options, const char *value, struct err *err);
bool option_gres(struct options *options, const char *value, struct err *err);
bool option_run(struct options *options, const char *value, struct err *err);
bool option_quiet(struct options *options, const char *value, struct err *err);
bool option_verbose(struct options *options, const char *value, struct err *err);

#endif
