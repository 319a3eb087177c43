/* Owns what a candidate's machine code adds to its profile. */
#include "core/candidate.h"

#include <string.h>

/* The mix of all kernels; false: the mix of one kernel is not known. */
static bool sass_of_all(const struct candidate *c, struct sass_mix *all)
{
    *all = (struct sass_mix){0};
    for (unsigned i = 0; i < c->compilation.nr_kernels; i++) {
        if (c->compilation.sass == NULL || c->compilation.sass[i].arch == 0)
            return false;
        sass_mix_add(all, &c->compilation.sass[i].all);
    }
    return all->nr > 0;
}

void candidate_count_sass(struct candidate *c)
{
    struct counters *total = &c->profile.total;
    struct sass_mix all;

    if (!sass_of_all(c, &all))
        return;
    counters_set(total, METRIC_SASS_INST, all.nr, PROV_COUNTED);
    counters_set(total, METRIC_SASS_GLOBAL_LD, all.of[SASS_GLOBAL_LOAD], PROV_COUNTED);
    counters_set(total, METRIC_SASS_GLOBAL_LD_WIDE, all.wide_loads, PROV_COUNTED);
    counters_set(total, METRIC_SASS_LOCAL_LD, all.of[SASS_LOCAL_LOAD], PROV_COUNTED);
    counters_set(total, METRIC_SASS_LOCAL_ST, all.of[SASS_LOCAL_STORE], PROV_COUNTED);
    counters_set(total, METRIC_SASS_TENSOR, all.of[SASS_TENSOR], PROV_COUNTED);
}

/* Adds a line to sorted lines; the array has room for one more. */
static void add_sass_line(struct sass_line *lines, unsigned *nr, const struct sass_line *line)
{
    unsigned at = *nr;

    while (at > 0 && lines[at - 1].line > line->line)
        at--;
    if (at > 0 && lines[at - 1].line == line->line) {
        sass_mix_add(&lines[at - 1].mix, &line->mix);
        return;
    }
    memmove(&lines[at + 1], &lines[at], (*nr - at) * sizeof(*lines));
    lines[at] = *line;
    ++*nr;
}

const struct sass_line *candidate_sass_lines(const struct candidate *c, unsigned *nr)
{
    struct sass_line *lines;
    unsigned most = 0;

    *nr = 0;
    for (unsigned i = 0; c->compilation.sass != NULL && i < c->compilation.nr_kernels; i++)
        most += c->compilation.sass[i].nr_lines;
    lines = arena_array(c->arena, most + 1, sizeof(*lines));
    for (unsigned i = 0; most > 0 && i < c->compilation.nr_kernels; i++)
        for (unsigned l = 0; l < c->compilation.sass[i].nr_lines; l++)
            add_sass_line(lines, nr, &c->compilation.sass[i].lines[l]);
    return lines;
}
