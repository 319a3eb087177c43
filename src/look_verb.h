/* The verbs that look at a campaign's folder or a run's database while it runs or afterwards, each
 * with --json: status, results, show, diff, watch; and stop, which asks it to end. */
#ifndef KEET_LOOK_VERB_H
#define KEET_LOOK_VERB_H

#include "base/err.h"
#include "options.h"

#include <stdbool.h>

bool look_verb(const struct options *options, struct err *err);

#endif
