/* Owns `keet-opt export`. */
#include "cli/commands.h"
#include "cli/look.h"

#include "base/arena.h"
#include "base/file.h"
#include "export/export.h"
#include "report/page.h"

#include <libgen.h>
#include <stdio.h>
#include <string.h>

static bool write_one(
    const struct options *o, const char *path, const struct str *text, struct err *err)
{
    if (strcmp(path, "-") == 0)
        return fwrite(str_text(text), 1, text->len, stdout) == text->len ||
               err_set(err, "stdout: cannot write");
    if (!file_write(path, str_text(text), text->len, err))
        return false;
    if (o->verbosity >= 0)
        printf("%s\n", path);
    return true;
}

static bool write_all(
    const struct options *o, struct arena *arena, const struct export_files *files, struct err *err)
{
    const char *beside = dirname(arena_strdup(arena, o->kernel_path)), *folder = o->output_path;

    if (!files->folder)
        return write_one(o,
            o->output_path ? o->output_path
                           : arena_printf(arena, "%s/%s", beside, files->file[0].name),
            &files->file[0].text, err);
    if (!folder)
        folder = arena_printf(arena, "%s/%s", beside, o->as);
    for (unsigned i = 0; i < files->nr; i++) {
        const char *path = arena_printf(arena, "%s/%s", folder, files->file[i].name);

        if (!file_mkdirs(dirname(arena_strdup(arena, path)), err) ||
            !write_one(o, path, &files->file[i].text, err))
            return false;
    }
    return true;
}

bool cmd_export(const struct options *options, int *status, struct err *err)
{
    const char *path = options->kernel_path;
    struct arena *arena = arena_create();
    struct export_files files = {0};
    struct store *store = look_database(path, err);
    struct page page;
    const bool ok = store && page_load(&page, arena, store, path, (int64_t)options->run, err) &&
                    export_make(options->as, &page, &files, err) &&
                    write_all(options, arena, &files, err);
    export_finish(&files);
    store_close(store);
    arena_destroy(arena);
    return ok;
}
