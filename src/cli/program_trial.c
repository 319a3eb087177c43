/* Owns copies of the user's program that are built, run and judged. */
#include "cli/whole_program.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A program that is named by its path in the tree is the copy's; others are what they are. */
static const char *in_copy(const struct whole_program *w, const struct program_trial *t)
{
    const char *program = w->argv[0];
    const size_t len = strlen(w->tree);

    if (*program != '/')
        return program;
    return strncmp(program, w->tree, len) == 0 && program[len] == '/'
               ? arena_printf(w->arena, "%s%s", t->folder, program + len)
               : program;
}

static bool change(struct whole_program *w, const struct program_trial *t,
    const struct patched_file *files, unsigned nr, struct err *err)
{
    for (unsigned i = 0; i < nr; i++)
        if (!file_write(arena_printf(w->arena, "%s/%s", t->folder, files[i].name), files[i].text,
                strlen(files[i].text), err))
            return false;
    return true;
}

/* The program by its name in the tree: the build must make that of the copy. */
static const char *built_program(const struct whole_program *w)
{
    const char *program = w->argv[0];
    const size_t len = strlen(w->tree);

    if (*program == '/')
        return strncmp(program, w->tree, len) == 0 && program[len] == '/' ? program + len + 1
                                                                          : NULL;
    if (strchr(program, '/') == NULL)
        return NULL;
    while (str_starts(program, "./"))
        program += 2;
    return *w->below != '\0' ? arena_printf(w->arena, "%s/%s", w->below, program) : program;
}

static bool copy(struct whole_program *w, struct program_trial *t, struct err *err)
{
    const struct program_leave_out out = {.folder = w->work, .file = built_program(w)};

    return program_remove_tree(t->folder, err) && program_copy_tree(w->tree, t->folder, &out, err);
}

static bool build(struct whole_program *w, struct program_trial *t, struct err *err)
{
    const char *command = w->options->whole.build != NULL ? w->options->whole.build : "make";
    const char *const argv[] = {"sh", "-c", command, NULL};
    const char *log = arena_printf(w->arena, "%s/%s.build.txt", w->work, t->name);
    const struct program_command how = {.argv = argv,
        .folder = t->place,
        .output = log,
        .both = true,
        .links_shared = true,
        .stop = w->stop};
    struct program_end end;

    whole_tell(w, "%s: building (%s)", t->name, command);
    if (!program_run(&how, &end, err))
        return false;
    if (end.signal != 0 || end.status != 0)
        t->why = arena_printf(w->arena, "the build (%s) ended with %s %d; its output is in %s",
            command, end.signal != 0 ? "signal" : "status",
            end.signal != 0 ? end.signal : end.status, log);
    return true;
}

static const char *fault_of(struct whole_program *w, const struct capture *all)
{
    for (unsigned i = 0; i < all->nr_launches; i++)
        if (all->launches[i].fault != NULL)
            return arena_printf(w->arena, "launch %llu of %s failed: %s",
                (unsigned long long)all->launches[i].nth + 1, all->launches[i].name,
                all->launches[i].fault);
    return NULL;
}

static void progress(double seconds, void *data)
{
    const struct whole_program *w = data;

    if ((unsigned)seconds % 10 == 0)
        whole_tell(w, "running for %.0f s", seconds);
}

/* Contents are kept of the original alone, for its tasks. */
static bool run(struct whole_program *w, struct program_trial *t, struct err *err)
{
    const struct options *o = w->options;
    const bool first = strcmp(t->name, "original") == 0;
    const char *folder = arena_printf(w->arena, "%s/%s.capture", w->work, t->name);
    unsigned nr = 0;
    const char **argv;

    while (w->argv[nr] != NULL)
        nr++;
    argv = arena_array(w->arena, nr + 1, sizeof(*argv));
    memcpy(argv, w->argv, nr * sizeof(*argv));
    argv[0] = in_copy(w, t);
    const struct capture_how how = {.argv = argv,
        .folder = folder,
        .place = t->place,
        .output = t->output,
        .bytes = first ? (uint64_t)o->capture.limit_mib << 20 : 1,
        .cpu_s = o->capture.time_s,
        .progress = progress,
        .data = w,
        .stop = w->stop};

    whole_tell(w, "%s: running %s on the software driver", t->name, w->argv[0]);
    if (!capture_run(&how, &t->end, err) || !capture_read(&t->all, w->arena, folder, err))
        return false;
    if (w->stop != NULL && *w->stop)
        return err_set(err, "stopped; %s has what is there", w->work);
    if (t->end.stopped)
        t->why = "it was stopped at its limit of processor time";
    else if (t->end.signal != 0)
        t->why = arena_printf(w->arena, "it was ended by signal %d", t->end.signal);
    else
        t->why = fault_of(w, &t->all);
    return true;
}

static void check_linked(struct whole_program *w, struct program_trial *t)
{
    const char *program = in_copy(w, t);
    struct err why;

    if (*program != '/' && strchr(program, '/') != NULL)
        program = arena_printf(w->arena, "%s/%s", t->place, program);
    if (!capture_check_program(program, &why))
        t->why = arena_strdup(w->arena, why.text);
}

bool program_try(struct whole_program *w, struct program_trial *t, const char *name,
    const struct patched_file *files, unsigned nr_files, struct err *err)
{
    struct program_files before, after;

    *t = (struct program_trial){.name = name};
    t->folder = arena_printf(w->arena, "%s/%s", w->work, name);
    t->place = *w->below != '\0' ? arena_printf(w->arena, "%s/%s", t->folder, w->below) : t->folder;
    t->output = arena_printf(w->arena, "%s/%s.output.txt", w->work, name);
    if (!copy(w, t, err) || !change(w, t, files, nr_files, err) || !build(w, t, err))
        return false;
    if (t->why == NULL)
        check_linked(w, t);
    if (t->why != NULL)
        return true;
    if (!program_list_files(&before, w->arena, t->folder, true, err) || !run(w, t, err) ||
        !program_list_files(&after, w->arena, t->folder, true, err))
        return false;
    t->written = program_written(w->arena, &before, &after);
    return true;
}

/* --- the gate --- */

static bool is_compared(const struct whole_program *w, const char *name)
{
    const struct whole_options *o = &w->options->whole;

    for (unsigned i = 0; i < o->nr_compared; i++) {
        const char *wanted = o->compared[i];

        while (str_starts(wanted, "./"))
            wanted += 2;
        if (strcmp(wanted, name) == 0 || str_ends(name, arena_printf(w->arena, "/%s", wanted)))
            return true;
    }
    return o->nr_compared == 0;
}

static bool wrote(const struct program_files *all, const char *name)
{
    for (unsigned i = 0; i < all->nr; i++)
        if (strcmp(all->files[i].name, name) == 0)
            return true;
    return false;
}

static const char *path_in(struct whole_program *w, const struct program_trial *t, const char *name)
{
    return t->name != NULL ? arena_printf(w->arena, "%s/%s", t->folder, name) : NULL;
}

static void compare(
    struct whole_program *w, const struct program_trial *t, struct program_comparison *c)
{
    const struct program_trial *old = &w->original;

    *c = (struct program_comparison){.arena = w->arena, .tolerance = w->tolerance};
    if (old->end.status != t->end.status) {
        c->why =
            arena_printf(w->arena, "its exit status %d became %d", old->end.status, t->end.status);
        return;
    }
    program_compare_files(
        c, "its output", old->output, t->output, w->again.name != NULL ? w->again.output : NULL);
    for (unsigned i = 0; i < old->written.nr && c->why == NULL; i++) {
        const char *name = old->written.files[i].name;

        if (!is_compared(w, name))
            continue;
        if (wrote(&t->written, name))
            program_compare_files(
                c, name, path_in(w, old, name), path_in(w, t, name), path_in(w, &w->again, name));
        else
            c->why = arena_printf(w->arena, "%s is no longer written", name);
    }
    for (unsigned i = 0; i < t->written.nr && c->why == NULL; i++)
        if (is_compared(w, t->written.files[i].name) &&
            !wrote(&old->written, t->written.files[i].name))
            c->why = arena_printf(w->arena, "%s is written, and was not", t->written.files[i].name);
}

bool program_judge(struct whole_program *w, const struct program_trial *t,
    struct program_comparison *c, const char **why, struct err *err)
{
    const double best_ns =
        w->accepted.name != NULL ? w->accepted.all.time_ns : w->original.all.time_ns;

    *why = t->why;
    if (*why != NULL)
        return true;
    compare(w, t, c);
    if (c->why != NULL && w->again.name == NULL) { /* does the original always say the same? */
        whole_tell(w, "%s: %s; the original runs once more, to see whether it differs by itself",
            t->name, c->why);
        if (!program_try(w, &w->again, "again", NULL, 0, err))
            return false;
        if (w->again.why == NULL)
            compare(w, t, c);
    }
    *why = c->why;
    if (*why == NULL && !(t->all.time_ns < 0.995 * best_ns))
        *why = arena_printf(w->arena,
            "the program's kernels take %.2f us instead of %.2f us (modelled)",
            t->all.time_ns / 1e3, best_ns / 1e3);
    return true;
}
