/* The executor of this machine: child processes, one per GPU or core. Each leads a process group of
 * its own, and dies with us. */
#ifndef KEET_CAMPAIGN_EXEC_LOCAL_H
#define KEET_CAMPAIGN_EXEC_LOCAL_H

#include "campaign/executor.h"

extern const struct executor_ops exec_local_ops;

#endif
