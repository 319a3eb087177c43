/* Owns the bandit over models: which one to ask next. */
#include "propose/model/model_parts.h"

#include <math.h>

/* How much a model that was asked less is preferred. */
static const double EXPLORE = 0.7;
/* What a token without a price counts, in dollars. */
static const double TOKEN_COST = 1e-6;

/* UCB1 (Auer et al. 2002) on gain per dollar: the score of a model is its ratio over the best
 * ratio, plus a bonus for models that were asked less. Candidates under way count as asked, so that
 * several at once spread over the models. */
int model_choose(const struct model *m)
{
    double ratios[PROPOSE_MAX_MODELS] = {0}, best_ratio = 0, best = -INFINITY;
    unsigned nr[PROPOSE_MAX_MODELS], all = 0;
    int chosen = -1;

    for (unsigned i = 0; i < m->nr_endpoints; i++) {
        const struct endpoint *e = &m->endpoints[i];

        nr[i] = e->nr_nodes;
        for (unsigned k = 0; k < PROPOSE_MAX_IN_FLIGHT; k++)
            nr[i] += m->jobs[k].c && m->jobs[k].endpoint == i;
        all += nr[i];
        ratios[i] = e->nr_nodes ? (e->gain + 0.01) / (e->cost + 1e-4) : 0;
        best_ratio = fmax(best_ratio, ratios[i]);
    }
    for (unsigned i = 0; i < m->nr_endpoints; i++) {
        double score = nr[i] == 0 ? INFINITY : EXPLORE * sqrt(log(all) / nr[i]);

        if (m->endpoints[i].broken)
            continue;
        score += best_ratio > 0 ? ratios[i] / best_ratio : 0;
        if (chosen < 0 || score > best) {
            best = score;
            chosen = (int)i;
        }
    }
    return chosen;
}

double model_cost_of(const struct model_call *call)
{
    if (!isnan(call->cost) && call->cost > 0)
        return call->cost;
    return (double)(call->tokens_in + call->tokens_out) * TOKEN_COST;
}
