/* Owns numbers of a contract as text: what a launch passes, its grid, block and shared memory. */
#include "intake/contract/contract_builder.h"

#include "base/str.h"

const char *contract_text(struct contract_builder *b, const struct interp_value *v, bool fixed)
{
    const struct said *said = said_whole(b->arena, interp_said(b->interp, v), false);
    const unsigned nr_sizes = b->resolver->nr_sizes;
    struct str out = {0};
    int64_t value, number = 0;

    if (!said || !resolver_write(b->resolver, said, fixed, &out)) {
        str_finish(&out);
        return NULL;
    }
    const char *text = str_move(&out, b->arena);
    if (interp_whole(v, &number) &&
        !(resolver_evaluate(b->resolver, text, &value) && value == number)) {
        b->resolver->nr_sizes = nr_sizes;
        text = arena_printf(b->arena, number < 0 ? "(%lld)" : "%lld", (long long)number);
    }
    return text;
}

bool contract_is_empty(struct contract_builder *b, const struct contract_launch *launch)
{
    int64_t value;

    for (unsigned i = 0; i < launch->dims[0].nr; i++)
        if (resolver_evaluate(b->resolver, launch->dims[0].of[i], &value) && value == 0)
            return true;
    return false;
}

void contract_config(struct contract_builder *b, const struct interp_launch *seen,
    struct contract_launch *to, const char **why)
{
    static const char *const parts[] = {"grid", "block", "cluster"};
    const struct site *site = &seen->site;

    for (unsigned c = 0; c < 3; c++) {
        for (unsigned i = 0; i < seen->nr_dims[c]; i++)
            to->dims[c].of[i] = contract_text(b, &seen->dims[c][i], true);
        to->dims[c].nr = seen->nr_dims[c];
        if (!seen->nr_dims[c] && (c < 2 || seen->clustered) && !*why)
            *why = arena_printf(b->arena, "%s: nothing gives it", parts[c]);
    }
    if (seen->smem.kind != VALUE_INT || seen->smem.i != 0)
        to->smem = contract_text(b, &seen->smem, true);
    if (!to->smem && seen->smem.kind != VALUE_INT && !*why)
        *why = "shared memory: nothing gives it";
    if (*why && site->nr_config) /* in the file's own words: easier to complete */
        to->words = toks_text(site->config[0].toks, b->arena, site->config[0].from,
            site->config[site->nr_config - 1].to);
}
