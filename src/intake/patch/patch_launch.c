/* Owns the launches of a patch: which launches of the user change, and whether part by part or as a
 * whole. */
#include "intake/patch/patch_parts.h"

#include "base/mem.h"
#include "core/map_code.h"

#include <stdlib.h>
#include <string.h>

struct sites {
    struct site *all;
    unsigned nr;
    const struct site *of[INTAKE_MAX_LAUNCHES]; /* the site of each launch of the contract */
};

/* Two sites have the same launch in the same words: one is a warm-up, or stands in a loop that
 * takes times. */
static bool same_words(const struct site *a, const struct site *b)
{
    bool same =
        strcmp(a->id, b->id) == 0 && a->nr_args == b->nr_args && a->nr_config == b->nr_config;

    for (unsigned i = 0; same && i < a->nr_args; i++)
        same = tok_range_same(a->args[i], b->args[i]);
    for (unsigned i = 0; same && i < a->nr_config; i++)
        same = tok_range_same(a->config[i], b->config[i]);
    return same;
}

/* Which launch of the contract a site is; nr_old: it is none. */
static unsigned which(const struct relaunch *l, const struct sites *s, const struct site *site)
{
    unsigned i = 0;

    while (i < l->nr_old && !(s->of[i] && same_words(site, s->of[i])))
        i++;
    return i;
}

/* same: the launches are those of the file, so that a launch by cudaLaunchKernelEx may stay as it
 * is. */
static bool find_sites(struct relaunch *l, struct sites *s, bool same)
{
    struct resolver *resolver = &l->p->set->resolver;

    s->all = resolver_launches(resolver, &s->nr);
    for (unsigned i = 0; i < l->nr_old; i++)
        for (unsigned k = 0; k < s->nr; k++)
            if (s->all[k].at == resolver->launched[i])
                s->of[i] = &s->all[k];
    for (unsigned i = 0; i < l->nr_old && !same; i++)
        if (!s->of[i])
            return patcher_refuse(l->p,
                "%s launches %s by a call, and the winner has other launches: write it as "
                "%s<<<...>>>",
                patcher_where(l->p, l->p->set->toks.tok[resolver->launched[i]].line), l->old[i].id,
                l->old[i].id);
    return true;
}

/* False: a kernel that changes is launched elsewhere too, in a way that the task does not have;
 * p->why says where. */
static bool others_are_safe(struct relaunch *l, const struct sites *s)
{
    for (unsigned k = 0; k < s->nr; k++)
        for (unsigned i = 0; i < l->nr_old && which(l, s, &s->all[k]) == l->nr_old; i++) {
            if (!s->of[i] || strcmp(s->all[k].kernel, s->of[i]->kernel) != 0)
                continue;
            if (l->nr_old != l->nr_new || !relaunch_same(&l->old[i], &l->new_[i]))
                return patcher_refuse(l->p,
                    "%s launches %s as well, in other words than %s, and the new kernel "
                    "is launched in another way; make the two alike, or give the one its own "
                    "kernel",
                    patcher_where(l->p, s->all[k].line), s->all[k].kernel,
                    patcher_where(l->p, s->of[i]->line));
            l->p->note = arena_printf(l->p->arena,
                "%s launches %s as well; it was checked only as %s launches it",
                patcher_where(l->p, s->all[k].line), s->all[k].kernel,
                patcher_where(l->p, s->of[i]->line));
        }
    return true;
}

/* Changes each launch where it stands. */
static bool part_by_part(struct relaunch *l, const struct sites *s)
{
    bool ok = true;

    for (unsigned k = 0; ok && k < s->nr; k++) {
        const unsigned i = which(l, s, &s->all[k]);

        if (i < l->nr_old)
            ok = relaunch_parts(l, i, &s->all[k]);
    }
    return ok;
}

/* Changes runs of the task's launches, each run as a whole. */
static bool run_by_run(struct relaunch *l, const struct sites *s)
{
    const struct site *run[INTAKE_MAX_LAUNCHES];
    unsigned nr = 0;
    bool ok = true;

    for (unsigned k = 0; ok && k < s->nr; k++) {
        const unsigned i = which(l, s, &s->all[k]);

        if (i == l->nr_old)
            continue;
        if (i != nr)
            return patcher_refuse(l->p,
                "%s launches %s out of turn, and the winner has other launches than the file",
                patcher_where(l->p, s->all[k].line), s->all[k].kernel);
        run[nr++] = &s->all[k];
        if (nr == l->nr_old) {
            ok = relaunch_run(l, run);
            nr = 0;
        }
    }
    return ok && (nr == 0 || patcher_refuse(l->p, "%s: the launches after this one are missing",
                                 patcher_where(l->p, run[nr - 1]->line)));
}

/* False: the file has other launches than the task, or a kernel is not in the code; p->why. */
static bool are_there(struct relaunch *l)
{
    const struct source_set *set = l->p->set;
    bool same = l->nr_old == set->in.nr_launches;

    for (unsigned i = 0; same && i < l->nr_old; i++)
        same =
            l->old[i].kernel && strcmp(l->old[i].kernel->name, set->resolver.kernels[i]->name) == 0;
    for (unsigned i = 0; i < l->nr_new; i++)
        if (!l->new_[i].kernel)
            return patcher_refuse(l->p, "%s is not in the code", l->new_[i].id);
    return same || patcher_refuse(l->p, "the host code has other launches than the task");
}

bool patch_launches(struct patcher *p, bool code)
{
    struct relaunch *l = arena_alloc(p->arena, sizeof(*l));
    struct sites s = {0};
    bool same;

    l->p = p;
    if (!relaunch_read(l))
        return false;
    same = l->nr_old == l->nr_new && !l->nr_scratch;
    for (unsigned i = 0; same && i < l->nr_old; i++)
        same = relaunch_same(&l->old[i], &l->new_[i]);
    if (code)
        return same || patcher_refuse(p,
                           "it is launched in another way, and the text of %s does not say how the "
                           "program comes to its launch",
                           p->set->in.path);
    bool ok = are_there(l) && find_sites(l, &s, same) && others_are_safe(l, &s);

    if (ok && !same)
        ok = l->nr_old == l->nr_new && !l->nr_scratch ? part_by_part(l, &s) : run_by_run(l, &s);
    if (ok && l->first_map) {
        const size_t at = patcher_before_declaration(p, p->set->toks.tok[l->first_map].at);

        ok = patcher_replace(p, at, at, map_code_helper());
    }
    free(s.all);
    return ok;
}
