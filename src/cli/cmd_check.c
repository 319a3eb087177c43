/* Owns `keet-opt check`: many candidates against one original. */
#include "base/file.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/load_task.h"
#include "cli/look.h"
#include "cli/parts.h"
#include "report/json_text.h"
#include "run/grade.h"

#include <stdlib.h>
#include <string.h>

enum { LIST_MAX_BYTES = 16 << 20 };

/* The candidates on the command line, then those of --list, a path a line. */
static bool list_paths(const struct options *o, struct arena *arena, struct grade **grades,
    unsigned *nr, struct err *err)
{
    char *text = NULL;
    size_t bytes = 0, lines = 0;

    if (o->list_path && !file_read(o->list_path, LIST_MAX_BYTES, &text, &bytes, err))
        return false;
    for (size_t i = 0; i < bytes; i++)
        lines += text[i] == '\n';
    *grades = arena_array(arena, o->nr_paths + lines + 2, sizeof(**grades));
    *nr = 0;
    for (unsigned i = 1; i < o->nr_paths; i++)
        (*grades)[(*nr)++].path = o->paths[i];
    for (size_t at = 0; at < bytes;) {
        const size_t len = strcspn(text + at, "\n");

        if (len > 0 && text[at] != '#')
            (*grades)[(*nr)++].path = arena_strndup(arena, text + at, len);
        at += len + 1;
    }
    free(text);
    return *nr > 0 || err_set(err, "no candidates: name files behind the original, or --list FILE");
}

/* A candidate may be a program, as the original may: its kernels and launches are read from it.
 * Where that fails, the file is compiled as it is; the reasons, NULL where there is none, are kept
 * for a candidate that is not right then. */
static const char **read_programs(
    const struct options *o, struct arena *arena, struct grade *grades, unsigned nr)
{
    const char **reasons = arena_array(arena, nr, sizeof(*reasons));

    for (unsigned i = 0; i < nr; i++) {
        struct options one = *o;
        struct err why;
        size_t bytes;

        one.kernel_path = grades[i].path;
        one.verbosity = -1;
        reasons[i] = NULL;
        if (load_source(&grades[i].source, &bytes, arena, &one, &why))
            continue;
        grades[i].source = NULL;
        reasons[i] = arena_strdup(arena, why.text);
    }
    return reasons;
}

static void print_json(struct str *out, const struct options *o, const struct grade *grades,
    unsigned nr, unsigned nr_right)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < nr; i++) {
        const struct grade *g = &grades[i];

        json_array_append_new(list,
            json_pack("{s:s, s:s, s:o, s:i, s:o, s:i, s:i, s:f, s:f, s:f, s:o, s:I, s:f, s:f}",
                "file", g->path, "verdict", verdict_name(g->verdict), "reason",
                json_text_or_null(g->text), "line", (int)g->line, "compared",
                json_text_or_null(g->compared), "runs", (int)g->nr_runs, "sizes", (int)g->nr_shapes,
                "error_of_allowed", g->share < 1e300 ? g->share : 1e300, "max_abs",
                g->max_abs < 1e300 ? g->max_abs : 1e300, "max_rel", g->max_rel, "worst_array",
                json_text_or_null(g->worst_array), "worst_index", (json_int_t)g->worst_index,
                "seconds", g->seconds, "timed_seconds", g->timed_seconds));
    }
    json_add(out,
        json_pack("{s:s, s:i, s:i, s:o}", "original", o->kernel_path, "right", (int)nr_right,
            "wrong", (int)(nr - nr_right), "candidates", list),
        JSON_INDENT(1) | JSON_REAL_PRECISION(6));
}

static void print_text(
    struct str *out, const struct options *o, const struct grade *grades, unsigned nr)
{
    for (unsigned i = 0; i < nr; i++) {
        const struct grade *g = &grades[i];

        str_addf(out, "%-13s %s", verdict_name(g->verdict), g->path);
        if (g->verdict != VERDICT_OK) {
            str_addf(out, "\n              %s\n", g->text ? g->text : "");
            continue;
        }
        str_addf(out, "  (%.3g s)\n", g->seconds);
        if (o->verbosity < 0)
            continue;
        if (g->compared)
            str_addf(out, "              %s\n", g->compared);
    }
}

bool cmd_check(const struct options *o, int *status, struct err *err)
{
    struct workbench_options bench_options = options_bench(o);
    struct arena *arena = arena_create();
    struct workbench *bench = NULL;
    const char **reasons = NULL;
    struct grade *grades;
    struct task task;
    struct str out = {0};
    unsigned nr = 0, nr_right = 0;
    bool ok;

    bench_options.gpus = NULL;
    ok = list_paths(o, arena, &grades, &nr, err);
    if (ok && nr > 1 && !o->nr_threads) /* the processes have a core each */
        bench_options.device.nr_threads = 1;
    ok = ok && load_task(&task, arena, o, err);
    if (ok)
        reasons = read_programs(o, arena, grades, nr);
    command_ends_neatly();
    ok = ok && (bench = workbench_open(&bench_options, err)) != NULL &&
         grade_all(bench, &task, o->seed, 0, grades, nr, arena, err);
    for (unsigned i = 0; ok && i < nr; i++) {
        nr_right += grades[i].verdict == VERDICT_OK;
        if (grades[i].verdict != VERDICT_OK && reasons[i])
            grades[i].text = arena_printf(arena, "%s; read as a program: %s",
                grades[i].text ? grades[i].text : "", reasons[i]);
    }
    if (ok && o->json)
        print_json(&out, o, grades, nr, nr_right);
    else if (ok)
        print_text(&out, o, grades, nr);
    if (ok && !o->json && nr > 1)
        str_addf(&out, "%u of %u right\n", nr_right, nr);
    if (ok)
        look_print(str_text(&out));
    if (ok && nr_right < nr)
        *status = EXIT_KERNEL;
    str_finish(&out);
    workbench_close(bench);
    arena_destroy(arena);
    return ok;
}
