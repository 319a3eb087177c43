/* Owns `keet-opt explain`: chooses the view, and explains profiles of Nsight Compute (CSV or
 * reports). For one kernel the view is its explanation. Two files are two versions: the view shows
 * what changed, and which change paid. Three or more files of one kernel whose names differ in a
 * number, or --sweep NAME, give the view of the kernel over that parameter. All other profiles are
 * an application's kernels. */
#include "base/str.h"
#include "cli/commands.h"
#include "cli/explain_kernels.h"
#include "core/chip.h"
#include "explain/explain.h"
#include "explain/import_ncu.h"
#include "explain/plugin.h"
#include "explain/views/views.h"

#include <stdio.h>
#include <string.h>

/* The user's own tools, without source and PTX. */
static bool run_tools(const char *folder, const char *kernel, struct candidate *c, struct err *err)
{
    struct str notes = {0};
    bool ok = plugins_run(folder, c, &notes, err);

    if (notes.len > 0) {
        fprintf(stderr, "%.80s: %s", kernel, str_text(&notes));
    }
    str_finish(&notes);
    return ok;
}

static bool explain_imported(struct many *many, const struct options *options,
    const struct imported_kernel *kernel, unsigned file, struct err *err)
{
    struct explained *e = &many->all[many->nr++];
    struct launch_config *config = arena_alloc(many->arena, sizeof(*config));
    struct counters *launch = arena_alloc(many->arena, sizeof(*launch));
    struct candidate *c = &e->c;

    config->kernel = kernel->name;
    for (int d = 0; d < 3; d++) {
        config->grid[d] = kernel->grid[d];
        config->block[d] = kernel->block[d];
        config->cluster[d] = 1;
    }
    *launch = kernel->counters;
    e->name = kernel->name;
    e->file = options->paths[file];
    e->file_number = file;
    candidate_init(c, many->arena, NULL);
    c->profile.launches = launch;
    c->profile.configs = config;
    c->profile.nr_launches = 1;
    profile_sum(&c->profile, many->arena);
    c->profiled = true;
    if (!explain_kernel(many->chip, c, err)) {
        return false;
    }
    if (options->tools_dir && !run_tools(options->tools_dir, kernel->name, c, err)) {
        return false;
    }
    if (c->explanation.nr_findings > 0) {
        e->saving_ns = c->profile.time_ns * (1 - 1 / finding_expected(&c->explanation.findings[0]));
    }
    many->time_ns += c->profile.time_ns;
    return true;
}

static bool read_all(struct many *many, const struct options *options, struct err *err)
{
    struct import *imports = arena_array(many->arena, options->nr_paths, sizeof(*imports));
    unsigned nr = 0;

    for (unsigned i = 0; i < options->nr_paths; i++) {
        if (!import_ncu_file(&imports[i], many->arena, options->paths[i], err)) {
            return false;
        }
        nr += imports[i].nr_kernels;
    }
    many->all = arena_array(many->arena, nr, sizeof(*many->all));
    for (unsigned i = 0; i < options->nr_paths; i++) {
        for (unsigned k = 0; k < imports[i].nr_kernels; k++) {
            if (!explain_imported(many, options, &imports[i].kernels[k], i, err)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- which view ---- */

/* *a: the longest launch of the first file. *b: the longest launch of the same kernel in the second
 * file, or of any kernel when the second file does not have that kernel. */
static bool find_versions(
    const struct many *many, const struct explained **a, const struct explained **b)
{
    *a = *b = NULL;
    for (unsigned i = 0; i < many->nr; i++) {
        const struct explained *e = &many->all[i];

        if (e->file_number == 0 && (!*a || e->c.profile.time_ns > (*a)->c.profile.time_ns)) {
            *a = e;
        }
    }
    for (unsigned i = 0; *a && i < many->nr; i++) {
        const struct explained *e = &many->all[i];
        bool same = strcmp(e->name, (*a)->name) == 0;
        bool better = *b && strcmp((*b)->name, (*a)->name) == 0;

        if (e->file_number == 1 &&
            (!*b || same > better ||
                (same == better && e->c.profile.time_ns > (*b)->c.profile.time_ns))) {
            *b = e;
        }
    }
    return *a && *b;
}

static bool choose_view(
    struct many *many, const struct options *options, struct view *view, struct err *err)
{
    const struct explained *a, *b;

    *view = (struct view){.kind = VIEW_APP, .parameter = ""};
    if (options->sweep || options->nr_paths > 2) {
        if (view_sweep_read(many, options->sweep, &view->parameter)) {
            view->kind = VIEW_SWEEP;
            return true;
        }
        return !options->sweep ||
               err_set(err,
                   "--sweep %s: expected three or more profiles of one kernel with its value in "
                   "their names, as in gemm_%s256.csv (or `grid`, `block` of several launches)",
                   options->sweep, options->sweep);
    }
    if (many->nr == 1) {
        view->kind = VIEW_ONE;
    } else if (options->nr_paths == 2 && find_versions(many, &a, &b)) {
        view->kind = VIEW_CHANGE;
        view->changes = view_changes(many->chip, a, b);
    }
    return true;
}

static bool explain_profiles(const struct options *options, struct err *err)
{
    struct many many = {
        .arena = arena_create(), .chip = chip_default(), .verbose = options->verbosity > 0};
    struct view view;
    bool ok = true;

    if (str_starts(options->device, "emu:"))
        ok = (many.chip = chip_open(options->device + strlen("emu:"), err)) != NULL;
    ok = ok && read_all(&many, options, err) && choose_view(&many, options, &view, err);

    if (ok) {
        view_show(&many, &view, options->json, options->markdown);
    }
    arena_destroy(many.arena);
    return ok;
}

/* One kernel file goes to cmd_run, which prints more for `explain`. */
bool cmd_explain(const struct options *options, int *status, struct err *err)
{
    const char *path = options->kernel_path;

    if (str_ends(path, ".csv") || str_ends(path, ".ncu-rep"))
        return explain_profiles(options, err);
    if (options->nr_paths == 1 && !options->sweep)
        return cmd_run(options, status, err);
    if (explain_kernels(options, err))
        return true;
    *status = err->original ? EXIT_KERNEL : EXIT_FAILED;
    return false;
}
