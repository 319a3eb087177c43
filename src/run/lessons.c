/* Owns the lessons of a run: notes them, finds them, and scales priors by them. */
#include "run/lessons.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

/* Below this, a lesson says too little about another kernel to be shown. */
static const double FIT_SHOWN = 0.3;
/* The gain of a failure, as log2 of a speedup. */
static const double FAILED = -0.5;
/* Below this, an experience is of another kind of kernel. */
static const double EXPERIENCE_FIT = 0.5;

struct lessons {
    struct lessons_options options;
    struct store *file; /* NULL without --memory */
    struct arena *arena;
    struct lesson *items;
    size_t nr, cap;
    struct experience *experiences; /* of earlier runs; in the arena */
    unsigned nr_experiences;
};

static bool load(struct lessons *m, struct err *err)
{
    struct lesson *stored;
    unsigned nr;

    if (!store_list_lessons(
            m->file ? m->file : m->options.store, m->arena, !m->file, &stored, &nr, err))
        return false;
    for (unsigned i = 0; i < nr; i++) {
        m->items = grow(m->items, &m->cap, m->nr + 1, sizeof(*m->items));
        m->items[m->nr++] = stored[i];
    }
    return true;
}

struct lessons *lessons_create(const struct lessons_options *options, struct err *err)
{
    struct lessons *m = xcalloc(1, sizeof(*m));

    m->options = *options;
    m->arena = arena_create();
    if (options->path)
        m->file = store_open(options->path, err);
    if ((options->path && !m->file) || !load(m, err) ||
        (m->file &&
            !store_list_experiences(m->file, m->arena, &m->experiences, &m->nr_experiences, err))) {
        err_wrap(err, "--memory");
        lessons_destroy(m);
        return NULL;
    }
    return m;
}

void lessons_destroy(struct lessons *m)
{
    if (!m)
        return;
    store_close(m->file);
    arena_destroy(m->arena);
    free(m->items);
    free(m);
}

bool lessons_note(
    struct lessons *m, const struct candidate *parent, const struct candidate *c, struct err *err)
{
    if (!m || c->recalled)
        return true;
    const bool ok = c->verdict == VERDICT_OK && c->speedup > 0 && parent->speedup > 0;
    const char *text = ok ? c->option.what : c->verdict_text;
    const struct lesson lesson = {
        .action = c->option.action,
        .proposer = c->option.proposer,
        .bound = parent->explanation.bound,
        .features = lesson_features(parent),
        .kernel = m->options.kernel,
        .device = m->options.device,
        .verdict = c->verdict,
        .gain = ok ? log2(c->speedup / parent->speedup) : 0,
        .text = arena_strdup(m->arena, text ? text : ""),
    };

    m->items = grow(m->items, &m->cap, m->nr + 1, sizeof(*m->items));
    m->items[m->nr++] = lesson;
    return store_add_lesson(m->options.store, &lesson, true, err) &&
           (!m->file || store_add_lesson(m->file, &lesson, false, err));
}

static double fit_of(const struct lessons *m, const struct lesson *l, const struct candidate *c)
{
    return lesson_fit(
        l, lesson_features(c), c->explanation.bound, m->options.kernel, m->options.device);
}

unsigned lessons_recall(
    struct lessons *m, const struct candidate *c, const struct lesson *found[LESSONS_SHOWN])
{
    double worth[LESSONS_SHOWN];
    unsigned nr = 0;

    for (size_t i = m ? m->nr : 0; i-- > 0;) { /* newest first: the newest wins among equals */
        const struct lesson *l = &m->items[i];
        const double fit = fit_of(m, l, c);
        double score = fit * (0.2 + (l->verdict == VERDICT_OK ? fabs(l->gain) : -FAILED));
        const struct lesson *in = l;

        if (fit < FIT_SHOWN)
            continue;
        for (unsigned k = 0; k < nr; k++) {
            if (score > worth[k]) {
                const struct lesson *out = found[k];
                const double out_score = worth[k];
                found[k] = in;
                worth[k] = score;
                in = out;
                score = out_score;
            }
        }
        if (nr < LESSONS_SHOWN) {
            found[nr] = in;
            worth[nr++] = score;
        }
    }
    return nr;
}

void lessons_priors(const struct lessons *m, struct candidate *c)
{
    double gain[NR_ACTIONS] = {0}, weight[NR_ACTIONS] = {0}, sum = 0;

    if (!m || c->nr_options == 0)
        return;
    for (size_t i = 0; i < m->nr; i++) {
        const struct lesson *l = &m->items[i];
        const double fit = fit_of(m, l, c);

        gain[l->action] += fit * (l->verdict == VERDICT_OK ? l->gain : FAILED);
        weight[l->action] += fit;
    }
    for (unsigned i = 0; i < c->nr_options; i++) {
        const enum action a = c->options[i].action;

        /* One lesson of doubt keeps a single experience from deciding. */
        c->options[i].prior *= (float)exp2(fmin(fmax(gain[a] / (1 + weight[a]), -1), 1));
        sum += (double)c->options[i].prior;
    }
    for (unsigned i = 0; i < c->nr_options; i++)
        c->options[i].prior = (float)((double)c->options[i].prior / sum);
}

bool lessons_conclude(struct lessons *m, const struct experience *experience, struct err *err)
{
    return !m || !m->file || store_add_experience(m->file, experience, err);
}

unsigned lessons_experiences(const struct lessons *m, const struct task *task, struct arena *arena,
    const struct experience *found[EXPERIENCES_SHOWN])
{
    const char *shape = experience_shape(arena, task);
    const double intensity = experience_intensity(task);
    double fits[EXPERIENCES_SHOWN];
    unsigned nr = 0;

    for (unsigned i = m ? m->nr_experiences : 0; i-- > 0;) { /* newest first */
        const struct experience *e = &m->experiences[i];
        const double fit = experience_fit(e, shape, intensity, m->options.device);
        unsigned at = nr;

        if (fit < EXPERIENCE_FIT)
            continue;
        while (at > 0 &&
               (fits[at - 1] < fit || (fits[at - 1] <= fit && found[at - 1]->speedup < e->speedup)))
            at--;
        if (at == EXPERIENCES_SHOWN)
            continue;
        nr += nr < EXPERIENCES_SHOWN;
        for (unsigned k = nr - 1; k > at; k--) {
            found[k] = found[k - 1];
            fits[k] = fits[k - 1];
        }
        found[at] = e;
        fits[at] = fit;
    }
    return nr;
}
