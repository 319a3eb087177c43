/* Owns the table of executors. */
#include "campaign/executor.h"

#include "campaign/exec_local.h"
#include "campaign/exec_slurm.h"

#include <stddef.h>
#include <string.h>

static const struct executor_ops *const all[] = {&exec_local_ops, &exec_slurm_ops};

struct executor *executor_create(
    const char *name, const struct executor_options *options, struct err *err)
{
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i]->create(options, err);
    err_set(err, "--executor %s: expected local or slurm", name);
    return NULL;
}

bool executor_all_ended(const struct exec_item *items, unsigned nr)
{
    for (unsigned i = 0; i < nr; i++)
        if (items[i].state != EXEC_ENDED)
            return false;
    return true;
}
