/* Owns launches in a switch, where launches are read by their text. Of each switch one case runs,
 * and what the switch decides by has the number of that case. */
#include "intake/contract/contract_builder.h"

#include "intake/syntax/spelling.h"

#include <string.h>

/* The last `case` or `default` before token `at`, in the switch whose brace is token `open`; 0:
 * none. */
static unsigned label_before(const struct toks *toks, unsigned open, unsigned at)
{
    unsigned label = 0;

    for (unsigned i = open + 1; i < at; i++) {
        if (tok_is(&toks->tok[i], "case") || tok_is(&toks->tok[i], "default"))
            label = i;
        if (toks->tok[i].match > i && toks->tok[i].match < at)
            i = toks->tok[i].match;
    }
    return label;
}

/* The brace of the switch at token i; 0: token `at` stands outside of it. */
static unsigned around(const struct toks *toks, unsigned i, unsigned at)
{
    const unsigned open = tok_is(&toks->tok[i + 1], "(") ? toks->tok[i + 1].match + 1 : 0;

    return open > 1 && tok_is(&toks->tok[open], "{") && open < at && at < toks->tok[open].match
               ? open
               : 0;
}

static bool leaves(const struct toks *toks, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        if (tok_is(&toks->tok[i], "break") || tok_is(&toks->tok[i], "return"))
            return true;
    return false;
}

bool contract_excluded(const struct contract_builder *b, unsigned at)
{
    const struct toks *toks = b->resolver->toks;

    for (unsigned i = toks_name(toks, "switch", 0); i < toks->nr; i = toks_again(toks, i, toks->nr))
        for (unsigned l = 0; l < b->nr_launches; l++) {
            const unsigned before = b->resolver->launched[l], open = around(toks, i, before);

            if (!open || open != around(toks, i, at) || before >= at)
                continue;
            const unsigned label = label_before(toks, open, at);

            if (label > before && leaves(toks, before, label))
                return true;
        }
    return false;
}

/* The index of the size that the switch at token `at` decides by; nr_sizes: it decides by something
 * else, or by a size with a number. */
static unsigned switched_size(struct resolver *resolver, unsigned at)
{
    const unsigned nr = resolver->nr_sizes;
    struct str text = {0};
    unsigned found = nr;

    if (resolver_integer(resolver,
            (struct tok_range){resolver->toks, at + 2, resolver->toks->tok[at + 1].match}, at,
            &text)) {
        const char *name = spelling_tidy(resolver->arena, str_text(&text));

        for (unsigned s = 0; s < nr; s++)
            if (strcmp(resolver->sizes[s].name, name) == 0 && !resolver->sizes[s].known)
                found = s;
    }
    str_finish(&text);
    resolver->nr_sizes = nr;
    return found;
}

static bool case_value(struct resolver *resolver, unsigned label, int64_t *value)
{
    const unsigned colon = toks_find(resolver->toks, label, resolver->toks->nr, ":");

    return tok_is(&resolver->toks->tok[label], "case") &&
           resolver_constant(
               resolver, (struct tok_range){resolver->toks, label + 1, colon}, label, value);
}

void contract_bind_cases(struct contract_builder *b)
{
    struct resolver *resolver = b->resolver;
    const struct toks *toks = resolver->toks;

    for (unsigned i = toks_name(toks, "switch", 0); i < toks->nr && !b->interp;
         i = toks_again(toks, i, toks->nr))
        for (unsigned l = 0; l < b->nr_launches; l++) {
            const unsigned open = around(toks, i, resolver->launched[l]);
            int64_t value;

            if (!open ||
                !case_value(resolver, label_before(toks, open, resolver->launched[l]), &value))
                continue;
            const unsigned size = switched_size(resolver, i);

            if (size < resolver->nr_sizes)
                contract_replace_size(b, size, value);
        }
}
