/* read_only: const for pointer parameters that the kernel never writes through; __restrict__ for
 * all pointer parameters, where no launch gives one array twice. */
#include "base/str.h"
#include "propose/rewrite/rewrite.h"

#include <string.h>

static bool plain_pointer(const struct rewrite_in *in, const struct node *param)
{
    const char *text = tree_text(in->tree, param);
    const char *star = strchr(text, '*');
    return param->type.is_pointer && star && !strchr(star + 1, '*') && !strchr(text, '[') &&
           *param->name;
}

/* Different arrays never alias, so __restrict__ holds where no array is given twice. */
static void edit_kernel(const struct rewrite_in *in, const struct node *function,
    struct edits *edits, unsigned *nr_const, unsigned *nr_restrict)
{
    const bool alone = rewrite_no_alias(in, function);
    for (unsigned i = 0; i < function_nr_params(function); i++) {
        const struct node *p = function_param(function, i);
        if (!plain_pointer(in, p))
            continue;
        if (!p->type.is_const && !node_writes(function->body, p)) {
            edits_insert(edits, p->start, "const ");
            (*nr_const)++;
        }
        if (!p->type.is_restrict && alone) {
            edits_insert(edits, p->name_at, "__restrict__ ");
            (*nr_restrict)++;
        }
    }
}

bool rewrite_read_only(const struct rewrite_in *in, unsigned variant, struct rewrite_out *out)
{
    unsigned nr_const = 0, nr_restrict = 0;
    struct node *function;
    if (variant)
        return rewrite_refuse(in, out, "there is one variant");
    for (unsigned k = 0; rewrite_nth_kernel(in, k, &function) >= 0; k++)
        edit_kernel(in, function, &out->edits, &nr_const, &nr_restrict);
    if (!nr_const && !nr_restrict)
        return rewrite_refuse(
            in, out, "every pointer is const and __restrict__ as far as it can be");
    if (!nr_const)
        return rewrite_done(in, out, "mark the pointers __restrict__ (%u)", nr_restrict);
    if (!nr_restrict)
        return rewrite_done(in, out, "mark pointers that are only read const (%u)", nr_const);
    return rewrite_done(
        in, out, "mark pointers that are only read const (%u), and all __restrict__", nr_const);
}
