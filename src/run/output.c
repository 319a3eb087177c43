/* Owns the output file of a run, and the choice of the kernel in the file: see
 * session_write_output. */
#include "run/session_parts.h"

#include "base/file.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the best of all runs ---- */

/* The objective in the text of a policy, as ", objective energy". The text names no objective for
 * time. */
static const char *objective_text(const char *policy)
{
    const char *at = strstr(policy, ", objective ");

    return at ? at : "";
}

static bool is_rival(const struct session *s, const struct run_info *run)
{
    return run->id != s->run.id && strcmp(run->original, s->run.original) == 0 &&
           strcmp(run->device, s->run.device) == 0 &&
           strcmp(objective_text(run->policy), objective_text(s->run.policy)) == 0;
}

/* Loads the winner of a run. *gain: the winner's gain by the objective; 0: the run has no
 * winner. */
static bool weigh(struct session *s, const struct store_run *run, struct candidate *winner,
    double *gain, struct err *err)
{
    struct candidate root = {.arena = s->arena};
    bool found, found_root;

    if (!store_load_node(s->store, 0, &root, &found_root, err) ||
        !store_load_node(s->store, run->digest.best, winner, &found, err))
        return false;
    *gain = found && found_root && winner->source
                ? objective_gain(
                      s->options->objective, &root.profile, &winner->profile, winner->speedup)
                : 0;
    return true;
}

static bool weigh_rival(struct session *s, const struct store_run *run, struct candidate *winner,
    double *gain, struct err *err)
{
    struct run_info info;
    bool ok;

    *winner = (struct candidate){.arena = s->arena};
    ok = store_take_run(s->store, s->arena, run->info.id, &info, err) &&
         weigh(s, run, winner, gain, err);
    return store_take_run(s->store, s->arena, s->run.id, &info, err) && ok;
}

bool output_find_kept(struct session *s, struct session_result *result, struct err *err)
{
    const struct candidate *own = &result->path[result->nr_path - 1];
    double most =
        objective_gain(s->options->objective, &s->root.profile, &own->profile, own->speedup);
    struct store_run *runs;
    unsigned nr;

    if (!store_list_runs(s->store, s->arena, &runs, &nr, err))
        return false;
    for (unsigned i = 0; i < nr; i++) {
        struct session_kept *kept;
        struct candidate winner;
        double gain;

        if (!is_rival(s, &runs[i].info) || runs[i].digest.best <= 0)
            continue;
        if (!weigh_rival(s, &runs[i], &winner, &gain, err))
            return false;
        if (gain <= most)
            continue;
        most = gain;
        kept = arena_alloc(s->arena, sizeof(*kept));
        *kept = (struct session_kept){runs[i].info.id, winner};
        result->kept = kept;
    }
    return true;
}

/* ---- the file ---- */

static bool move_aside(struct session *s, const char **moved_to, struct err *err)
{
    enum { MOST = 10000 };

    for (int i = 1; i < MOST; i++) {
        const char *path = arena_printf(s->arena, "%s.%d", s->output_path, i);

        if (file_exists(path))
            continue;
        *moved_to = path;
        return rename(s->output_path, path) == 0 ||
               err_errno(err, "renaming %s to %s", s->output_path, path);
    }
    return err_set(
        err, "%s: %d files of this name with a number; remove some", s->output_path, MOST);
}

/* *own: the output file holds a kernel of the database, and is not the user's own kernel file.
 * *same: the output file holds `wanted`. */
static bool read_output(struct session *s, const char *wanted, size_t wanted_bytes, bool *own,
    bool *same, struct err *err)
{
    char *text;
    size_t bytes;
    bool ok;

    if (!file_read(s->output_path, TASK_MAX_BYTES, &text, &bytes, err)) {
        err->text[0] = '\0'; /* the file is too large to be a kernel of ours, or may not be read */
        *own = *same = false;
        return true;
    }
    *same = bytes == wanted_bytes && memcmp(text, wanted, bytes) == 0;
    ok = store_has_source(s->store, text, bytes, own, err);
    *own = *own && !file_same(s->output_path, s->task->path);
    free(text);
    return ok;
}

bool session_write_output(struct session *s, const struct session_result *result,
    struct session_output *done, struct err *err)
{
    const struct candidate *best =
        result->kept ? &result->kept->winner : &result->path[result->nr_path - 1];
    bool own = true;

    *done = (struct session_output){0};
    if (file_is_regular(s->output_path) &&
        !read_output(s, best->source, best->source_bytes, &own, &done->unchanged, err))
        return false;
    if (done->unchanged)
        return true;
    done->replaced = own && file_is_regular(s->output_path);
    return (own || move_aside(s, &done->moved_to, err)) &&
           file_write(s->output_path, best->source, best->source_bytes, err);
}
