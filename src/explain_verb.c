/* Owns the explaining of profiles from elsewhere, one or many. */
#include "explain_verb.h"

#include "core/chip.h"
#include "explain/explain.h"
#include "explain/import_ncu.h"
#include "explain/plugin.h"
#include "report/report.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A kernel of a file, explained. */
struct explained {
    const char *name, *file;
    struct candidate c;
    double saving_ns; /* at most, by its first finding */
};

struct many {
    struct arena *arena;
    struct explained *all;
    unsigned nr;
    double time_ns;
};

static const struct chip *chip_of(const struct options *options)
{
    const char *key = strchr(options->device, ':');
    const struct chip *chip = key ? chip_find(key + 1) : NULL;

    return chip ? chip : chip_default();
}

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
    const struct imported_kernel *kernel, const char *file, struct err *err)
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
    e->file = file;
    *c = (struct candidate){.arena = many->arena, .parent = -1, .recalled_from = -1};
    c->profile.launches = launch;
    c->profile.configs = config;
    c->profile.nr_launches = 1;
    profile_sum(&c->profile, many->arena);
    c->profiled = true;
    if (!explain_kernel(chip_of(options), c, err)) {
        return false;
    }
    if (options->tools_dir && !run_tools(options->tools_dir, kernel->name, c, err)) {
        return false;
    }
    if (c->explanation.nr_findings > 0) {
        e->saving_ns = c->profile.time_ns * (1 - 1 / c->explanation.findings[0].max_gain);
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
            if (!explain_imported(many, options, &imports[i].kernels[k], options->paths[i], err)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- one ---- */

void explain_print(struct str *out, const char *name, const struct candidate *c, bool markdown)
{
    const struct explanation *e = &c->explanation;

    str_addf(out, markdown ? "## %s\n\n" : "%s\n", name);
    if (c->profiled && c->profile.time_ns > 0) {
        str_add(out, "time ");
        report_time(out, c->profile.time_ns);
        str_addf(out, " (%s)\n%s", provenance_name(c->profile.time_from), markdown ? "\n" : "");
    }
    str_addf(out, "%s\n%s", e->summary ? e->summary : "", markdown ? "\n" : "");
    for (unsigned i = 0; i < e->nr_findings; i++) {
        const struct finding *f = &e->findings[i];

        str_addf(out,
            markdown ? "%u. **%s** (at most %.2fx) %s\n" : "  %u. [%s, at most %.2fx] %s\n", i + 1,
            f->tool, f->max_gain, f->text);
        for (unsigned k = 0; k < f->nr_evidence; k++) {
            str_addf(out, markdown ? "   - `%s` = %.6g %s (%s)\n" : "       %s = %.6g %s (%s)\n",
                metric_name(f->evidence[k].metric), f->evidence[k].value,
                metric_unit(f->evidence[k].metric), provenance_name(f->evidence[k].from));
        }
    }
    if (e->nr_findings == 0) {
        str_add(out, "No finding.\n");
    }
    if (e->unexamined && *e->unexamined) {
        str_addf(out, "%sNot examined for lack of metrics: %s.\n", markdown ? "\n" : "  ",
            e->unexamined);
    }
}

/* ---- two versions ---- */

static void print_change(struct str *out, const struct many *many, bool markdown)
{
    const struct explained *a = &many->all[0], *b = &many->all[1];
    const struct counters *before = &a->c.profile.total, *after = &b->c.profile.total;

    if (a->c.profile.time_ns > 0 && b->c.profile.time_ns > 0) {
        str_addf(out, "%s%s against %s: %.2fx\n\n", markdown ? "# " : "", b->file, a->file,
            a->c.profile.time_ns / b->c.profile.time_ns);
    }
    str_add(out, markdown ? "| metric | before | after | change |\n|---|---|---|---|\n" : "");
    for (int m = 0; m < NR_METRICS; m++) {
        double x = counters_get(before, (enum metric)m), y = counters_get(after, (enum metric)m);

        if (!counters_has(before, (enum metric)m) || !counters_has(after, (enum metric)m) ||
            fabs(x - y) <= 0.02 * fmax(fabs(x), fabs(y))) {
            continue;
        }
        str_addf(out,
            markdown ? "| `%s` | %.6g | %.6g | %+.0f%% |\n" : "  %-72s %12.6g %12.6g %+6.0f%%\n",
            metric_name((enum metric)m), x, y, x != 0 ? 100 * (y / x - 1) : 100);
    }
    str_add_char(out, '\n');
    explain_print(out, "Before", &a->c, markdown);
    str_add_char(out, '\n');
    explain_print(out, "After", &b->c, markdown);
}

/* ---- many kernels ---- */

static const char *bottleneck(const struct explained *e)
{
    const struct explanation *found = &e->c.explanation;

    if (found->nr_findings > 0) {
        return found->findings[0].tool;
    }
    return found->unexamined && *found->unexamined ? "too few metrics" : "none";
}

static int by_saving(const void *a, const void *b)
{
    const struct explained *x = a, *y = b;

    if (x->saving_ns != y->saving_ns) {
        return x->saving_ns > y->saving_ns ? -1 : 1;
    }
    return strcmp(x->name, y->name);
}

static void print_clusters(struct str *out, const struct many *many, bool markdown)
{
    str_add(out, markdown ? "\n| bottleneck | kernels | saves at most |\n|---|---|---|\n"
                          : "\n  bottleneck                kernels   saves at most\n");
    for (unsigned i = 0; i < many->nr; i++) {
        double saving = 0;
        unsigned nr = 0;
        bool seen = false;

        for (unsigned k = 0; k < many->nr; k++) {
            bool same = strcmp(bottleneck(&many->all[i]), bottleneck(&many->all[k])) == 0;

            seen = seen || (same && k < i);
            nr += same;
            saving += same ? many->all[k].saving_ns : 0;
        }
        if (!seen) {
            str_addf(out, markdown ? "| %s | %u | %.1f%% |\n" : "  %-24s %8u %14.1f%%\n",
                bottleneck(&many->all[i]), nr,
                many->time_ns > 0 ? 100 * saving / many->time_ns : 0);
        }
    }
}

static void print_many(struct str *out, struct many *many, bool markdown)
{
    qsort(many->all, many->nr, sizeof(many->all[0]), by_saving);
    str_addf(out, "%u kernels, ", many->nr);
    report_time(out, many->time_ns);
    str_add(out,
        markdown ? "\n\n| kernel | of the time | bottleneck | saves at most |\n|---|---|---|---|\n"
                 : "\n  of the time  saves at most  bottleneck               kernel\n");
    for (unsigned i = 0; i < many->nr; i++) {
        const struct explained *e = &many->all[i];
        double time = many->time_ns > 0 ? 100 * e->c.profile.time_ns / many->time_ns : 0;
        double saving = many->time_ns > 0 ? 100 * e->saving_ns / many->time_ns : 0;

        if (markdown) {
            str_addf(
                out, "| `%s` | %.1f%% | %s | %.1f%% |\n", e->name, time, bottleneck(e), saving);
        } else {
            str_addf(
                out, "  %10.1f%%  %12.1f%%  %-23s  %.60s\n", time, saving, bottleneck(e), e->name);
        }
    }
    print_clusters(out, many, markdown);
    for (unsigned i = 0; i < many->nr && i < 3; i++) {
        str_add_char(out, '\n');
        explain_print(out, many->all[i].name, &many->all[i].c, markdown);
    }
}

/* ---- for programs ---- */

static void print_json(struct str *out, const struct many *many)
{
    json_t *all = json_array();
    char *text;

    for (unsigned i = 0; i < many->nr; i++) {
        const struct explained *e = &many->all[i];
        json_t *findings = json_array();

        for (unsigned k = 0; k < e->c.explanation.nr_findings; k++) {
            const struct finding *f = &e->c.explanation.findings[k];

            json_array_append_new(
                findings, json_pack("{s:s, s:I, s:f, s:s}", "tool", f->tool, "line",
                              (json_int_t)f->line, "max_gain", f->max_gain, "text", f->text));
        }
        json_array_append_new(
            all, json_pack("{s:s, s:s, s:f, s:f, s:s, s:s, s:o}", "kernel", e->name, "file",
                     e->file, "time_ns", e->c.profile.time_ns, "saving_ns", e->saving_ns, "summary",
                     e->c.explanation.summary, "unexamined", e->c.explanation.unexamined,
                     "findings", findings));
    }
    text = json_dumps(all, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    str_addf(out, "%s\n", text ? text : "null");
    free(text);
    json_decref(all);
}

bool explain_profiles(const struct options *options, struct err *err)
{
    struct many many = {.arena = arena_create()};
    struct str out = {0};
    bool ok = read_all(&many, options, err);

    if (ok) {
        if (options->json) {
            print_json(&out, &many);
        } else if (many.nr == 1) {
            explain_print(&out, many.all[0].name, &many.all[0].c, options->markdown);
        } else if (many.nr == 2 && options->nr_paths == 2) {
            print_change(&out, &many, options->markdown);
        } else {
            print_many(&out, &many, options->markdown);
        }
        fputs(str_text(&out), stdout);
    }
    str_finish(&out);
    arena_destroy(many.arena);
    return ok;
}
