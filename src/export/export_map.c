/* Owns tensor maps in exported host code: CUtensorMap values that the driver encodes before the
 * launch. */
#include "core/map_code.h"
#include "export/export_input.h"

#include <stdio.h>

bool export_has_maps(const struct export_input *in)
{
    for (unsigned l = 0; l < in->plan.nr_launches; l++)
        for (unsigned a = 0; a < in->plan.launches[l].nr_args; a++)
            if (in->plan.launches[l].args[a].kind == ARG_TENSOR_MAP)
                return true;
    return false;
}

static bool write_expr(void *context, const struct expr *expr, struct str *out)
{
    (void)context;
    export_expr(LANGUAGE_CPP, expr, out);
    return true;
}

void export_map(
    const struct export_input *in, const struct launch_arg *arg, unsigned number, struct str *out)
{
    char name[32];
    const struct map_code map = {.name = name,
        .pointer = arg->name,
        .view = arg->tensor,
        .array = task_find_array(&in->task, &in->plan, arg->name),
        .write = write_expr};

    snprintf(name, sizeof(name), "keet_map_%u", number);
    map_code_lists(out, "        ", &map);
    str_add(out, "        if (keet_error == cudaSuccess)\n            keet_error = ");
    map_code_call(out, "                ", &map);
    str_add(out, ";\n");
}
