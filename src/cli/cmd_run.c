/* Owns the single run: no search, no database. */
#include "cli/commands.h"

#include "base/file.h"
#include "base/str.h"
#include "cli/load_task.h"
#include "cli/parts.h"
#include "cli/run_moves.h"
#include "cli/run_sanitize.h"
#include "cli/what_if.h"
#include "core/inputs.h"
#include "core/npy.h"
#include "device/run.h"
#include "explain/hypotheses.h"
#include "explain/plugin.h"
#include "explain/views/views.h"
#include "report/json_text.h"
#include "report/plot.h"
#include "report/report.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct single {
    const struct options *options;
    struct arena *arena;
    struct task task;
    struct workbench *bench;
    struct device *device; /* the workbench's */
    struct candidate c;
    struct hypotheses expected;    /* explain */
    struct model_explanation said; /* explain --model */
    bool has_said;
    struct what_if other; /* explain --what-if */
    struct device_findings findings;
};

/* ---- --dump: the arrays of the first check shape as .npy ---- */

static bool dump_array(const struct single *one, const struct run_buffer *buffer,
    const struct env *env, struct err *err)
{
    const struct task_array *array = buffer->array;
    void *bytes = malloc(buffer->bytes + 1);
    uint64_t dims[TASK_MAX_DIMS];
    bool ok = !array->record || err_set(err,
                                    "--dump: %s is an array of structs, which a .npy file cannot "
                                    "hold; leave --dump out",
                                    array->name);

    for (unsigned d = 0; ok && d < array->nr_dims; d++) {
        int64_t extent = 0;
        ok = expr_eval(array->dims[d], env, &extent, err);
        dims[d] = (uint64_t)extent;
    }
    ok = ok && bytes && device_read(one->device, buffer->address, bytes, buffer->bytes, err) &&
         npy_write(arena_printf(one->arena, "%s/%s.npy", one->options->dump_dir, array->name),
             array->elem, bytes, dims, array->nr_dims, err);
    free(bytes);
    return ok;
}

static bool dump_shape(const struct single *one, const struct shape *shape, struct err *err)
{
    struct str text = {0};
    bool ok;

    str_add_char(&text, '{');
    for (size_t i = 0; i < shape->sizes.nr; i++)
        str_addf(&text, "%s\"%s\": %lld", i ? ", " : "", shape->sizes.bindings[i].name,
            (long long)shape->sizes.bindings[i].value);
    for (unsigned i = 0; i < one->task.nr_scalars; i++)
        str_addf(&text, ", \"%s\": %.17g", one->task.scalars[i].name, one->task.scalars[i].value);
    str_add(&text, "}\n");
    ok = file_write(arena_printf(one->arena, "%s/shape.json", one->options->dump_dir),
        str_text(&text), text.len, err);
    str_finish(&text);
    return ok;
}

static bool fill_inputs(const struct single *one, const struct run_buffers *buffers,
    const struct env *env, struct err *err)
{
    bool ok = true;

    for (unsigned i = 0; ok && i < one->task.nr_arrays; i++) {
        const struct run_buffer *buffer = &buffers->buffers[i];
        void *bytes;

        if (buffer->array->role != ROLE_IN && buffer->array->role != ROLE_INOUT)
            continue;
        bytes = calloc(1, buffer->bytes + 1);
        ok = bytes &&
             inputs_fill_beside(
                 &one->task, buffer->array, env, one->options->seed + i, bytes, buffer->nr, err) &&
             device_write(one->device, buffer->address, bytes, buffer->bytes, err);
        free(bytes);
        /* an inout array's value before the run, under its own name */
        if (ok && buffer->array->role == ROLE_INOUT) {
            struct task_array before = *buffer->array;
            struct run_buffer copy = *buffer;
            before.name = arena_printf(one->arena, "%s.in", before.name);
            copy.array = &before;
            ok = dump_array(one, &copy, env, err);
        }
    }
    return ok;
}

static bool dump(struct single *one, struct err *err)
{
    const struct shape *shape = one->task.nr_checks ? &one->task.checks[0] : &one->task.timed;
    const struct env env = plan_env(one->arena, &one->c.plan, shape);
    struct run_buffers buffers = {0};
    struct device_launch *launches = NULL;
    struct device_module *module = NULL;
    struct device_result result = {0};
    bool ok;

    ok = file_mkdirs(one->options->dump_dir, err) &&
         run_alloc(
             one->device, &one->task, &one->c.plan, &env, 0, one->arena, &buffers, &result, err) &&
         (result.verdict == VERDICT_OK || err_set(err, "%s", result.text)) &&
         fill_inputs(one, &buffers, &env, err) &&
         run_bind(&one->task, &one->c.plan, &one->c.compilation, &env, &buffers, one->arena,
             &launches, &result, err) &&
         (result.verdict != VERDICT_OK ||
             device_load(one->device, &one->c.compilation, &module, &result, err)) &&
         (result.verdict != VERDICT_OK ||
             run_launches(one->device, module, launches, one->c.plan.nr_launches, &result, err));
    if (ok && result.verdict != VERDICT_OK)
        ok = err_set(err, "%s: %s", verdict_name(result.verdict), result.text);
    for (unsigned i = 0; ok && i < one->task.nr_arrays; i++)
        ok = dump_array(one, &buffers.buffers[i], &env, err);
    ok = ok && dump_shape(one, shape, err);
    if (module)
        device_unload(one->device, module);
    run_free(one->device, &buffers);
    return ok;
}

/* ---- the run ---- */

static bool open_parts(struct single *one, struct err *err)
{
    const struct options *o = one->options;
    struct workbench_options bench = options_bench(o);

    if (o->sanitize && strcmp(o->device, "auto") == 0)
        bench.device.name = "emu";
    bench.gpus = NULL;
    one->arena = arena_create();
    if (!load_task(&one->task, one->arena, o, err))
        return false;
    command_ends_neatly();
    one->bench = workbench_open(&bench, err);
    if (!one->bench)
        return false;
    one->device = workbench_device(one->bench, 0);
    return true;
}

static bool evaluate(struct single *one, struct err *err)
{
    const struct options *o = one->options;
    struct candidate *c = &one->c;

    candidate_begin(c, one->arena, &one->task, o->seed);
    if (!compile_kernel(workbench_compiler(one->bench), c, err))
        return false;
    if (o->sanitize && c->verdict == VERDICT_OK &&
        !sanitize_run(one->device, c, o->sanitize, o->strict_races, &one->findings, err))
        return false;
    return ((o->sanitize && !o->profile && c->verdict == VERDICT_OK) ||
               workbench_measure(one->bench, &one->task, c, err)) &&
           (!o->dump_dir || c->verdict != VERDICT_OK || dump(one, err));
}

/* Runs the user's own tools. A tool's failure is printed and harms nothing. */
static bool run_tools(struct single *one, struct err *err)
{
    struct str notes = {0};
    bool ok;

    if (!one->options->tools_dir || one->c.verdict != VERDICT_OK)
        return true;
    ok = plugins_run(one->options->tools_dir, &one->c, &notes, err);
    fputs(str_text(&notes), stderr);
    str_finish(&notes);
    return ok;
}

/* --db: records the calls of models, for `keet-opt calls`. */
static bool keep_calls(struct single *one, struct err *err)
{
    const struct options *o = one->options;
    struct run_info run = {.kernel_path = o->kernel_path,
        .original = one->task.source,
        .device = arena_printf(one->arena, "%s:%s", one->device->ops->name, one->device->chip->key),
        .policy = "explain",
        .version = KEET_VERSION,
        .seed = o->seed,
        .budget = "0"};
    struct store *store = store_open(o->db_path, err);
    bool ok = store && store_begin_run(store, &run, err) && store_kernel(store, &one->c, err) &&
              store_end_run(store, "explained", 0, err);

    store_close(store);
    return ok;
}

static bool ask_model(struct single *one, struct err *err)
{
    const struct options *o = one->options;
    const struct model_explanation_options model = options_model_explanation(o);

    one->has_said = o->verb == VERB_EXPLAIN && o->nr_models > 0 && one->c.verdict == VERDICT_OK;
    return !one->has_said || (model_explain(&model, one->device->chip, &one->c, &one->said, err) &&
                                 (!o->db_path || keep_calls(one, err)));
}

static json_t *hypotheses_json(const struct hypotheses *all)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < all->nr; i++)
        json_array_append_new(
            list, json_pack("{s:s, s:i, s:s, s:s, s:s}", "tool", all->items[i].tool, "line",
                      (int)all->items[i].line, "text", all->items[i].text, "judgement",
                      judgement_name(all->items[i].judgement), "why", all->items[i].why));
    return list;
}

static void print_hypotheses(struct str *out, const struct single *one)
{
    struct str text = {0};

    hypotheses_write(&one->expected, &one->c, &text);
    str_add(out, one->options->markdown ? "\n### From the source, then by the counters\n\n"
                                        : "\nFrom the source, then by the counters\n");
    text_indent(out, str_text(&text), one->options->markdown ? "- " : "  ");
    str_finish(&text);
}

/* Prints the JSON of `run`, with the members that only `explain` adds. */
static void print_json(struct str *out, const struct single *one)
{
    json_t *root = report_candidate_value(&one->c);

    if (one->c.verdict == VERDICT_OK)
        json_object_set_new(root, "limits", view_limits_json(one->device->chip, &one->c));
    json_object_set_new(root, "hypotheses", hypotheses_json(&one->expected));
    if (one->has_said)
        json_object_set_new(root, "model", model_explanation_json(&one->said));
    if (one->options->what_if)
        json_object_set_new(root, "what_if", what_if_json(&one->other));
    json_add(out, root, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
}

/* How far times of this chip may be believed; the default chip has docs/explanation/time.md. */
static void print_chip(struct str *out, const struct single *one)
{
    const struct chip *chip = one->device->chip;

    if (!one->options->json && strcmp(one->device->ops->name, "emu") == 0 && chip != chip_default())
        str_addf(
            out, "On %s: %s.\n%s", chip->name, chip->validated, one->options->markdown ? "\n" : "");
}

static void print(struct str *out, const struct single *one)
{
    const struct options *o = one->options;

    print_chip(out, one);
    if (o->verb != VERB_EXPLAIN && o->json) {
        report_candidate_json(out, &one->c);
    } else if (o->verb != VERB_EXPLAIN) {
        report_candidate(out, &one->c);
    } else if (o->json) {
        print_json(out, one);
    } else {
        view_one_print(
            out, o->kernel_path, one->device->chip, &one->c, o->markdown, o->verbosity > 0);
        if (one->expected.nr > 0)
            print_hypotheses(out, one);
        if (one->has_said)
            model_explanation_print(out, &one->said, o->markdown);
        what_if_print(&one->other, &one->c, out, o->markdown);
    }
}

static bool list_moves(const struct options *options, struct err *err)
{
    struct arena *arena = arena_create();
    struct task task;
    struct candidate c;
    struct str text = {0};
    bool ok = load_task(&task, arena, options, err);

    if (ok) {
        candidate_begin(&c, arena, &task, options->seed);
        ok = moves_list(&c, chip_of_device(options->device), options->json, &text, err);
    }
    if (ok)
        fputs(str_text(&text), stdout);
    str_finish(&text);
    arena_destroy(arena);
    return ok;
}

static void draw_roofline(const struct single *one)
{
    const struct options *o = one->options;
    const struct profile *profile = &one->c.profile;
    struct str text = {0};
    struct plot plot;

    if (o->verb != VERB_EXPLAIN || o->json || o->markdown || !one->c.profiled ||
        !plot_wanted(o->plot, stdout, &plot))
        return;
    plot_roofline(&text, &plot, one->device->chip, counters_get(&profile->total, METRIC_FLOPS),
        counters_get(&profile->total, METRIC_DRAM_BYTES), profile->time_ns);
    if (text.len > 0)
        putchar('\n');
    plot_print(stdout, str_text(&text), &plot);
    str_finish(&text);
}

static bool ask_what_if(struct single *one, struct err *err)
{
    const struct options *o = one->options;

    return !o->what_if || one->c.verdict != VERDICT_OK ||
           what_if_run(one->bench, &one->c, o->seed, &one->other, err);
}

bool cmd_run(const struct options *options, int *status, struct err *err)
{
    if (options->moves)
        return list_moves(options, err);
    struct single one = {.options = options};
    struct str text = {0};
    const bool ok = open_parts(&one, err) && evaluate(&one, err) && run_tools(&one, err) &&
                    ask_model(&one, err) && ask_what_if(&one, err);

    if (ok) {
        if (one.c.verdict != VERDICT_OK || one.findings.nr > 0)
            *status = EXIT_KERNEL;
        if (options->verb == VERB_EXPLAIN && one.c.verdict == VERDICT_OK)
            one.expected = explain_hypotheses(one.device->chip, &one.c);
        if (options->sanitize && one.c.verdict == VERDICT_OK)
            sanitize_print(&text, &one.findings, options->sanitize, options->json);
        if (!options->sanitize || options->profile || one.c.verdict != VERDICT_OK)
            print(&text, &one);
        fputs(str_text(&text), stdout);
        draw_roofline(&one);
    } else if (err->original) {
        *status = EXIT_KERNEL;
    }
    str_finish(&text);
    device_findings_finish(&one.findings);
    workbench_close(one.bench);
    arena_destroy(one.arena);
    return ok;
}
