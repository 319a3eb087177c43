/* Owns launches in a switch, where they are read by their text: one case of each is what runs, and
 * the number that is switched on is the case's. */
#include "intake/contract/contract_builder.h"

#include "intake/syntax/spelling.h"

#include <string.h>

/* The last `case` or `default` of the switch whose brace is token `open`, before token `at`; 0:
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

/* The brace of the switch at token i that is around token `at`; 0: it is not. */
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

bool builder_excluded(const struct builder *b, unsigned at)
{
    const struct toks *toks = b->host->toks;

    for (unsigned i = toks_name(toks, "switch", 0); i < toks->nr;
         i = toks->tok[i].again ? toks->tok[i].again : toks->nr)
        for (unsigned l = 0; l < b->nr_launches; l++) {
            const unsigned before = b->host->launched[l], open = around(toks, i, before);

            if (!open || open != around(toks, i, at) || before >= at)
                continue;
            const unsigned label = label_before(toks, open, at);

            if (label > before && leaves(toks, before, label))
                return true;
        }
    return false;
}

/* What is switched on is a size that only the caller knows: its index; nr_sizes: it is none. */
static unsigned switched_size(struct host *host, unsigned at)
{
    const unsigned nr = host->nr_sizes;
    struct str text = {0};
    unsigned found = nr;

    if (hostcode_resolve(
            host, (struct range){host->toks, at + 2, host->toks->tok[at + 1].match}, at, &text)) {
        const char *name = tidy(host->arena, str_text(&text));

        for (unsigned s = 0; s < nr; s++)
            if (strcmp(host->sizes[s].name, name) == 0 && !host->sizes[s].known)
                found = s;
    }
    str_finish(&text);
    host->nr_sizes = nr;
    return found;
}

static bool case_value(struct host *host, unsigned label, int64_t *value)
{
    const unsigned colon = toks_find(host->toks, label, host->toks->nr, ":");

    return tok_is(&host->toks->tok[label], "case") &&
           hostcode_constant(host, (struct range){host->toks, label + 1, colon}, label, value);
}

void builder_bind_cases(struct builder *b)
{
    struct host *host = b->host;
    const struct toks *toks = host->toks;

    for (unsigned i = toks_name(toks, "switch", 0); i < toks->nr && !b->walk;
         i = toks->tok[i].again ? toks->tok[i].again : toks->nr)
        for (unsigned l = 0; l < b->nr_launches; l++) {
            const unsigned open = around(toks, i, host->launched[l]);
            int64_t value;

            if (!open || !case_value(host, label_before(toks, open, host->launched[l]), &value))
                continue;
            const unsigned size = switched_size(host, i);

            if (size < host->nr_sizes)
                builder_replace_size(b, size, value);
        }
}
