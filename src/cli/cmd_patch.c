/* Owns the files of a write-back, and `keet-opt patch`. */
#include "cli/cmd_patch.h"

#include "base/file.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/load_task.h"
#include "intake/intake.h"
#include "intake/patch/patch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *stem_of(struct arena *arena, const char *output)
{
    const size_t len = strlen(output);
    const size_t cut = str_ends(output, ".py.keet.cu") ? 11
                       : str_ends(output, ".keet.cu")  ? 8
                       : str_ends(output, ".cu")       ? 3
                       : str_ends(output, ".py")       ? 3
                                                       : 0;

    return arena_strndup(arena, output, len - cut);
}

/* Do all changed headers lie beside the file? A header elsewhere cannot be copied under its own
 * name. */
static bool all_beside(const struct patch *patch)
{
    for (unsigned i = 0; i < patch->nr_files; i++)
        if (*patch->files[i].name == '/' || strstr(patch->files[i].name, ".."))
            return false;
    return true;
}

static bool write_under(
    struct arena *arena, const char *folder, const char *name, const char *text, struct err *err)
{
    const char *path = arena_printf(arena, "%s/%s", folder, name), *slash = strrchr(path, '/');

    return file_mkdirs(arena_strndup(arena, path, (size_t)(slash - path)), err) &&
           file_write(path, text, strlen(text), err);
}

/* The folder holds the user's file even when only a header changes. */
static bool write_folder(struct report_patch *done, struct arena *arena, const struct patch *patch,
    const char *path, const char *source, const char *stem, struct err *err)
{
    const char *folder = arena_printf(arena, "%s.patched", stem);

    if (!write_under(arena, folder, file_name(path), source, err))
        return false;
    for (unsigned i = 0; i < patch->nr_files; i++)
        if (!write_under(arena, folder, patch->files[i].name, patch->files[i].text, err))
            return false;
    done->patched_path = arena_printf(arena, "%s/%s", folder, file_name(path));
    return true;
}

static const char *patched_name(struct arena *arena, const char *path, const char *output)
{
    return arena_printf(
        arena, "%s.patched.%s", stem_of(arena, output), str_ends(path, ".py") ? "py" : "cu");
}

static bool write_files(struct report_patch *done, struct arena *arena, const struct patch *patch,
    const char *path, const char *source, const char *output, struct err *err)
{
    const char *stem = stem_of(arena, output);
    const bool alone = patch->nr_files == 1 && strcmp(patch->files[0].path, path) == 0;
    struct str diff = {0};
    bool ok = true;

    for (unsigned i = 0; i < patch->nr_files; i++)
        report_diff(&diff, patch->files[i].name, patch->files[i].old, patch->files[i].name,
            patch->files[i].text); /* for `patch -p0` in the file's folder */
    done->patch_path = arena_printf(arena, "%s.patch", stem);
    if (alone) {
        done->patched_path = patched_name(arena, path, output);
        ok =
            file_write(done->patched_path, patch->files[0].text, strlen(patch->files[0].text), err);
    } else if (all_beside(patch)) {
        ok = write_folder(done, arena, patch, path, source, stem, err);
    }
    ok = ok && file_write(done->patch_path, str_text(&diff), diff.len, err);
    str_finish(&diff);
    return ok;
}

/* The user's file may have changed since an earlier run patched it. */
static void find_stale(
    struct report_patch *done, struct arena *arena, const char *path, const char *output)
{
    const char *patched = patched_name(arena, path, output);

    done->stale = file_exists(patched) ? patched : NULL;
}

bool writeback(struct report_patch *done, struct arena *arena, const struct options *o,
    const struct task *task, const char *best, size_t best_bytes, const char *output,
    struct err *err)
{
    const struct infer_options infer = load_task_options(arena, o);
    const char *path = o->kernel_path;
    struct patch patch;
    char *source;
    size_t bytes;

    *done = (struct report_patch){0};
    if (!file_read(path, INTAKE_MAX_BYTES, &source, &bytes, err))
        return false;
    const bool both = intake_has_both(arena, source, bytes);
    bool ok = true;

    if (both || intake_needed(source, bytes)) {
        if (both)
            patch_make_own(&patch, arena, path, source, bytes, &infer.args, best, best_bytes);
        else
            ok = patch_make(&patch, arena, path, source, bytes, &infer.args, task, false, best,
                best_bytes, err);
        done->why = ok ? patch.why : NULL;
        done->note = ok ? patch.note : NULL;
        if (ok && patch.nr_files)
            ok = write_files(done, arena, &patch, path, source, output, err);
        else if (ok)
            find_stale(done, arena, path, output);
    }
    free(source);
    return ok;
}

static bool reads_host_code(struct arena *arena, const char *path, bool *has, struct err *err)
{
    char *source;
    size_t bytes;

    if (!file_read(path, INTAKE_MAX_BYTES, &source, &bytes, err))
        return false;
    *has = intake_needed(source, bytes) || intake_has_both(arena, source, bytes);
    free(source);
    return true;
}

/* A file without host code is not patched: the winner takes its place. */
static bool has_host_code(struct arena *arena, const struct options *o, struct err *err)
{
    const char *path = o->kernel_path, *best = o->paths[1];
    bool has, best_has;

    if (!reads_host_code(arena, path, &has, err) || !reads_host_code(arena, best, &best_has, err))
        return false;
    if (has)
        return true;
    if (best_has)
        return err_set(err, "the arguments are swapped; try: keet-opt patch %s %s", best, path);
    return err_set(err,
        "%s has no host code that launches its kernel, so nothing can be written back into it: %s "
        "is a whole kernel file itself; take that one in its place (cp %s %s), or make a header of "
        "the run for a host program (keet-opt export RUN.db --as header)",
        path, best, best, path);
}

bool cmd_patch(const struct options *o, int *status, struct err *err)
{
    struct arena *arena = arena_create();
    const char *output = o->output_path ? o->output_path : file_name(o->kernel_path);
    struct report_patch done;
    struct str text = {0};
    struct options winner = *o;
    struct task task;

    winner.kernel_path = o->paths[1];
    bool ok = has_host_code(arena, o, err) && load_task(&task, arena, &winner, err) &&
              writeback(&done, arena, o, &task, task.source, task.source_bytes, output, err);

    if (ok && done.why) {
        ok = err_set(err, "%s cannot be written back: %s", o->paths[1], done.why);
    } else if (ok) {
        report_patch_text(&text, &done);
        fputs(text.len ? str_text(&text) : "nothing to write back: the kernels are the same\n",
            stdout);
    }
    str_finish(&text);
    arena_destroy(arena);
    return ok;
}
