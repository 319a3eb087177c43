/* Owns the screening of candidates on the emulator. */
#include "check/check_screen.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "check/check_run.h"
#include "check/check_shapes.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_SHAPES = 3, POISON = 0xAA };

struct screen {
    struct device *device;
    const struct task *task;
    struct arena *arena;
    struct check_shape shapes[MOST_SHAPES];
    uint64_t costs[MOST_SHAPES]; /* thread instructions of the original */
    unsigned nr_shapes;
    const char *caveat; /* why there are no shapes; NULL: there are some */
};

/* One run of a plan on one shape, with the sanitizer. */
static bool run_once(struct screen *s, const struct plan *plan,
    const struct compilation *compilation, struct device_module *module, unsigned shape,
    uint64_t seed, struct device_result *result, struct err *err)
{
    struct arena *arena = arena_create();
    struct host_arrays inputs = {0}, outputs = {0};
    const struct input_set set = {.scale = 1, .seed = seed};
    const struct check_run run = {.device = s->device,
        .task = s->task,
        .plan = plan,
        .compilation = compilation,
        .module = module,
        .shape = &s->shapes[shape].shape,
        .inputs = &inputs,
        .poison = POISON,
        .sanitize = true,
        .step_limit = 24000000 + 16 * s->costs[shape], /* as the check's */
        .seed = seed};
    const struct env env = plan_env(arena, plan, run.shape);
    bool ok = host_init(&inputs, s->task, &env, err) && host_init(&outputs, s->task, &env, err) &&
              host_fill(&inputs, s->task, &env, &set, false, NULL, err) &&
              check_run(&run, arena, &outputs, result, err);

    host_finish(&inputs);
    host_finish(&outputs);
    arena_destroy(arena);
    return ok;
}

/* Keeps the shapes at which the original runs cleanly, given ones first. */
static bool choose(struct screen *s, const struct plan *oracle, const struct compilation *original,
    struct device_module *module, struct err *err)
{
    struct check_shape *all;
    struct device_result result;
    unsigned nr;

    shapes_choose(s->task, 0, s->arena, &all, &nr);
    for (unsigned i = 0; i < nr && s->nr_shapes < MOST_SHAPES; i++) {
        if (all[i].kind == SHAPE_TIMED)
            continue;
        s->shapes[s->nr_shapes] = all[i];
        s->costs[s->nr_shapes] = UINT64_C(1) << 30;
        if (!run_once(s, oracle, original, module, s->nr_shapes, 1, &result, err))
            return false;
        if (result.verdict == VERDICT_OK)
            s->costs[s->nr_shapes++] = result.thread_insts;
        else
            s->caveat = arena_printf(s->arena,
                "not screened on the emulator, where the original "
                "itself fails (%s: %.200s)",
                verdict_name(result.verdict), result.text);
    }
    if (s->nr_shapes > 0)
        s->caveat = NULL;
    return true;
}

struct screen *screen_create(const struct task *task, const struct plan *oracle,
    const struct compilation *original, unsigned nr_threads, struct err *err)
{
    const struct device_options options = {.name = "emu", .nr_threads = nr_threads};
    struct screen *s = xcalloc(1, sizeof(*s));
    struct device_module *module = NULL;
    struct device_result result;
    bool ok;

    s->task = task;
    s->arena = arena_create();
    s->device = device_create(&options, err);
    ok = s->device != NULL && device_load(s->device, original, &module, &result, err);
    if (ok && result.verdict != VERDICT_OK)
        s->caveat = arena_printf(s->arena,
            "not screened on the emulator, which cannot load the original (%.300s)", result.text);
    else if (ok)
        ok = choose(s, oracle, original, module, err);
    if (s->device != NULL)
        device_unload(s->device, module);
    if (ok)
        return s;
    screen_destroy(s);
    return NULL;
}

void screen_destroy(struct screen *s)
{
    if (s == NULL)
        return;
    device_destroy(s->device);
    arena_destroy(s->arena);
    free(s);
}

static bool is_reason(enum verdict verdict)
{
    return verdict == VERDICT_FAULT || verdict == VERDICT_RACE;
}

static bool reject(
    struct screen *s, struct candidate *c, const struct device_result *result, unsigned shape)
{
    const char *file = file_name(c->task->path);
    char place[16] = "";

    if (result->line > 0)
        snprintf(place, sizeof(place), ":%u", result->line);
    return candidate_fail(c, result->verdict, result->line,
        "%s%s: %s (%s; on the emulator, before it reached the GPU)", file, place, result->text,
        s->shapes[shape].text);
}

bool screen_kernel(struct screen *s, struct candidate *c, const char **note, struct err *err)
{
    struct device_module *module;
    struct device_result result;
    bool ok = true;

    *note = s->caveat;
    if (s->nr_shapes == 0)
        return true;
    if (!device_load(s->device, &c->compilation, &module, &result, err))
        return err_wrap(err, "screening");
    for (unsigned i = 0; result.verdict == VERDICT_OK && i < s->nr_shapes; i++) {
        ok = run_once(
            s, &c->plan, &c->compilation, module, i, rng_mix(c->seed, 500 + i), &result, err);
        if (!ok)
            break;
        if (is_reason(result.verdict)) {
            device_unload(s->device, module);
            return reject(s, c, &result, i);
        }
    }
    device_unload(s->device, module);
    if (ok && result.verdict != VERDICT_OK)
        *note = arena_printf(c->arena, "not wholly screened on the emulator (%s: %.300s)",
            verdict_name(result.verdict), result.text);
    else if (ok)
        *note = arena_printf(
            c->arena, "screened on the emulator at %u sizes before it ran here", s->nr_shapes);
    return ok;
}
