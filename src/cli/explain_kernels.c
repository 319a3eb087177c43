/* Owns the profiling of several kernel files, or of one over a size or tuning parameter, for the
 * views of explain. */
#include "cli/explain_kernels.h"

#include "cli/commands.h"
#include "cli/load_task.h"
#include "cli/parts.h"
#include "explain/views/views.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 64 };

struct parts {
    const struct options *options;
    struct workbench *bench;
};

/* Check and profile are the same as in a search: a version that computes something else has no
 * place in a comparison. */
static bool profile_one(
    struct parts *p, struct many *many, const struct task *task, struct err *err)
{
    struct explained *e = &many->all[many->nr];
    struct candidate *c = &e->c;
    bool ok;

    candidate_begin(c, many->arena, task, p->options->seed);
    ok = workbench_evaluate(p->bench, task, c, err);
    if (ok && c->verdict != VERDICT_OK)
        ok = err_original(err, "%s: %s: %s", e->file, verdict_name(c->verdict),
            c->verdict_text ? c->verdict_text : "");
    if (!ok)
        return false;
    e->name = task->plan.launches[0].kernel;
    if (c->explanation.nr_findings > 0)
        e->saving_ns = c->profile.time_ns * (1 - 1 / finding_expected(&c->explanation.findings[0]));
    many->time_ns += c->profile.time_ns;
    many->nr++;
    return true;
}

/* ---- two files ---- */

static bool profile_files(struct parts *p, struct many *many, struct err *err)
{
    const unsigned nr = p->options->nr_paths;
    struct task *tasks = arena_array(many->arena, nr, sizeof(*tasks));
    bool ok = true;

    many->all = arena_array(many->arena, nr, sizeof(*many->all));
    for (unsigned i = 0; ok && i < nr; i++) {
        struct options one = *p->options;

        one.kernel_path = p->options->paths[i];
        many->all[i] = (struct explained){.file = one.kernel_path, .file_number = i};
        ok = load_task(&tasks[i], many->arena, &one, err);
    }
    command_ends_neatly();
    for (unsigned i = 0; ok && i < nr; i++)
        ok = profile_one(p, many, &tasks[i], err);
    return ok;
}

/* ---- one file over a parameter ---- */

static bool profile_at(struct parts *p, struct many *many, const struct task *base,
    const char *name, const char *value, struct err *err)
{
    struct task *task = arena_alloc(many->arena, sizeof(*task));
    const char *source = task_with_value(many->arena, base->source, name, value);

    if (!source)
        return err_set(err, "--sweep %s: %s has no `size %s = ...` and no `tune %s = ...`", name,
            base->path, name, name);
    many->all[many->nr] = (struct explained){
        .file = arena_printf(many->arena, "%s, %s = %s", base->path, name, value),
        .file_number = many->nr,
        .x = strtod(value, NULL)};
    return task_parse(task, many->arena, base->path, source, strlen(source), err) &&
           profile_one(p, many, task, err);
}

/* --sweep N=256,512,1024 */
static bool profile_sweep(struct parts *p, struct many *many, const char **name, struct err *err)
{
    const char *spec = p->options->sweep, *at = strchr(spec, '=');
    struct task *base = arena_alloc(many->arena, sizeof(*base));

    if (!at || at == spec)
        return err_set(err, "--sweep %s: expected NAME=VALUE,VALUE,... for a kernel", spec);
    *name = arena_strndup(many->arena, spec, (size_t)(at - spec));
    many->all = arena_array(many->arena, MAX_VALUES, sizeof(*many->all));
    if (!load_task(base, many->arena, p->options, err))
        return false;
    command_ends_neatly();
    while (*at) {
        const size_t len = strcspn(at + 1, ",");
        const char *value = arena_strndup(many->arena, at + 1, len);

        if (len == 0 || strspn(value, "0123456789") != len || many->nr == MAX_VALUES)
            return err_set(err, "--sweep %s: expected up to %d whole numbers after the =", spec,
                (int)MAX_VALUES);
        if (!profile_at(p, many, base, *name, value, err))
            return false;
        at += 1 + len;
    }
    if (many->nr < 3)
        return err_set(err, "--sweep %s: expected at least three values", spec);
    view_sweep_sort(many);
    return true;
}

bool explain_kernels(const struct options *options, struct err *err)
{
    struct parts parts = {.options = options};
    struct many many = {.arena = arena_create(), .verbose = options->verbosity > 0};
    struct view view = {.kind = VIEW_SWEEP, .parameter = ""};
    struct workbench_options bench = options_bench(options);
    bool ok;

    bench.gpus = NULL;
    bench.energy = false;
    parts.bench = workbench_open(&bench, err);
    ok = parts.bench != NULL;
    many.chip = ok ? workbench_chip(parts.bench) : NULL;
    if (ok && options->sweep) {
        ok = profile_sweep(&parts, &many, &view.parameter, err);
    } else if (ok) {
        ok = profile_files(&parts, &many, err);
        view.kind = VIEW_CHANGE;
        if (ok)
            view.changes = view_changes(many.chip, &many.all[0], &many.all[1]);
    }
    if (ok)
        view_show(&many, &view, options->json, options->markdown);
    workbench_close(parts.bench);
    arena_destroy(many.arena);
    return ok;
}
