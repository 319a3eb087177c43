/* The options that each part of the program takes from the command line. */
#ifndef KEET_CLI_PARTS_H
#define KEET_CLI_PARTS_H

#include "cli/options.h"
#include "explain/views/model_explanation.h"
#include "run/session.h"
#include "run/workbench.h"

struct workbench_options options_bench(const struct options *options);
struct session_options options_session(const struct options *options);
struct model_explanation_options options_model_explanation(const struct options *options);

#endif
