/* Owns one trial of an original at chosen sizes. */
#include "base/mem.h"
#include "core/inputs.h"
#include "device/run.h"
#include "infer/infer_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *sizes_text(const struct inference *s)
{
    const char *text = "";

    for (unsigned i = 0; i < s->nr_numbers; i++)
        if (s->numbers[i].kind == A_SIZE || s->numbers[i].kind == A_BLOCK)
            text = arena_printf(s->arena, "%s%s%s = %" PRId64, text, *text ? ", " : "",
                s->numbers[i].name, s->sizes[s->numbers[i].at].value);
    return text;
}

void trial_note(struct inference *s, const char *verdict, unsigned line, const char *text)
{
    if (!s->why)
        s->why =
            arena_printf(s->arena, "%s: %s, line %u: %.300s", sizes_text(s), verdict, line, text);
}

/* Find the arrays that the run changed. A run that changes no array proves nothing about its sizes.
 * */
static bool find_written(struct inference *s, const struct env *env,
    const struct run_buffers *buffers, bool *any, struct err *err)
{
    bool ok = true;

    *any = false;
    for (unsigned i = 0; ok && i < s->task.nr_arrays; i++) {
        const struct run_buffer *b = &buffers->buffers[i];
        uint8_t *before = xcalloc(1, b->bytes + 1), *now = xmalloc(b->bytes + 1);

        memset(before, RUN_POISON_BYTE, b->bytes);
        if (b->array->role != ROLE_OUT)
            ok = inputs_fill_beside(&s->task, b->array, env, s->seed + i, before, b->nr, err);
        ok = ok && device_read(s->device, b->address, now, b->bytes, err);
        s->written[i] = ok && memcmp(before, now, b->bytes) != 0;
        *any |= s->written[i] && b->array->role != ROLE_IN;
        free(before);
        free(now);
    }
    return ok;
}

/* Fill the inputs. Sizes at which no input can be made (an index into an array without elements)
 * are refused. */
static void fill(struct inference *s, const struct env *env, const struct run_buffers *buffers,
    struct device_result *result)
{
    struct err why;

    if (run_fill(s->device, &s->task, buffers, env, s->seed, &why))
        return;
    result->verdict = VERDICT_LAUNCH_FAILED;
    snprintf(result->text, sizeof(result->text), "%.300s", why.text);
}

static bool run(struct inference *s, const struct env *env, struct arena *arena,
    struct device_result *result, struct err *err)
{
    bool written;
    struct run_buffers buffers = {0};
    struct device_launch *launches = NULL;
    bool ok = run_alloc(s->device, &s->task, &s->c.plan, env, 0, arena, &buffers, result, err);

    if (ok && result->verdict == VERDICT_OK)
        fill(s, env, &buffers, result);
    ok = ok && (result->verdict != VERDICT_OK || run_bind(&s->task, &s->c.plan, &s->c.compilation,
                                                     env, &buffers, arena, &launches, result, err));
    for (unsigned i = 0; ok && result->verdict == VERDICT_OK && i < s->c.plan.nr_launches; i++) {
        launches[i].step_limit = s->steps;
        launches[i].sanitize = s->sanitize;
    }
    if (ok && result->verdict == VERDICT_OK)
        ok = run_launches(s->device, s->module, launches, s->c.plan.nr_launches, result, err);
    if (ok && result->verdict == VERDICT_OK) {
        ok = find_written(s, env, &buffers, &written, err);
        if (!written) {
            result->verdict = VERDICT_WRONG;
            snprintf(result->text, sizeof(result->text), "nothing is written");
        }
    }
    s->insts += result->thread_insts;
    run_free(s->device, &buffers);
    return ok;
}

bool trials_spent(const struct inference *s)
{
    return s->insts >= s->most_insts;
}

bool trial_run(struct inference *s, enum outcome *outcome, struct err *err)
{
    struct arena *arena = arena_create();
    const struct env env = plan_env(arena, &s->c.plan, &s->shape);
    struct device_result result = {0};
    bool ok = true;

    *outcome = UNCLEAN;
    if (!trials_spent(s) && task_elems(&s->task, &env) <= INFER_MAX_ELEMS) {
        ok = run(s, &env, arena, &result, err);
        *outcome = result.verdict == VERDICT_OK      ? CLEAN
                   : result.verdict == VERDICT_FAULT ? STRAY
                                                     : UNCLEAN;
        s->timed_out |= result.verdict == VERDICT_TIMEOUT;
        if (result.verdict != VERDICT_OK)
            trial_note(s, verdict_name(result.verdict), result.line, result.text);
    }
    arena_destroy(arena);
    return ok;
}
