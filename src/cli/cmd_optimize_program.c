/* Owns `keet-opt optimize-program`: the order of its steps, and which winners stay. */
#include "cli/commands.h"
#include "cli/whole_program.h"

#include "base/file.h"
#include "report/report.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char mark[] = ".keet-opt"; /* in a folder that we made */

void whole_tell(const struct whole_program *w, const char *format, ...)
{
    va_list ap;

    if (w->options->verbosity < 0)
        return;
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
}

/* --- before the first step --- */

/* The folder of the results is ours or empty. */
static bool open_folder(struct whole_program *w, struct err *err)
{
    const char *name = w->options->output_path != NULL
                           ? w->options->output_path
                           : arena_printf(w->arena, "%s.optimized", file_name(w->argv[0]));
    const char *note = arena_printf(w->arena, "%s/%s", name, mark);
    char path[PATH_MAX];

    if (file_exists(name) && !file_exists(note) && rmdir(name) != 0)
        return err_set(err,
            "%s is there, and optimize-program did not make it: move it away, or name another "
            "folder with -o",
            name);
    if (!file_mkdirs(name, err) || !file_write(note, "", 0, err))
        return false;
    if (realpath(name, path) == NULL)
        return err_errno(err, "%s", name);
    w->work = arena_strdup(w->arena, path);
    return true;
}

static bool find_tree(struct whole_program *w, struct err *err)
{
    const char *name = w->options->whole.tree != NULL ? w->options->whole.tree : ".";
    char tree[PATH_MAX], here[PATH_MAX];
    size_t len;

    if (realpath(name, tree) == NULL || getcwd(here, sizeof(here)) == NULL)
        return err_errno(err, "%s", name);
    len = strlen(tree);
    if (strncmp(here, tree, len) != 0 || (here[len] != '/' && here[len] != '\0'))
        return err_set(err, "--tree %s: the current folder is not in it", name);
    w->tree = arena_strdup(w->arena, tree);
    w->below = arena_strdup(w->arena, here[len] == '/' ? here + len + 1 : "");
    return true;
}

static bool has_makefile(void)
{
    return file_exists("Makefile") || file_exists("makefile") || file_exists("GNUmakefile");
}

static bool begin(struct whole_program *w, struct err *err)
{
    const struct whole_options *o = &w->options->whole;

    w->argv = w->options->paths;
    w->tolerance = o->tolerance != NULL ? strtod(o->tolerance, NULL) : 1e-5;
    w->stop = command_ends_neatly();
    if (o->build == NULL && !has_makefile())
        return err_set(err,
            "there is no Makefile here; say what builds the program: --build 'nvcc -arch=sm_90 -o "
            "%s ...'",
            file_name(w->argv[0]));
    return find_tree(w, err) && open_folder(w, err);
}

/* --- the original --- */

static bool run_original(struct whole_program *w, struct err *err)
{
    struct program_trial *t = &w->original;

    if (!program_try(w, t, "original", NULL, 0, err))
        return false;
    if (t->why != NULL)
        return err_set(err, "the program as it is: %s", t->why);
    if (t->all.nr_kernels == 0)
        return err_set(err, "%s launched no kernel", w->argv[0]);
    return capture_save(&t->all, w->arena, err);
}

/* --- the gate --- */

static bool try_taken(struct whole_program *w, const bool *taken, const char *name,
    struct program_trial *t, struct program_comparison *c, const char **why, struct err *err)
{
    const struct whole_kernel *clash;
    unsigned nr;
    const struct patched_file *files = program_join(w, taken, &nr, &clash);

    if (files == NULL) {
        *why = "its changes meet those of another kernel";
        return true;
    }
    return program_try(w, t, name, files, nr, err) && program_judge(w, t, c, why, err);
}

/* One after the other, each upon those that were accepted before it. */
static bool try_each(struct whole_program *w, bool *taken, struct err *err)
{
    for (unsigned i = 0; i < w->nr_kernels; i++) {
        struct whole_kernel *k = &w->kernels[i];
        struct program_comparison c;
        struct program_trial t;
        const char *why;

        if (k->fate != FATE_TAKEN)
            continue;
        taken[i] = true;
        if (!try_taken(w, taken, arena_printf(w->arena, "with-%s", k->stem), &t, &c, &why, err))
            return false;
        if (why != NULL) {
            taken[i] = false;
            k->fate = FATE_REFUSED;
            k->why = why;
            whole_tell(w, "%s is refused: %s", k->facts->name, why);
            continue;
        }
        w->accepted = t;
        w->same = c;
    }
    return true;
}

/* A kernel that was to be faster and is slower in the program; NULL: none. */
static const struct whole_kernel *slower(const struct whole_program *w, const struct capture *all)
{
    for (unsigned i = 0; i < w->nr_kernels; i++)
        for (unsigned k = 0; w->kernels[i].fate == FATE_TAKEN && k < all->nr_kernels; k++)
            if (strcmp(all->kernels[k].symbol, w->kernels[i].facts->symbol) == 0 &&
                all->kernels[k].time_ns > 1.01 * w->kernels[i].facts->time_ns)
                return &w->kernels[i];
    return NULL;
}

/* All winners together; where that is not the program any more, each by itself. */
static bool gate(struct whole_program *w, bool *taken, struct err *err)
{
    struct program_comparison c;
    struct program_trial t;
    const char *why;
    unsigned nr = 0;

    for (unsigned i = 0; i < w->nr_kernels; i++)
        nr += taken[i] = w->kernels[i].fate == FATE_TAKEN;
    if (nr == 0)
        return true;
    if (nr > 1) {
        if (!try_taken(w, taken, "patched", &t, &c, &why, err))
            return false;
        if (why == NULL && slower(w, &t.all) != NULL)
            why =
                arena_printf(w->arena, "%s is slower than it was", slower(w, &t.all)->facts->name);
        if (why == NULL) {
            w->accepted = t;
            w->same = c;
            return true;
        }
        whole_tell(w, "with all winners: %s; each is tried by itself", why);
    }
    memset(taken, 0, w->nr_kernels * sizeof(*taken));
    return try_each(w, taken, err);
}

/* --- what stays --- */

static bool put_in_place(
    struct whole_program *w, const struct patched_file *files, unsigned nr, struct err *err)
{
    for (unsigned i = 0; i < nr; i++) {
        const char *path = arena_printf(w->arena, "%s/%s", w->tree, files[i].name);
        char *text;
        size_t bytes;
        bool same;

        if (!file_read(path, INT_MAX, &text, &bytes, err))
            return false;
        same = strcmp(text, files[i].old) == 0;
        free(text);
        if (!same)
            return err_set(
                err, "%s has changed meanwhile; what was accepted is in %s", path, w->patch_path);
    }
    for (unsigned i = 0; i < nr; i++)
        if (!file_write(arena_printf(w->arena, "%s/%s", w->tree, files[i].name), files[i].text,
                strlen(files[i].text), err))
            return false;
    w->in_place = true;
    return true;
}

static bool keep_accepted(struct whole_program *w, const bool *taken, struct err *err)
{
    const struct whole_kernel *clash;
    unsigned nr;
    const struct patched_file *files = program_join(w, taken, &nr, &clash);
    const char *path = arena_printf(w->arena, "%s/accepted.patch", w->work);
    struct str diff = {0};
    bool ok;

    unlink(path);
    if (w->accepted.name == NULL)
        return true;
    for (unsigned i = 0; i < nr; i++)
        report_diff(&diff, files[i].name, files[i].old, files[i].name, files[i].text);
    ok = file_write(path, str_text(&diff), diff.len, err);
    str_finish(&diff);
    w->patch_path = path;
    return ok && (!w->options->whole.in_place || put_in_place(w, files, nr, err));
}

/* How long each kernel takes in the program that was accepted. */
static void find_after(struct whole_program *w)
{
    const struct capture *c = &w->accepted.all;

    for (unsigned i = 0; i < w->nr_kernels; i++)
        for (unsigned k = 0; k < c->nr_kernels; k++)
            if (strcmp(c->kernels[k].symbol, w->kernels[i].facts->symbol) == 0)
                w->kernels[i].after_ns = c->kernels[k].time_ns;
}

bool cmd_optimize_program(const struct options *o, int *status, struct err *err)
{
    struct whole_program w = {.options = o, .arena = arena_create()};
    bool ok = begin(&w, err) && run_original(&w, err) && program_make_tasks(&w, err) &&
              (o->whole.winners != NULL || program_search(&w, err));
    bool refused = false;

    if (ok) {
        bool *taken = arena_array(w.arena, w.nr_kernels + 1, sizeof(*taken));

        program_make_patches(&w);
        ok = gate(&w, taken, err) && keep_accepted(&w, taken, err);
        find_after(&w);
    }
    if (ok && o->json)
        program_show_json(&w);
    else if (ok)
        program_show(&w);
    for (unsigned i = 0; ok && i < w.nr_kernels; i++)
        refused |= w.kernels[i].fate == FATE_REFUSED;
    if (ok && refused && w.accepted.name == NULL)
        *status = EXIT_KERNEL;
    arena_destroy(w.arena);
    return ok;
}
