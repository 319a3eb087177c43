/* Owns the tuner: other values for the tuning parameters of a source. Only `tune` lines change. */
#include "base/str.h"
#include "propose/proposer.h"
#include "propose/tune/tuning_memory.h"

/* So many points are offered of each source whose values are chosen when their turn comes, by all
 * that was measured until then; a source that turns out well offers as many again. Beside them, for
 * what a finding says of a parameter's direction, each other value of one parameter. */
enum { MOST_OFFERED = 8, MOST_NEIGHBOURS = 64 };

/* Says "set TILE = 8 instead of 16", and makes the edits, if there are to be any. False: a line was
 * not found again. */
static bool set_values(const struct rewrite_in *in, const struct tune_point *point,
    struct edits *edits, const char **what)
{
    bool good = true;
    *what = NULL;
    for (unsigned i = 0; i < in->plan->nr_tunes && i < TUNE_MAX_PARAMS && good; i++) {
        const struct tune *tune = &in->plan->tunes[i];
        const int64_t value = tune->choices[point->at[i]];
        if (value == tune->value)
            continue;
        good = !edits || pragma_set_tune(in, edits, tune->name, value);
        *what = arena_printf(in->arena, "%s%s = %lld instead of %lld",
            *what ? arena_printf(in->arena, "%s, ", *what) : "set ", tune->name, (long long)value,
            (long long)tune->value);
    }
    return good && *what;
}

static bool find_point(
    const struct rewrite_in *in, const struct option *option, struct tune_point *point)
{
    if (!in->plan->nr_tunes)
        return false;
    if (option->variant < TUNE_FIRST_NAMED)
        return tuning_next(in->tuning, in, point);
    if (!tuning_neighbour(in, option->variant - TUNE_FIRST_NAMED, point))
        return false;
    tuning_given(in->tuning, in, point);
    return true;
}

static bool tuner_make(const struct rewrite_in *in, const struct option *option,
    struct rewrite_out *out, bool *made, struct err *err)
{
    struct tune_point point;
    const char *what;
    *out = (struct rewrite_out){.edits = {.arena = in->arena}};
    if (!find_point(in, option, &point))
        *made = rewrite_refuse(in, out, "the tuning parameters have no such values");
    else if (!set_values(in, &point, &out->edits, &what))
        *made = rewrite_refuse(in, out, "a tune line could not be found again");
    else
        *made = rewrite_done(in, out, "%s", what);
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
    struct tune_point point;
    struct option option = {.action = ACTION_TUNE, .proposer = PROPOSER_TUNER};
    list_points(in, list, MOST_OFFERED);
    for (unsigned n = 0;
         n < MOST_NEIGHBOURS && in->plan->nr_tunes && tuning_neighbour(in, n, &point); n++) {
        option.variant = TUNE_FIRST_NAMED + n;
        if (set_values(in, &point, NULL, &option.what))
            option_add(list, &option);
    }
    return true;
}

void tuner_list_all(const struct rewrite_in *in, struct option_list *list)
{
    list_points(in, list, TUNE_FIRST_NAMED);
}

const struct proposer_ops tuner_ops = {"tuner", PROPOSER_TUNER, tuner_list, tuner_make};
