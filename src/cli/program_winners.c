/* Owns the way from the kernels of a captured program to changes of its files. */
#include "cli/whole_program.h"

#include "base/file.h"
#include "base/share.h"
#include "campaign/campaign.h"
#include "cli/load_task.h"
#include "cli/option_table.h"
#include "intake/intake.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double least_share = 0.02; /* of the kernels' time that could be saved */

/* --- tasks --- */

static const struct capture_launch *recorded(const struct capture *c, const char *symbol)
{
    for (unsigned i = 0; i < c->nr_launches; i++)
        if (strcmp(c->launches[i].symbol, symbol) == 0)
            return &c->launches[i];
    return NULL;
}

/* Overloads and kernels of several modules may have one name. */
static bool is_named(const struct whole_program *w, const struct whole_kernel *k)
{
    for (const struct whole_kernel *other = w->kernels; other < k; other++)
        if (strcmp(other->facts->name, k->facts->name) == 0)
            return true;
    return false;
}

static void make_task(
    struct whole_program *w, struct whole_kernel *k, const struct program_files *files)
{
    const struct options *o = w->options;
    const struct program_trial *t = &w->original;

    k->fate = FATE_NO_TASK;
    k->source = program_source_of(w->arena, t->folder, files, k->facts->name);
    if (k->source == NULL) {
        k->why = "no .cu file of the tree has it";
    } else if (k->launch == NULL) {
        k->why = "no launch of it was recorded";
    } else if (is_named(w, k)) {
        k->why = "another kernel that takes longer has the same name";
    } else {
        k->task = capture_make_task(w->arena, o,
            arena_printf(w->arena, "%s/%s", t->folder, k->source), w->argv, &t->all, k->launch);
        k->why = k->task.why;
        if (k->task.path != NULL) {
            const char *name = file_name(k->task.path);

            k->stem = arena_strndup(w->arena, name, strlen(name) - strlen(".cu"));
            k->fate = FATE_NO_GAIN;
        }
    }
}

bool program_make_tasks(struct whole_program *w, struct err *err)
{
    const struct capture *c = &w->original.all;
    const char *only = w->options->capture.kernel;
    struct program_files files;

    if (!program_list_files(&files, w->arena, w->original.folder, false, err))
        return false;
    w->nr_kernels = c->nr_kernels;
    w->kernels = arena_array(w->arena, c->nr_kernels + 1, sizeof(*w->kernels));
    for (unsigned i = 0; i < c->nr_kernels; i++) {
        struct whole_kernel *k = &w->kernels[i];
        const double saved = c->kernels[i].time_ns - c->kernels[i].floor_ns;

        *k = (struct whole_kernel){.facts = &c->kernels[i],
            .launch = recorded(c, c->kernels[i].symbol),
            .fate = FATE_SMALL};
        if (only != NULL && strstr(k->facts->symbol, only) == NULL)
            k->why = "--kernel leaves it out";
        else if (only == NULL && w->options->whole.winners == NULL &&
                 saved < least_share * c->time_ns)
            k->why = arena_printf(w->arena, "less than %.0f%% of the kernels' time could be saved",
                100 * least_share);
        else
            make_task(w, k, &files);
    }
    return true;
}

/* --- the search --- */

/* A word of a list, as a shell has it. */
static bool write_list(struct whole_program *w, const char *path, unsigned *nr, struct err *err)
{
    struct str list = {0};
    bool ok;

    *nr = 0;
    for (unsigned i = 0; i < w->nr_kernels; i++) {
        const struct whole_kernel *k = &w->kernels[i];

        if (k->stem == NULL)
            continue;
        str_add_shell(&list, k->task.path);
        str_addf(&list, " --name %s\n", k->stem);
        ++*nr;
    }
    ok = file_write(path, str_text(&list), list.len, err);
    str_finish(&list);
    return ok;
}

static const char **campaign_words(
    struct whole_program *w, const char *binary, const char *list, const char *folder)
{
    const struct options *o = w->options;
    const char **words = arena_array(w->arena, 2 * o->nr_given + 12, sizeof(*words));
    unsigned nr = 0;

    words[nr++] = binary;
    words[nr++] = "campaign";
    words[nr++] = list;
    words[nr++] = "--out";
    words[nr++] = folder;
    if (o->verbosity < 0)
        words[nr++] = "--quiet";
    if (o->campaign.jobs > 0) {
        words[nr++] = "--jobs";
        words[nr++] = arena_printf(w->arena, "%u", o->campaign.jobs);
    }
    for (unsigned i = 0; i < o->nr_given; i++) {
        const struct option_row *row = o->given[i].row;

        if (!(row->verbs & TASK_LINE) || row->section == SECTION_HOST_CODE)
            continue;
        words[nr++] = arena_printf(w->arena, "--%s", row->name);
        if (o->given[i].value != NULL)
            words[nr++] = o->given[i].value;
    }
    return words;
}

static bool read_figures(struct whole_program *w, const char *folder, struct err *err)
{
    struct campaign c;
    bool ok;

    campaign_init(&c);
    ok = campaign_open(&c, folder, err);
    for (unsigned t = 0; ok && t < c.nr_tasks; t++) {
        struct campaign_figures figures;

        ok = campaign_figures(&c, &c.tasks[t], w->arena, &figures, err);
        for (unsigned i = 0; ok && i < w->nr_kernels; i++) {
            struct whole_kernel *k = &w->kernels[i];

            if (k->stem == NULL || strcmp(k->stem, c.tasks[t].name) != 0)
                continue;
            k->alone = figures.measured ? figures.digest.speedup : 0;
            k->why = figures.problem != NULL ? figures.problem
                     : !figures.measured     ? "its task does not run"
                     : k->alone > 1.01       ? NULL
                                             : "the search found nothing faster";
        }
    }
    campaign_finish(&c);
    return ok;
}

bool program_search(struct whole_program *w, struct err *err)
{
    const char *list = arena_printf(w->arena, "%s/kernels.txt", w->work);
    const char *folder = arena_printf(w->arena, "%s/campaign", w->work);
    char *binary = share_binary();
    struct program_end end = {0};
    unsigned nr;
    bool ok = binary != NULL || err_errno(err, "/proc/self/exe");

    ok = ok && write_list(w, list, &nr, err) && program_remove_tree(folder, err);
    if (ok && nr > 0) {
        const struct program_command how = {
            .argv = campaign_words(w, binary, list, folder),
            .output = arena_printf(w->arena, "%s/campaign.txt", w->work),
            .stop = w->stop,
        };

        whole_tell(w, "searching over %u kernel%s", nr, nr == 1 ? "" : "s");
        ok = program_run(&how, &end, err) && read_figures(w, folder, err);
    }
    free(binary);
    return ok;
}

/* --- winners --- */

static const char *winner_of(const struct whole_program *w, const struct whole_kernel *k)
{
    const char *folder = w->options->whole.winners;
    const char *path = arena_printf(w->arena, "%s/%s.keet.cu",
        folder != NULL ? folder : arena_printf(w->arena, "%s/campaign", w->work), k->stem);

    if (folder != NULL && !file_exists(path))
        path = arena_printf(w->arena, "%s/%s.cu", folder, k->stem);
    return file_exists(path) ? path : NULL;
}

/* The files of a patch by their names in the tree. */
static void take_files(struct whole_program *w, struct whole_kernel *k, const struct patch *patch)
{
    char top[PATH_MAX], path[PATH_MAX];
    const size_t len = realpath(w->original.folder, top) != NULL ? strlen(top) : 0;

    k->files = arena_array(w->arena, patch->nr_files + 1, sizeof(*k->files));
    for (unsigned i = 0; i < patch->nr_files; i++) {
        if (len == 0 || realpath(patch->files[i].path, path) == NULL ||
            strncmp(path, top, len) != 0 || path[len] != '/') {
            k->fate = FATE_REFUSED;
            k->why = arena_printf(w->arena,
                "%s would change, which is not in the tree; name a larger one with --tree",
                patch->files[i].path);
            return;
        }
        k->files[k->nr_files] = patch->files[i];
        k->files[k->nr_files++].name = arena_strdup(w->arena, path + len + 1);
    }
    k->fate = k->nr_files > 0 ? FATE_TAKEN : FATE_NO_GAIN;
    k->why = k->nr_files > 0 ? NULL : "the winner is the kernel as it is";
}

static bool read_whole(
    struct arena *arena, const char *path, const char **text, size_t *bytes, struct err *err)
{
    char *heap;

    if (!file_read(path, INTAKE_MAX_BYTES, &heap, bytes, err))
        return false;
    *text = arena_strndup(arena, heap, *bytes);
    free(heap);
    return true;
}

static bool make_patch(
    struct whole_program *w, struct whole_kernel *k, const char *winner, struct err *err)
{
    struct intake_args args = load_task_options(w->arena, w->options).args;
    const char *path = arena_printf(w->arena, "%s/%s", w->original.folder, k->source);
    const char *source, *text, *best;
    size_t source_bytes, bytes, best_bytes;
    struct task task;
    struct patch patch;

    args.args = w->argv + 1;
    for (args.nr = 0; w->argv[1 + args.nr] != NULL;)
        args.nr++;
    args.given = args.nr > 0;
    if (!read_whole(w->arena, path, &source, &source_bytes, err) ||
        !read_whole(w->arena, k->task.path, &text, &bytes, err) ||
        !read_whole(w->arena, winner, &best, &best_bytes, err) ||
        !task_parse(&task, w->arena, k->task.path, text, bytes, err) ||
        !patch_make(&patch, w->arena, path, source, source_bytes, &args, &task, !k->task.from_text,
            best, best_bytes, err))
        return false;
    if (patch.why != NULL) {
        k->fate = FATE_REFUSED;
        k->why = arena_printf(w->arena, "it cannot be written back: %s", patch.why);
        return true;
    }
    take_files(w, k, &patch);
    return true;
}

void program_make_patches(struct whole_program *w)
{
    struct err why;

    for (unsigned i = 0; i < w->nr_kernels; i++) {
        struct whole_kernel *k = &w->kernels[i];
        const char *winner = k->stem != NULL ? winner_of(w, k) : NULL;

        if (winner == NULL && k->stem != NULL && w->options->whole.winners != NULL)
            k->why = "no winner was named";
        if (winner == NULL || (w->options->whole.winners == NULL && k->alone <= 1.01))
            continue;
        if (make_patch(w, k, winner, &why))
            continue;
        k->fate = FATE_REFUSED;
        k->why = arena_printf(w->arena, "it cannot be written back: %s", why.text);
    }
}

struct patched_file *program_join(
    struct whole_program *w, const bool *taken, unsigned *nr, const struct whole_kernel **clash)
{
    struct patched_file *all;
    unsigned most = 0;

    for (unsigned i = 0; i < w->nr_kernels; i++)
        most += w->kernels[i].nr_files;
    all = arena_array(w->arena, most + 1, sizeof(*all));
    *nr = 0;
    *clash = NULL;
    for (unsigned i = 0; i < w->nr_kernels; i++)
        for (unsigned f = 0; taken[i] && f < w->kernels[i].nr_files; f++) {
            const struct patched_file *file = &w->kernels[i].files[f];
            unsigned at = 0;

            while (at < *nr && strcmp(all[at].name, file->name) != 0)
                at++;
            if (at == *nr) {
                all[(*nr)++] = *file;
                continue;
            }
            all[at].text = program_merge(w->arena, file->old, all[at].text, file->text);
            if (all[at].text == NULL) {
                *clash = &w->kernels[i];
                return NULL;
            }
        }
    return all;
}
