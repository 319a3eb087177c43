/* keet-opt explain KERNEL.cu --model SPEC: an explanation in a model's words, none of which is
 * taken on trust. First the model states hypotheses from the source, before any counter is shown.
 * Then the model judges each hypothesis by the counters. A reviewer (the second --model, else the
 * same model) corrects the explanation. The grounding checker (explain/ground.h) looks up each
 * number, metric, line and identifier. Claims that do not hold are marked, and the explanation goes
 * back to the model once. Claims that still do not hold stay marked in the printed explanation.
 *
 * Calls are counted and priced as in a search; with --db they are on record for `keet-opt calls`.
 */
#ifndef KEET_EXPLAIN_VIEWS_MODEL_EXPLANATION_H
#define KEET_EXPLAIN_VIEWS_MODEL_EXPLANATION_H

#include "base/err.h"
#include "base/str.h"
#include "core/candidate.h"
#include "core/chip.h"

#include <stdbool.h>
#include <stdint.h>

struct json_t; /* jansson's */

struct model_explanation_options {
    const char *const *models; /* specs, as llm/llm.h lists them; at least one */
    unsigned nr_models;
    const char *record_path; /* NULL: replies are not recorded */
    uint64_t max_tokens;     /* 0: no limit */
    double max_cost;         /* dollars; 0: no limit */
    uint64_t seed;
};

struct model_explanation {
    const char *why_not;    /* NULL, or why there is no explanation */
    const char *hypotheses; /* before any counter was shown */
    const char *text;       /* the explanation; claims that do not hold are marked */
    unsigned nr_confirmed, nr_refuted, nr_open;
    unsigned nr_claims, nr_grounded; /* of text */
    unsigned nr_claims_first,
        nr_grounded_first; /* before text was sent back; equal when it was not sent back */
    bool sent_back;
    unsigned nr_calls;
    uint64_t tokens;
    double cost; /* dollars, of the calls with a known price */
};

/* c must be alive, profiled and explained. The calls of models are added to c->calls. Strings live
 * in the arena of c. False: the options are at fault (an unknown spec, no price). */
bool model_explain(const struct model_explanation_options *options, const struct chip *chip,
    struct candidate *c, struct model_explanation *explanation, struct err *err);

void model_explanation_print(
    struct str *out, const struct model_explanation *explanation, bool markdown);
/* Adds each line of the text after an indent. Empty lines are left out. */
void text_indent(struct str *out, const char *text, const char *indent);
struct json_t *model_explanation_json(const struct model_explanation *explanation);

#endif
