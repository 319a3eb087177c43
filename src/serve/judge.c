/* Owns the way of a candidate through check, profile and explanation in a helper process. */
#include "serve/judge.h"

#include "check/check.h"
#include "explain/explain.h"
#include "profile/profile.h"

#include <string.h>

void judge_take(struct candidate *c, const char *text, size_t bytes)
{
    struct err why;

    c->source = arena_strndup(c->arena, text, bytes);
    c->source_bytes = bytes;
    if (bytes > TASK_MAX_BYTES)
        candidate_fail(
            c, VERDICT_NO_KERNEL, 0, "a kernel file of more than %d MiB", TASK_MAX_BYTES >> 20);
    else if (!plan_parse(&c->plan, c->task, c->arena, c->source, bytes, &c->verdict, &why))
        candidate_fail(c, c->verdict, 0, "%s", why.text);
}

void judge_read(const struct prepared *p, const char *text, size_t bytes, struct arena *arena,
    struct candidate *c)
{
    if (!text) {
        candidate_begin(c, arena, &p->task, p->seed);
        return;
    }
    candidate_init(c, arena, &p->task);
    c->node = 1;
    c->seed = p->seed; /* the same inputs for all, so that the original runs on them once */
    judge_take(c, text, bytes);
}

bool judge_compile(struct prepared *p, struct candidate *c, struct err *err)
{
    return c->compilation.ptx || compile_kernel(workbench_compiler(p->bench), c, err);
}

bool judge_check(struct prepared *p, struct candidate *c, uint64_t *insts, struct err *err)
{
    *insts = 0;
    return judge_compile(p, c, err) && station_check(&p->station, c, err) &&
           check_timed(p->station.checker, c, insts, err);
}

/* A card has one worker process, and times a candidate beside the original. */
static bool time_on_card(struct prepared *p, struct candidate *c, struct err *err)
{
    return station_profile(&p->station, c, err);
}

static bool time_on(struct device *device, const struct prepared *p, struct candidate *c,
    uint64_t insts, struct err *err)
{
    const struct profiler_options options = {0};
    struct profiler *profiler = profiler_create(device, &p->task, &options, err);
    bool ok = profiler != NULL;

    device_begin(device);
    if (ok && p->original.profile.time_ns > 0)
        profiler_baseline(profiler, p->original.profile.time_ns);
    ok = ok && profile_kernel(profiler, c, err) &&
         (c->verdict != VERDICT_OK || !profile_is_off(c, insts) || profile_whole(profiler, c, err));
    profiler_destroy(profiler);
    return ok;
}

static bool time_of(struct prepared *p, struct candidate *c, uint64_t insts, struct err *err)
{
    struct device *device;
    bool ok;

    if (c->verdict != VERDICT_OK)
        return true;
    if (!p->device)
        return time_on_card(p, c, err);
    device = device_create(&workbench_options(p->bench)->device, err);
    ok = device && time_on(device, p, c, insts, err);
    if (device)
        device_destroy(device);
    return ok;
}

bool judge_time(struct prepared *p, struct candidate *c, struct err *err)
{
    return time_of(p, c, 0, err);
}

bool judge(struct prepared *p, struct candidate *c, struct err *err)
{
    uint64_t insts;

    return judge_check(p, c, &insts, err) &&
           (c->verdict != VERDICT_OK || c->node == 0 || prepared_time(p, err)) &&
           time_of(p, c, insts, err) && explain_kernel(workbench_chip(p->bench), c, err);
}
