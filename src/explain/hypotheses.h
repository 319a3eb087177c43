/* Hypotheses without a model: what could limit a kernel, read off its code and its launch before
 * any counter is looked at, and what the counters say to each. The same form as a model's
 * explanation (prompts/judge.md), so that one can stand in for the other.
 *
 *     struct hypotheses all = explain_hypotheses(chip, &c);    // c is explained
 *     hypotheses_write(&all, &text);                           // H1 line 17: ... / H1 confirmed:
 * ...
 *
 * A hypothesis belongs to the tools that look for it: confirmed when one of them makes a finding of
 * it, refuted when they ran and found nothing, open when the profile lacks what they need. */
#ifndef KEET_EXPLAIN_HYPOTHESES_H
#define KEET_EXPLAIN_HYPOTHESES_H

#include "base/str.h"
#include "core/candidate.h"
#include "core/chip.h"

enum judgement { JUDGED_CONFIRMED, JUDGED_REFUTED, JUDGED_OPEN };
const char *judgement_name(enum judgement judgement); /* "confirmed", ... */

struct hypothesis {
    const char *tool; /* that looks for it */
    unsigned line;    /* 0: the whole kernel */
    const char *text;
    enum judgement judgement;
    const char *why; /* the metrics, with values */
};

/* Arena memory of the candidate. */
struct hypotheses {
    struct hypothesis *items;
    unsigned nr;
    const char *unforeseen; /* tools whose findings no hypothesis expected; "" none */
};

struct hypotheses explain_hypotheses(const struct chip *chip, const struct candidate *c);
void hypotheses_write(const struct hypotheses *all, const struct candidate *c, struct str *out);

#endif
