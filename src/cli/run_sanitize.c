/* Owns the sanitizer run: the checks of compute-sanitizer, without a GPU. */
#include "cli/run_sanitize.h"

#include "base/mem.h"
#include "device/run.h"
#include "report/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NR_ORDERS = 3, MAX_FINDINGS = 100 };

struct sanitizing {
    struct device *device;
    struct candidate *c;
    unsigned checks;
    bool strict_races;
    struct device_findings *findings;
    struct device_module *module;
    struct arena *arena; /* of one shape */
    uint8_t **outputs;   /* of the first order; by array, NULL for inputs */
    bool float_atomics;
};

static bool has_argument(const struct launch *launch, const char *name)
{
    for (unsigned i = 0; i < launch->nr_args; i++) {
        if (launch->args[i].kind == ARG_ARRAY && strcmp(launch->args[i].name, name) == 0)
            return true;
    }
    return false;
}

/* The last kernel that gets the array. */
static const char *kernel_with(const struct plan *plan, const char *name)
{
    for (unsigned i = plan->nr_launches; i-- > 0;) {
        if (has_argument(&plan->launches[i], name))
            return plan->launches[i].kernel;
    }
    return plan->launches[0].kernel;
}

static bool was_cut_short(const struct device_findings *findings)
{
    for (size_t i = 0; i < findings->nr; i++) {
        if (findings->items[i].check == DEVICE_CHECK_MEMORY ||
            findings->items[i].check == DEVICE_CHECK_SYNC)
            return true;
    }
    return false;
}

/* Looks for elements of outputs that no launch wrote. After a fault that ended threads early there
 * is nothing to learn from them. */
static void find_unwritten(struct sanitizing *s, const struct run_buffers *buffers)
{
    if (!(s->checks >> DEVICE_CHECK_INIT & 1) || !s->device->ops->unwritten ||
        was_cut_short(s->findings))
        return;
    for (unsigned i = 0; i < s->c->task->nr_arrays; i++) {
        const struct run_buffer *b = &buffers->buffers[i];
        const unsigned each =
            b->array->record ? b->array->record->bytes : elem_bytes(b->array->elem);
        const uint64_t nr = b->bytes / each;
        uint64_t first = 0;
        if (b->array->role != ROLE_OUT)
            continue;
        const uint64_t missing = s->device->ops->unwritten(s->device, b->address, nr, each, &first);
        if (!missing)
            continue;
        struct device_finding f = {.check = DEVICE_CHECK_INIT,
            .line = b->array->line,
            .times = 1,
            .kernel = kernel_with(&s->c->plan, b->array->name)};
        snprintf(f.text, sizeof(f.text),
            "unwritten output: %s has %llu of %llu elements that no launch writes, element %llu "
            "first",
            b->array->name, (unsigned long long)missing, (unsigned long long)nr,
            (unsigned long long)first);
        device_findings_add(s->findings, &f);
    }
}

/* Compares the outputs with those of the first order: every order of the warps must give the
 * same. */
static bool compare(struct sanitizing *s, const struct run_buffers *buffers, struct err *err)
{
    for (unsigned i = 0; i < s->c->task->nr_arrays; i++) {
        const struct run_buffer *b = &buffers->buffers[i];
        if (b->array->role == ROLE_IN)
            continue;
        uint8_t *bytes = xmalloc(b->bytes + 1);
        if (!device_read(s->device, b->address, bytes, b->bytes, err)) {
            free(bytes);
            return false;
        }
        if (!s->outputs[i]) {
            s->outputs[i] = bytes;
            continue;
        }
        if (memcmp(bytes, s->outputs[i], b->bytes) != 0 && !s->float_atomics &&
            s->checks >> DEVICE_CHECK_RACE & 1) {
            struct device_finding f = {
                .check = DEVICE_CHECK_RACE, .times = 1, .kernel = s->c->plan.launches[0].kernel};
            uint64_t at = 0;
            while (bytes[at] == s->outputs[i][at])
                at++;
            snprintf(f.text, sizeof(f.text),
                "%s depends on the order in which warps run, first at byte %llu", b->array->name,
                (unsigned long long)at);
            device_findings_add(s->findings, &f);
        }
        free(bytes);
    }
    return true;
}

static bool run_order(struct sanitizing *s, const struct env *env, uint64_t order, struct err *err)
{
    struct candidate *c = s->c;
    struct run_buffers buffers = {0};
    struct device_launch *launches = NULL;
    struct device_result result = {0};
    bool ok = run_alloc(s->device, c->task, &c->plan, env, 0, s->arena, &buffers, &result, err);

    if (ok && result.verdict == VERDICT_OK)
        ok = run_fill(s->device, c->task, &buffers, env, c->seed, err) &&
             run_bind(c->task, &c->plan, &c->compilation, env, &buffers, s->arena, &launches,
                 &result, err);

    for (unsigned i = 0; ok && result.verdict == VERDICT_OK && i < c->plan.nr_launches; i++) {
        launches[i].findings = s->findings;
        launches[i].checks = s->checks;
        launches[i].strict_races = s->strict_races;
        launches[i].max_findings = MAX_FINDINGS;
        launches[i].seed = order;
    }
    if (ok && result.verdict == VERDICT_OK) {
        for (unsigned i = 0; ok && i < c->plan.nr_launches; i++) {
            ok = device_launch(s->device, s->module, &launches[i], &result, err);
            s->float_atomics |= result.float_atomics;
            if (result.verdict == VERDICT_LAUNCH_FAILED || result.verdict == VERDICT_UNSUPPORTED ||
                result.verdict == VERDICT_TIMEOUT)
                break;
            result.verdict = VERDICT_OK; /* the findings hold the fault */
        }
    }
    if (ok && result.verdict != VERDICT_OK)
        candidate_fail(c, result.verdict, result.line, "%s", result.text);
    if (ok && c->verdict == VERDICT_OK && order == 0)
        find_unwritten(s, &buffers);
    ok = ok && (c->verdict != VERDICT_OK || compare(s, &buffers, err));
    run_free(s->device, &buffers);
    return ok;
}

/* Keeps the printed text of the first order; the other orders print the same again. */
static bool keep_printed(struct sanitizing *s, uint64_t order, struct str *printed)
{
    if (order == 0) {
        str_clear(printed);
        str_add(printed, str_text(&s->findings->printed));
    }
    return true;
}

static bool run_shape(struct sanitizing *s, const struct shape *shape, struct err *err)
{
    bool ok = true;

    s->arena = arena_create();
    s->outputs = arena_array(s->arena, s->c->task->nr_arrays + 1, sizeof(*s->outputs));
    s->float_atomics = false;
    struct str printed = {0};
    str_add(&printed, str_text(&s->findings->printed));
    const struct env env = plan_env(s->arena, &s->c->plan, shape);
    for (uint64_t order = 0; ok && order < NR_ORDERS && s->c->verdict == VERDICT_OK; order++)
        ok = run_order(s, &env, order, err) && keep_printed(s, order, &printed);
    str_finish(&s->findings->printed);
    s->findings->printed = printed;
    for (unsigned i = 0; i < s->c->task->nr_arrays; i++)
        free(s->outputs[i]);
    arena_destroy(s->arena);
    return ok;
}

bool sanitize_run(struct device *device, struct candidate *c, unsigned checks, bool strict_races,
    struct device_findings *findings, struct err *err)
{
    struct sanitizing s = {.device = device,
        .c = c,
        .checks = checks,
        .strict_races = strict_races,
        .findings = findings};
    struct device_result result = {0};
    bool ok = true;

    if (device->ops->time_from != PROV_MODELLED)
        return err_set(err, "--sanitize needs the emulator: --device emu");
    if (!device_load(device, &c->compilation, &s.module, &result, err))
        return false;
    if (result.verdict != VERDICT_OK) {
        candidate_fail(c, result.verdict, result.line, "%s", result.text);
        return true;
    }
    for (unsigned i = 0; ok && i < c->task->nr_checks; i++)
        ok = run_shape(&s, &c->task->checks[i], err);
    if (ok && c->task->nr_checks == 0)
        ok = run_shape(&s, &c->task->timed, err);
    device_unload(device, s.module);
    return ok;
}

/* ---- printing the findings ---- */

static void print_json(struct str *out, const struct device_findings *findings)
{
    json_t *list = json_array();

    for (size_t i = 0; i < findings->nr; i++) {
        const struct device_finding *f = &findings->items[i];
        json_array_append_new(list,
            json_pack("{s:s, s:s, s:i, s:I, s:s}", "check", device_check_name(f->check), "kernel",
                f->kernel, "line", (int)f->line, "times", (json_int_t)f->times, "text", f->text));
    }
    json_t *all = json_pack("{s:o, s:i, s:s}", "sanitizers", list, "left_out",
        (int)findings->nr_more, "printed", str_text(&findings->printed));
    json_add(out, all, JSON_INDENT(2));
}

void sanitize_print(
    struct str *out, const struct device_findings *findings, unsigned checks, bool json)
{
    if (json) {
        print_json(out, findings);
        return;
    }
    if (findings->printed.len)
        str_addf(out, "printed by the kernel%s:\n%s\n", findings->print_cut ? " (cut)" : "",
            str_text(&findings->printed));
    for (size_t i = 0; i < findings->nr; i++) {
        const struct device_finding *f = &findings->items[i];
        str_addf(out, "%-6s  ", device_check_name(f->check));
        if (f->line)
            str_addf(out, "line %u, ", f->line);
        str_addf(out, "%s: %s", f->kernel, f->text);
        str_addf(out, f->times > 1 ? " (%llu times)\n" : "\n", (unsigned long long)f->times);
    }
    if (findings->nr_more)
        str_addf(out, "and %u more\n", findings->nr_more);
    str_addf(out, "%zu found by the sanitizers:", findings->nr);
    for (int i = 0; i < NR_DEVICE_CHECKS; i++) {
        if (checks >> i & 1 || i == DEVICE_CHECK_MEMORY)
            str_addf(out, " %s", device_check_name((enum device_check)i));
    }
    str_add_char(out, '\n');
}
