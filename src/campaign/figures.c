/* Owns the figures of a task: its database and its slices, put together. */
#include "campaign/campaign.h"

#include "base/file.h"
#include "base/lock.h"

#include <string.h>

static bool read_database(
    const char *path, struct arena *arena, struct campaign_figures *figures, struct err *err)
{
    struct store *store = store_open(path, err);
    struct run_info run;
    bool found = false;
    const bool ok = store && store_find_run(store, arena, &run, &found, err) &&
                    (!found || store_digest(store, &figures->digest, err));

    if (ok && found) {
        figures->device = run.device;
        figures->version = run.version;
        figures->why = run.why_stopped;
        figures->measured = figures->digest.best >= 0;
    }
    store_close(store);
    return ok;
}

bool campaign_figures(const struct campaign *c, const struct campaign_task *task,
    struct arena *arena, struct campaign_figures *figures, struct err *err)
{
    const char *db = campaign_path(c, arena, task->name, ".keet.db");
    const struct campaign_slice *last = task->nr_slices ? &task->slices[task->nr_slices - 1] : NULL;

    *figures = (struct campaign_figures){.digest.best = -1};
    if (file_exists(db) && !read_database(db, arena, figures, err))
        return false;
    if (last && last->problem) {
        figures->state = TASK_FAILED;
        figures->problem = last->problem;
        figures->why = last->why;
    } else if (lock_holder(arena_printf(arena, "%s-lock", db)) != 0) {
        figures->state = TASK_RUNNING;
        figures->why = NULL;
    } else if (last && c->ended && strcmp(c->ended, "complete") == 0) {
        figures->state = TASK_DONE;
        figures->why = last->why;
    } else if (last && strcmp(last->why, "budget") != 0 && strcmp(last->why, "tokens") != 0 &&
               strcmp(last->why, "cost") != 0) {
        figures->state = TASK_DONE;
        figures->why = last->why;
    }
    return true;
}

const char *campaign_state_name(const struct campaign_figures *figures)
{
    static const char *const names[] = {"waiting", "running", "done", "failed"};

    return names[figures->state];
}
