/* Owns `keet-opt runs`. */
#include "cli/commands.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/str.h"
#include "campaign/campaign.h"
#include "report/report.h"
#include "store/store.h"

#include <stdio.h>

static bool list(const struct options *o, struct arena *arena, struct str *out, struct err *err)
{
    const char *path = o->kernel_path;
    const long holder = lock_holder(arena_printf(arena, "%s-lock", path));
    struct store *store = store_open(path, err);
    struct store_run *runs;
    unsigned nr;
    const bool ok = store && store_list_runs(store, arena, &runs, &nr, err);

    if (ok && o->json)
        report_runs_json(out, runs, nr, holder);
    else if (ok)
        report_runs(out, runs, nr, holder);
    store_close(store);
    return ok;
}

bool cmd_runs(const struct options *options, int *status, struct err *err)
{
    const char *path = options->kernel_path;
    struct arena *arena = arena_create();
    struct str text = {0};
    bool ok = file_exists(path) || err_set(err, "%s: there is no such file", path);

    if (ok && campaign_is_folder(path))
        ok = err_set(err, "%s is a campaign; expected one of its databases, NAME.keet.db", path);
    ok = ok && list(options, arena, &text, err);
    if (ok)
        fputs(str_text(&text), stdout);
    str_finish(&text);
    arena_destroy(arena);
    return ok;
}
