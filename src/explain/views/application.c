/* Owns the view of an application's kernels: all launches of a kernel in one row, kernels with
 * their time and possible saving, and bottlenecks with the kernels that they hold back. */
#include "explain/views/views.h"

#include "report/report.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 25, EXPLAINED = 3 };

/* A launch that is shorter than this many launch overheads is mostly overhead. */
static const double TINY = 3;

/* All launches of one kernel with one bottleneck, or all kernels with one bottleneck. */
struct group {
    const char *name;
    const struct explained *longest;
    unsigned nr_launches, nr_kernels;
    double time_ns, saving_ns;
};

struct app {
    struct group *kernels, *clusters;
    unsigned nr_kernels, nr_clusters, nr_tiny;
    double tiny_ns, overhead_ns; /* time in tiny launches; cost of starting these */
};

static int by_name(const void *a, const void *b)
{
    const struct explained *const *x = a, *const *y = b;
    const int order = strcmp((*x)->name, (*y)->name);

    return order ? order : (*x > *y) - (*x < *y);
}

static int by_saving(const void *a, const void *b)
{
    const struct group *x = a, *y = b;

    if (x->saving_ns != y->saving_ns)
        return x->saving_ns > y->saving_ns ? -1 : 1;
    if (x->time_ns != y->time_ns)
        return x->time_ns > y->time_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int by_bottleneck(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    const int order = strcmp(view_bottleneck(x->longest), view_bottleneck(y->longest));

    return order ? order : by_saving(a, b);
}

static void group_launches(const struct many *many, struct app *app)
{
    const struct explained **sorted = arena_array(many->arena, many->nr + 1, sizeof(*sorted));

    for (unsigned i = 0; i < many->nr; i++)
        sorted[i] = &many->all[i];
    qsort(sorted, many->nr, sizeof(*sorted), by_name);
    app->kernels = arena_array(many->arena, many->nr + 1, sizeof(*app->kernels));
    for (unsigned i = 0; i < many->nr; i++) {
        const struct explained *e = sorted[i];
        struct group *g = &app->kernels[app->nr_kernels];
        const double tiny_ns = TINY * many->chip->launch_overhead_ns;

        if (app->nr_kernels > 0 && strcmp(g[-1].name, e->name) == 0)
            g--;
        else
            *g = (struct group){.name = e->name, .longest = e, .nr_kernels = 1};
        app->nr_kernels = (unsigned)(g - app->kernels) + 1;
        g->nr_launches++;
        g->time_ns += e->c.profile.time_ns;
        g->saving_ns += e->saving_ns;
        if (e->c.profile.time_ns > g->longest->c.profile.time_ns)
            g->longest = e;
        if (e->c.profile.time_ns > 0 && e->c.profile.time_ns < tiny_ns) {
            app->nr_tiny++;
            app->tiny_ns += e->c.profile.time_ns;
        }
    }
    app->overhead_ns = app->nr_tiny * many->chip->launch_overhead_ns;
}

static void cluster(const struct many *many, struct app *app)
{
    struct group *sorted = arena_array(many->arena, app->nr_kernels + 1, sizeof(*sorted));

    memcpy(sorted, app->kernels, app->nr_kernels * sizeof(*sorted));
    qsort(sorted, app->nr_kernels, sizeof(*sorted), by_bottleneck);
    app->clusters = arena_array(many->arena, app->nr_kernels + 1, sizeof(*sorted));
    for (unsigned i = 0; i < app->nr_kernels; i++) {
        const char *name = view_bottleneck(sorted[i].longest);
        struct group *g = &app->clusters[app->nr_clusters];

        if (app->nr_clusters > 0 && strcmp(g[-1].name, name) == 0)
            g--;
        else
            *g = (struct group){.name = name, .longest = sorted[i].longest};
        app->nr_clusters = (unsigned)(g - app->clusters) + 1;
        g->nr_kernels++;
        g->nr_launches += sorted[i].nr_launches;
        g->time_ns += sorted[i].time_ns;
        g->saving_ns += sorted[i].saving_ns;
    }
    qsort(app->clusters, app->nr_clusters, sizeof(*sorted), by_saving);
}

static struct app read_app(const struct many *many)
{
    struct app app = {0};

    group_launches(many, &app);
    qsort(app.kernels, app.nr_kernels, sizeof(*app.kernels), by_saving);
    cluster(many, &app);
    return app;
}

static double percent(double part, double all)
{
    return all > 0 ? 100 * part / all : 0;
}

static void print_kernels(
    struct str *out, const struct many *many, const struct app *app, bool markdown)
{
    double time = 0, saving = 0;

    str_add(out, markdown
                     ? "\n| kernel | launches | of the time | bottleneck | may save |\n"
                       "|---|---|---|---|---|\n"
                     : "  of the time       may save  launches  bottleneck               kernel\n");
    for (unsigned i = 0; i < app->nr_kernels; i++) {
        const struct group *g = &app->kernels[i];

        if (i >= ROWS) {
            time += g->time_ns;
            saving += g->saving_ns;
            continue;
        }
        if (markdown)
            str_addf(out, "| `%s` | %u | %.1f%% | %s | %.1f%% |\n", g->name, g->nr_launches,
                percent(g->time_ns, many->time_ns), view_bottleneck(g->longest),
                percent(g->saving_ns, many->time_ns));
        else
            str_addf(out, "  %10.1f%%  %12.1f%%  %8u  %-23s  %.60s\n",
                percent(g->time_ns, many->time_ns), percent(g->saving_ns, many->time_ns),
                g->nr_launches, view_bottleneck(g->longest), g->name);
    }
    if (app->nr_kernels > ROWS)
        str_addf(out,
            markdown ? "\n%u more kernels: %.1f%% of the time, %.1f%% that may be saved.\n"
                     : "  and %u more: %.1f%% of the time, %.1f%% that may be saved\n",
            app->nr_kernels - ROWS, percent(time, many->time_ns), percent(saving, many->time_ns));
}

static void print_clusters(
    struct str *out, const struct many *many, const struct app *app, bool markdown)
{
    str_add(out,
        markdown ? "\n| bottleneck | kernels | launches | of the time | may save |\n"
                   "|---|---|---|---|---|\n"
                 : "\n  bottleneck                kernels  launches  of the time       may save\n");
    for (unsigned i = 0; i < app->nr_clusters; i++) {
        const struct group *g = &app->clusters[i];

        str_addf(out,
            markdown ? "| %s | %u | %u | %.1f%% | %.1f%% |\n"
                     : "  %-24s %8u  %8u  %10.1f%%  %12.1f%%\n",
            g->name, g->nr_kernels, g->nr_launches, percent(g->time_ns, many->time_ns),
            percent(g->saving_ns, many->time_ns));
    }
}

/* Prints the facts that no single kernel shows. */
static void print_system(struct str *out, const struct many *many, const struct app *app)
{
    if (app->nr_tiny < 8 || app->overhead_ns < 0.05 * many->time_ns)
        return;
    str_addf(out, "\n%u of %u launches are shorter than ", app->nr_tiny, many->nr);
    report_time(out, TINY * many->chip->launch_overhead_ns);
    str_addf(out, ": %.1f%% of the time is in them, and starting them costs about ",
        percent(app->tiny_ns, many->time_ns));
    report_time(out, app->overhead_ns);
    str_add(out, " more where nothing else runs (modelled). Fuse them, let one launch loop, or "
                 "record them as a CUDA graph.\n");
}

void view_app_print(struct str *out, struct many *many, bool markdown)
{
    const struct app app = read_app(many);

    str_addf(out, "%s%u launches of %u kernels, ", markdown ? "# " : "", many->nr, app.nr_kernels);
    report_time(out, many->time_ns);
    str_add_char(out, '\n');
    print_kernels(out, many, &app, markdown);
    print_clusters(out, many, &app, markdown);
    print_system(out, many, &app);
    for (unsigned i = 0; i < app.nr_kernels && i < EXPLAINED; i++) {
        str_add_char(out, '\n');
        view_one_print(out, app.kernels[i].name, many->chip, &app.kernels[i].longest->c, markdown,
            many->verbose);
    }
}

static json_t *group_json(const struct group *g, const char *key)
{
    return json_pack("{s:s, s:s, s:i, s:i, s:f, s:f}", key, g->name, "bottleneck",
        view_bottleneck(g->longest), "kernels", (int)g->nr_kernels, "launches", (int)g->nr_launches,
        "time_ns", g->time_ns, "saving_ns", g->saving_ns);
}

json_t *view_app_json(struct many *many)
{
    const struct app app = read_app(many);
    json_t *kernels = json_array(), *clusters = json_array();

    for (unsigned i = 0; i < app.nr_kernels; i++)
        json_array_append_new(kernels, group_json(&app.kernels[i], "kernel"));
    for (unsigned i = 0; i < app.nr_clusters; i++)
        json_array_append_new(clusters, group_json(&app.clusters[i], "cluster"));
    return json_pack("{s:f, s:i, s:f, s:o, s:o}", "time_ns", many->time_ns, "tiny_launches",
        (int)app.nr_tiny, "tiny_ns", app.tiny_ns, "by_kernel", kernels, "by_bottleneck", clusters);
}
