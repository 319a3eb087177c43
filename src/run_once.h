/* `keet-opt run KERNEL.cu`: the kernel as it stands, once through check, profile and explain. */
#ifndef KEET_RUN_ONCE_H
#define KEET_RUN_ONCE_H

#include "base/err.h"
#include "options.h"

#include <stdbool.h>

/* Prints to stdout. *clean is false when the kernel got a verdict other than ok. */
bool run_once(const struct options *options, bool *clean, struct err *err);

#endif
