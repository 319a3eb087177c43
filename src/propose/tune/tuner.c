/* Owns the tuner: other values for the tuning parameters of a source. Only `tune` lines change. */
#include "base/str.h"
#include "propose/proposer.h"
#include "propose/tune/tuning_memory.h"

/* So many points are offered of each source. Their values are chosen when their turn comes, by all
 * that was measured until then; the places of a source that turns out well offer as many again. */
enum { MOST_OFFERED = 8, MOST_LISTED = 65000 };

static bool make(const struct rewrite_in *in, struct rewrite_out *out)
{
    struct tune_point point;
    *out = (struct rewrite_out){.edits = {.arena = in->arena}};
    if (!in->plan->nr_tunes || !tuning_next(in->tuning, in, &point))
        return rewrite_refuse(in, out, "the tuning parameters have no other values");
    struct str what = {0};
    bool good = true;
    for (unsigned i = 0; i < in->plan->nr_tunes && i < TUNE_MAX_PARAMS && good; i++) {
        const struct tune *tune = &in->plan->tunes[i];
        const int64_t value = tune->choices[point.at[i]];
        if (value == tune->value)
            continue;
        good = pragma_set_tune(in, &out->edits, tune->name, value);
        str_addf(&what, "%s%s = %lld instead of %lld", what.len ? ", " : "set ", tune->name,
            (long long)value, (long long)tune->value);
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
    *made = make(in, out);
    return true;
}

static const char *names_of(const struct rewrite_in *in)
{
    const char *names = in->plan->tunes[0].name;
    for (unsigned i = 1; i < in->plan->nr_tunes; i++)
        names = arena_printf(in->arena, "%s, %s", names, in->plan->tunes[i].name);
    return names;
}

static void list_points(const struct rewrite_in *in, struct option_list *list, unsigned most)
{
    const unsigned nr = in->plan->nr_tunes ? tuning_nr_others(in, most) : 0;
    const char *names = nr ? names_of(in) : "";
    for (unsigned v = 0; v < nr; v++)
        option_add(list, &(struct option){.action = ACTION_TUNE,
                             .proposer = PROPOSER_TUNER,
                             .variant = v,
                             .what = arena_printf(in->arena, "other values of %s", names)});
    if (!nr)
        str_addf(list->refusals, "tune: %s\n",
            in->plan->nr_tunes ? "no other values are allowed" : "the source names no parameters");
}

static bool tuner_list(const struct rewrite_in *in, struct option_list *list, struct err *err)
{
    list_points(in, list, MOST_OFFERED);
    return true;
}

void tuner_list_all(const struct rewrite_in *in, struct option_list *list)
{
    list_points(in, list, MOST_LISTED);
}

const struct proposer_ops tuner_ops = {"tuner", PROPOSER_TUNER, tuner_list, tuner_make};
