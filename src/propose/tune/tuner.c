/* Owns the tuner: other values for the tuning parameters of a source. Only `tune` lines change. */
#include "base/hash.h"
#include "base/rng.h"
#include "base/str.h"
#include "propose/proposer.h"
#include "propose/rewrite/rewrite.h"

#include <string.h>

enum { MAX_TUNES = 16, MAX_JOINT = 4, MAX_JOINT_TRIES = 32 };

/* A point in the space of parameters: values in the order of plan->tunes. */
struct point {
    int64_t values[MAX_TUNES];
};

static unsigned nr_tunes(const struct rewrite_in *in)
{
    return in->plan->nr_tunes < MAX_TUNES ? in->plan->nr_tunes : MAX_TUNES;
}

static struct point current(const struct rewrite_in *in)
{
    struct point p = {{0}};
    for (unsigned i = 0; i < nr_tunes(in); i++)
        p.values[i] = in->plan->tunes[i].value;
    return p;
}

/* Whether every `where` holds at the point. */
static bool allowed(const struct rewrite_in *in, const struct point *p)
{
    struct plan plan = *in->plan;
    if (!plan.nr_tunes)
        return true;
    plan.tunes = arena_array(in->arena, plan.nr_tunes, sizeof(*plan.tunes));
    memcpy(plan.tunes, in->plan->tunes, plan.nr_tunes * sizeof(*plan.tunes));
    for (unsigned i = 0; i < nr_tunes(in); i++)
        plan.tunes[i].value = p->values[i];
    const struct env env = plan_env(in->arena, &plan, &in->task->timed);
    return plan_allows(&plan, &env);
}

/* A single variant: one parameter has another value. In order of writing. False: past the last. */
static bool single(const struct rewrite_in *in, unsigned variant, struct point *p)
{
    *p = current(in);
    for (unsigned i = 0; i < nr_tunes(in); i++)
        for (unsigned k = 0; k < in->plan->tunes[i].nr_choices; k++) {
            const int64_t value = in->plan->tunes[i].choices[k];
            if (value == in->plan->tunes[i].value)
                continue;
            p->values[i] = value;
            if (allowed(in, p) && !variant--)
                return true;
            p->values[i] = in->plan->tunes[i].value;
        }
    return false;
}

static unsigned nr_differences(const struct rewrite_in *in, const struct point *p)
{
    unsigned nr = 0;
    for (unsigned i = 0; i < nr_tunes(in); i++)
        nr += p->values[i] != in->plan->tunes[i].value;
    return nr;
}

/* A joint variant: two or more parameters have other values. The seed is the source alone, so that
 * the variants are the same each time. False: past the last. */
static bool joint(const struct rewrite_in *in, unsigned variant, struct point *p)
{
    struct point found[MAX_JOINT];
    unsigned nr = 0;
    struct rng rng;
    rng_seed(&rng, hash_bytes(in->source, in->bytes, 0).low, 0);
    for (unsigned tries = 0; tries < MAX_JOINT_TRIES && nr < MAX_JOINT; tries++) {
        *p = current(in);
        for (unsigned i = 0; i < nr_tunes(in); i++)
            p->values[i] =
                in->plan->tunes[i].choices[rng_below(&rng, in->plan->tunes[i].nr_choices)];
        bool fresh = nr_differences(in, p) >= 2 && allowed(in, p);
        for (unsigned i = 0; i < nr && fresh; i++)
            fresh = memcmp(&found[i], p, sizeof(*p)) != 0;
        if (!fresh)
            continue;
        if (nr == variant)
            return true;
        found[nr++] = *p;
    }
    return false;
}

/* Joint variants are numbered from here, so that single ones keep their numbers. */
enum { FIRST_JOINT = 1000 };

static bool make(const struct rewrite_in *in, const struct option *option, struct rewrite_out *out)
{
    struct point p;
    *out = (struct rewrite_out){.edits = {.arena = in->arena}};
    const unsigned v = option->variant;
    if (!(v < FIRST_JOINT ? single(in, v, &p) : joint(in, v - FIRST_JOINT, &p)))
        return rewrite_refuse(in, out, "the tuning parameters have no such combination");
    struct str what = {0};
    bool good = true;
    for (unsigned i = 0; i < nr_tunes(in) && good; i++) {
        const struct tune *tune = &in->plan->tunes[i];
        if (p.values[i] == tune->value)
            continue;
        good = pragma_set_tune(in, &out->edits, tune->name, p.values[i]);
        str_addf(&what, "%s%s = %lld instead of %lld", what.len ? ", " : "set ", tune->name,
            (long long)p.values[i], (long long)tune->value);
    }
    if (good)
        rewrite_done(in, out, "%s", str_text(&what));
    else
        rewrite_refuse(in, out, "a tune line could not be found again");
    str_finish(&what);
    return good;
}

static bool tuner_make(const struct rewrite_in *in, const struct option *option,
    struct rewrite_out *out, bool *made, struct err *err)
{
    *made = make(in, option, out);
    return true;
}

static bool tuner_list(const struct rewrite_in *in, struct option_list *list, struct err *err)
{
    const unsigned before = list->nr;
    for (unsigned v = 0; v < FIRST_JOINT + MAX_JOINT; v++) {
        struct rewrite_out out;
        struct option option = {.action = ACTION_TUNE, .proposer = PROPOSER_TUNER, .variant = v};
        if (!make(in, &option, &out)) {
            if (v < FIRST_JOINT)
                v = FIRST_JOINT - 1; /* on to the joint ones */
            continue;
        }
        option.what = out.what;
        option_add(list, &option);
    }
    if (list->nr == before)
        str_addf(list->refusals, "tune: %s\n",
            in->plan->nr_tunes ? "no other values are allowed" : "the source names no parameters");
    return true;
}

const struct proposer_ops tuner_ops = {"tuner", PROPOSER_TUNER, tuner_list, tuner_make};
