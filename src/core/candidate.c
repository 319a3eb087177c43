/* Owns the candidate's verdict and the names of its enums. */
#include "core/candidate.h"

#include <string.h>

bool candidate_fail(
    struct candidate *c, enum verdict verdict, unsigned line, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    c->verdict_text = arena_vprintf(c->arena, format, ap);
    va_end(ap);
    c->verdict = verdict;
    c->verdict_line = line;
    return true;
}

const char *proposer_name(enum proposer proposer)
{
    static const char *const names[NR_PROPOSERS] = {"none", "rewriter", "tuner", "model"};

    return names[proposer];
}

const char *bound_name(enum bound bound)
{
    static const char *const names[] = {"unknown", "compute", "memory", "latency", "mixed"};

    return names[bound];
}

unsigned candidate_nr_repairs(const struct candidate *c)
{
    unsigned nr = 0;

    for (unsigned i = 0; i < c->nr_calls; i++) {
        nr += strcmp(c->calls[i].purpose, "repair") == 0;
    }
    return nr;
}

bool candidate_settled(const struct candidate *c)
{
    return c->verdict != VERDICT_OK || c->recalled;
}

bool candidate_evaluated(const struct candidate *c)
{
    return candidate_settled(c) || c->reused;
}
