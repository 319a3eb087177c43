/* Owns a campaign's folder: the manifest, the state, and the names of files. */
#include "campaign/campaign.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "report/json_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT = 1 };

void campaign_init(struct campaign *c)
{
    *c = (struct campaign){.arena = arena_create(), .nr_rounds = 4};
}

void campaign_finish(struct campaign *c)
{
    for (unsigned i = 0; i < c->nr_tasks; i++)
        free(c->tasks[i].slices);
    free(c->tasks);
    arena_destroy(c->arena);
}

const char *campaign_path(
    const struct campaign *c, struct arena *arena, const char *name, const char *suffix)
{
    return arena_printf(arena, "%s/%s%s", c->folder, name, suffix);
}

static const char *manifest_of(struct arena *arena, const char *folder)
{
    return arena_printf(arena, "%s/campaign.json", folder);
}

bool campaign_is_folder(const char *path)
{
    struct arena *arena = arena_create();
    const bool is = file_exists(manifest_of(arena, path));

    arena_destroy(arena);
    return is;
}

void campaign_add_slice(struct campaign_task *task, struct campaign_slice slice)
{
    task->slices =
        grow(task->slices, &task->cap_slices, task->nr_slices + 1, sizeof(*task->slices));
    task->slices[task->nr_slices++] = slice;
}

/* ---- writing ---- */

static bool write_json(const char *path, json_t *root, struct err *err)
{
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    const bool ok = text ? file_write(path, text, strlen(text), err)
                         : err_set(err, "%s: a text is not UTF-8", path);

    free(text);
    json_decref(root);
    return ok;
}

/* The JSON of a task; NULL: a text of the task is not UTF-8. */
static json_t *task_json(const struct campaign_task *t)
{
    json_t *words = json_array();

    for (unsigned i = 0; i < t->nr_words; i++) {
        if (json_array_append_new(words, json_string(t->words[i])) != 0) {
            json_decref(words);
            return NULL;
        }
    }
    return json_pack("{s:s, s:s, s:o, s:f, s:b, s:s, s:I, s:I, s:f, s:b, s:o}", "name", t->name,
        "kernel", t->kernel, "options", words, "budget", t->budget, "seconds", (int)t->timed,
        "device", t->device, "seed", (json_int_t)t->seed, "max_tokens", (json_int_t)t->max_tokens,
        "max_cost", t->max_cost, "model", (int)t->has_model, "level", json_text_or_null(t->level));
}

static json_t *manifest_json(const struct campaign *c, struct err *err)
{
    json_t *tasks = json_array(), *root;

    for (unsigned i = 0; i < c->nr_tasks; i++) {
        if (json_array_append_new(tasks, task_json(&c->tasks[i])) != 0) {
            err_set(err, "task %s: a path or an option is not UTF-8", c->tasks[i].name);
            json_decref(tasks);
            return NULL;
        }
    }
    root = json_pack("{s:i, s:s, s:s, s:s, s:i, s:o}", "format", FORMAT, "version", KEET_VERSION,
        "source", c->source, "started", c->started, "rounds", (int)c->nr_rounds, "tasks", tasks);
    if (!root)
        err_set(err, "%s: the path is not UTF-8", c->source);
    return root;
}

bool campaign_create(struct campaign *c, const char *folder, struct err *err)
{
    const char *path;
    char now[32], *real;
    json_t *root;

    clock_utc(now);
    c->started = arena_strdup(c->arena, now);
    if (!file_mkdirs(folder, err))
        return false;
    real = realpath(folder, NULL);
    if (!real)
        return err_errno(err, "%s", folder);
    c->folder = arena_strdup(c->arena, real);
    free(real);
    path = manifest_of(c->arena, c->folder);
    if (file_exists(path))
        return err_set(err,
            "%s already holds a campaign; --resume goes on with it, --out begins another", folder);
    root = manifest_json(c, err);
    return root && write_json(path, root, err);
}

static json_t *slice_json(const struct campaign_slice *s)
{
    return json_pack("{s:i, s:f, s:f, s:I, s:I, s:f, s:I, s:f, s:o, s:o}", "round", (int)s->round,
        "target", s->target, "used", s->used, "evaluated", (json_int_t)s->nr_evaluated, "right",
        (json_int_t)s->nr_ok, "speedup", s->speedup, "tokens", (json_int_t)s->tokens, "cost",
        s->cost, "stopped_by", json_text_or_null(s->why), "problem", json_text_or_null(s->problem));
}

bool campaign_save_state(const struct campaign *c, struct err *err)
{
    json_t *tasks = json_object();
    struct arena *arena = arena_create();
    bool ok;

    for (unsigned i = 0; i < c->nr_tasks; i++) {
        const struct campaign_task *t = &c->tasks[i];
        json_t *slices = json_array();

        for (unsigned s = 0; s < t->nr_slices; s++)
            json_array_append_new(slices, slice_json(&t->slices[s]));
        json_object_set_new(
            tasks, t->name, json_pack("{s:f, s:o}", "wall_s", t->wall_s, "slices", slices));
    }
    ok = write_json(campaign_path(c, arena, "state", ".json"),
        json_pack("{s:i, s:f, s:o, s:o}", "format", FORMAT, "elapsed_s", c->elapsed_s, "ended",
            json_text_or_null(c->ended), "tasks", tasks),
        err);
    arena_destroy(arena);
    return ok;
}

/* ---- reading ---- */

static const char *get_text(struct campaign *c, json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? arena_strdup(c->arena, text) : NULL;
}

static double get_number(json_t *object, const char *key)
{
    const double value = json_number_value(json_object_get(object, key));

    return isfinite(value) && value > 0 ? value : 0;
}

static uint64_t get_count(json_t *object, const char *key)
{
    const json_int_t value = json_integer_value(json_object_get(object, key));

    return value > 0 ? (uint64_t)value : 0;
}

static bool read_task(struct campaign *c, json_t *object, struct err *err)
{
    json_t *options = json_object_get(object, "options");
    struct campaign_task t = {
        .name = get_text(c, object, "name"),
        .kernel = get_text(c, object, "kernel"),
        .budget = get_number(object, "budget"),
        .timed = json_is_true(json_object_get(object, "seconds")),
        .device = get_text(c, object, "device"),
        .seed = (uint64_t)json_integer_value(json_object_get(object, "seed")),
        .max_tokens = get_count(object, "max_tokens"),
        .max_cost = get_number(object, "max_cost"),
        .has_model = json_is_true(json_object_get(object, "model")),
        .level = get_text(c, object, "level"),
    };
    const char **words = arena_array(c->arena, json_array_size(options) + 1, sizeof(*words));

    for (size_t i = 0; i < json_array_size(options); i++) {
        const char *word = json_string_value(json_array_get(options, i));
        words[t.nr_words++] = arena_strdup(c->arena, word ? word : "");
    }
    t.words = words;
    if (!t.name || !*t.name || strchr(t.name, '/') || t.name[0] == '.' || !t.kernel || !t.device ||
        t.budget <= 0 || c->nr_tasks == CAMPAIGN_MOST_TASKS)
        return err_set(err, "task %u lacks its name, kernel, device or budget", c->nr_tasks + 1);
    c->tasks = grow(c->tasks, &c->cap_tasks, c->nr_tasks + 1, sizeof(*c->tasks));
    c->tasks[c->nr_tasks++] = t;
    return true;
}

static bool read_slice(struct campaign *c, struct campaign_task *t, json_t *object, struct err *err)
{
    const struct campaign_slice s = {
        .round = (unsigned)get_count(object, "round"),
        .target = get_number(object, "target"),
        .used = get_number(object, "used"),
        .nr_evaluated = get_count(object, "evaluated"),
        .nr_ok = get_count(object, "right"),
        .speedup = get_number(object, "speedup"),
        .tokens = get_count(object, "tokens"),
        .cost = get_number(object, "cost"),
        .why = get_text(c, object, "stopped_by"),
        .problem = get_text(c, object, "problem"),
    };

    if (!s.why || (t->nr_slices > 0 && t->slices[t->nr_slices - 1].round >= s.round))
        return err_set(err, "the slices of %s are out of order", t->name);
    campaign_add_slice(t, s);
    return true;
}

static json_t *read_json(const char *path, struct err *err)
{
    json_error_t why;
    char *text;
    size_t len;
    json_t *root;

    if (!file_read(path, 256 << 20, &text, &len, err))
        return NULL;
    root = json_loadb(text, len, 0, &why);
    free(text);
    if (!root)
        err_set(err, "%s:%d: %s", path, why.line, why.text);
    else if (json_integer_value(json_object_get(root, "format")) != FORMAT)
        err_set(err, "%s: this is not of this version's format (%d)", path, FORMAT);
    else
        return root;
    json_decref(root);
    return NULL;
}

static bool read_state(struct campaign *c, json_t *root, struct err *err)
{
    c->elapsed_s = get_number(root, "elapsed_s");
    c->ended = get_text(c, root, "ended");
    for (unsigned i = 0; i < c->nr_tasks; i++) {
        struct campaign_task *t = &c->tasks[i];
        json_t *object = json_object_get(json_object_get(root, "tasks"), t->name);
        json_t *slices = json_object_get(object, "slices");

        t->wall_s = get_number(object, "wall_s");
        for (size_t s = 0; s < json_array_size(slices); s++)
            if (!read_slice(c, t, json_array_get(slices, s), err))
                return false;
    }
    return true;
}

bool campaign_open(struct campaign *c, const char *folder, struct err *err)
{
    char *real = realpath(folder, NULL);
    json_t *root = NULL, *state = NULL, *tasks;
    const char *state_path;
    bool ok = real != NULL || err_errno(err, "%s", folder);

    c->folder = real ? arena_strdup(c->arena, real) : folder;
    free(real);
    root = ok ? read_json(manifest_of(c->arena, c->folder), err) : NULL;
    ok = root != NULL;
    tasks = json_object_get(root, "tasks");
    for (size_t i = 0; ok && i < json_array_size(tasks); i++)
        ok = read_task(c, json_array_get(tasks, i), err) || err_wrap(err, "%s", folder);
    c->source = get_text(c, root, "source");
    c->started = get_text(c, root, "started");
    c->nr_rounds = (unsigned)get_count(root, "rounds");
    if (ok && (!c->source || !c->started || c->nr_rounds < 1 || c->nr_tasks == 0 ||
                  c->nr_rounds > CAMPAIGN_MOST_ROUNDS))
        ok = err_set(err, "%s/campaign.json: it is not whole", folder);
    state_path = campaign_path(c, c->arena, "state", ".json");
    if (ok && file_exists(state_path)) {
        state = read_json(state_path, err);
        ok = state && (read_state(c, state, err) || err_wrap(err, "%s", state_path));
    }
    json_decref(root);
    json_decref(state);
    return ok;
}

bool campaign_same(const struct campaign *stored, const struct campaign *wanted, struct err *err)
{
    if (stored->nr_tasks != wanted->nr_tasks)
        return err_set(err, "the campaign in %s has %u tasks, not %u", stored->folder,
            stored->nr_tasks, wanted->nr_tasks);
    for (unsigned i = 0; i < stored->nr_tasks; i++) {
        json_t *a = task_json(&stored->tasks[i]), *b = task_json(&wanted->tasks[i]);
        const bool same = json_equal(a, b);

        json_decref(a);
        json_decref(b);
        if (!same)
            return err_set(err,
                "the campaign in %s was begun with another task %s; resume it without the list, "
                "or begin another with --out",
                stored->folder, stored->tasks[i].name);
    }
    return true;
}
