/* Owns what `keet-opt optimize-program` says at its end. */
#include "cli/whole_program.h"

#include "base/str.h"
#include "report/json_text.h"
#include "report/report.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const char *const fates[] = {
    [FATE_SMALL] = "not searched",
    [FATE_NO_TASK] = "no task",
    [FATE_NO_GAIN] = "no gain",
    [FATE_REFUSED] = "refused",
    [FATE_TAKEN] = "taken",
};

static const char *time_text(struct arena *arena, double ns)
{
    struct str text = {0};
    const char *kept;

    report_time(&text, ns);
    kept = arena_strdup(arena, str_text(&text));
    str_finish(&text);
    return kept;
}

/* What part of the kernels' time the kernels are that were changed. */
static double changed_share(const struct whole_program *w)
{
    double ns = 0;

    for (unsigned i = 0; i < w->nr_kernels; i++)
        if (w->kernels[i].fate == FATE_TAKEN)
            ns += w->kernels[i].facts->time_ns;
    return w->original.all.time_ns > 0 ? ns / w->original.all.time_ns : 0;
}

static void show_kernels(const struct whole_program *w)
{
    printf("%7s %10s %10s %12s  %s\n", "share", "before", "after", "", "kernel");
    for (unsigned i = 0; i < w->nr_kernels; i++) {
        const struct whole_kernel *k = &w->kernels[i];
        const double all = w->original.all.time_ns;

        printf("%6.1f%% %10s %10s %12s  %s%s%s%s\n", all > 0 ? 100 * k->facts->time_ns / all : 0,
            time_text(w->arena, k->facts->time_ns),
            k->after_ns > 0 ? time_text(w->arena, k->after_ns) : "-", fates[k->fate],
            k->facts->name, k->source != NULL ? " (" : "", k->source != NULL ? k->source : "",
            k->source != NULL ? ")" : "");
        if (k->why != NULL)
            printf("%*s%s\n", 44, "", k->why);
    }
}

static void show_same(const struct whole_program *w)
{
    const struct program_comparison *c = &w->same;

    printf("The rebuilt program ends with the same status and says the same: %u lines with %u "
           "numbers,\n%u file%s that it wrote",
        c->nr_lines, c->nr_numbers, c->nr_files - 1, c->nr_files == 2 ? "" : "s");
    if (c->nr_masked > 0)
        printf("; %u numbers were not compared: times, and what differs by itself", c->nr_masked);
    puts(".");
    if (c->nr_lines == 0)
        puts("It says nothing, so that its status is all that speaks for it.");
}

void program_show(const struct whole_program *w)
{
    const double before = w->original.all.time_ns, after = w->accepted.all.time_ns;
    const double share = changed_share(w);

    show_kernels(w);
    putchar('\n');
    if (w->accepted.name == NULL) {
        puts("The program stays as it is.");
    } else {
        show_same(w);
        printf("All kernels together: %s -> %s, %.2fx (modelled). The kernels that changed were "
               "%.0f%% of that\ntime",
            time_text(w->arena, before), time_text(w->arena, after), before / after, 100 * share);
        if (share < 0.9995)
            printf(": in no time at all they would make it %.2fx", 1 / (1 - share));
        puts(". Host code and copies are not in these times.");
        printf("\n  %s/   the patched sources, built\n  %s   the same as a diff, for patch -p0 in "
               "%s\n",
            w->accepted.folder, w->patch_path, w->tree);
        if (w->in_place)
            puts("  your own files have it, too: build them again");
    }
    printf("  %s/ has everything else\n", w->work);
}

static json_t *kernel_json(const struct whole_program *w, const struct whole_kernel *k)
{
    json_t *files = json_array();
    const double all = w->original.all.time_ns;

    for (unsigned i = 0; i < k->nr_files; i++)
        json_array_append_new(files, json_any_text(k->files[i].name));
    return json_pack("{sssssIsfsfsfsosssosososo}", "kernel", k->facts->name, "symbol",
        k->facts->symbol, "launches", (json_int_t)k->facts->nr_launches, "share",
        all > 0 ? k->facts->time_ns / all : 0, "before_ns", k->facts->time_ns, "floor_ns",
        k->facts->floor_ns, "after_ns", k->after_ns > 0 ? json_real(k->after_ns) : json_null(),
        "fate", fates[k->fate], "why", json_any_text(k->why), "source", json_any_text(k->source),
        "task", json_any_text(k->task.path), "files", files);
}

static json_t *same_json(const struct whole_program *w)
{
    const struct program_comparison *c = &w->same;

    if (w->accepted.name == NULL)
        return json_null();
    return json_pack("{sisisisi}", "lines", (int)c->nr_lines, "numbers", (int)c->nr_numbers,
        "not_compared", (int)c->nr_masked, "files", (int)c->nr_files - 1);
}

void program_show_json(const struct whole_program *w)
{
    const bool accepted = w->accepted.name != NULL;
    const double before = w->original.all.time_ns, after = w->accepted.all.time_ns;
    json_t *kernels = json_array(), *all;
    struct str text = {0};

    for (unsigned i = 0; i < w->nr_kernels; i++)
        json_array_append_new(kernels, kernel_json(w, &w->kernels[i]));
    all = json_pack("{sosssosfsosososfsosbso}", "folder", json_any_text(w->work), "times",
        "modelled", "accepted", json_any_text(w->accepted.folder), "before_ns", before, "after_ns",
        accepted ? json_real(after) : json_null(), "speedup",
        accepted ? json_real(before / after) : json_null(), "compared", same_json(w),
        "changed_share", changed_share(w), "patch", json_any_text(w->patch_path), "in_place",
        w->in_place, "kernels", kernels);
    json_add(&text, all, JSON_INDENT(1));
    fputs(str_text(&text), stdout);
    str_finish(&text);
}
