/* Hypotheses without a model: possible limits of a kernel, read off its code and its launch before
 * any counter is looked at, and the judgement of the counters on each. They have the form of a
 * model's explanation (prompts/judge.md), so that one can take the place of the other.
 *
 *     struct hypotheses all = explain_hypotheses(chip, &c);    // c is explained
 *     hypotheses_write(&all, &text);                           // H1 line 17: ... / H1 confirmed:
 * ...
 *
 * A hypothesis belongs to the tools that look for it. It is confirmed when one of the tools finds
 * it, refuted when the tools ran and found nothing, and open when the profile lacks metrics that
 * the tools need. */
#ifndef KEET_EXPLAIN_HYPOTHESES_H
#define KEET_EXPLAIN_HYPOTHESES_H

#include "base/str.h"
#include "core/candidate.h"
#include "core/chip.h"

enum judgement { JUDGED_CONFIRMED, JUDGED_REFUTED, JUDGED_OPEN };
const char *judgement_name(enum judgement judgement); /* "confirmed", ... */

struct hypothesis {
    const char *tool; /* the tool that looks for it */
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
