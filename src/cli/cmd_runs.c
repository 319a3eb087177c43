/* Owns `keet-opt runs`. */
#include "base/arena.h"
#include "base/lock.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/look.h"
#include "report/report.h"
#include "store/store.h"

static bool list(const struct options *o, struct arena *arena, struct str *out, struct err *err)
{
    const char *path = o->kernel_path;
    const long holder = lock_holder(arena_printf(arena, "%s-lock", path));
    struct store *store = look_database(path, err);
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
    struct arena *arena = arena_create();
    struct str text = {0};
    const bool ok = list(options, arena, &text, err);

    if (ok)
        look_print(str_text(&text));
    str_finish(&text);
    arena_destroy(arena);
    return ok;
}
