/* Owns `keet-opt compare`: the gate between two versions of a kernel. */
#include "base/str.h"
#include "cli/commands.h"
#include "cli/load_task.h"
#include "cli/look.h"
#include "cli/parts.h"
#include "core/chip.h"
#include "explain/views/gate.h"
#include "run/versions.h"

/* The new version has the contract of the old one, and reasons name its own file. */
static bool read_new(
    struct candidate *c, const struct task *task, const struct options *o, struct err *err)
{
    struct task *named = arena_alloc(c->arena, sizeof(*named));
    struct options one = *o;

    one.kernel_path = o->paths[1];
    *named = *task;
    named->path = one.kernel_path;
    c->task = named;
    return load_source(&c->source, &c->source_bytes, c->arena, &one, err);
}

static bool read_limits(
    const struct options *o, struct arena *arena, struct gate *gate, int *status, struct err *err)
{
    struct gate_limit *limits = arena_array(arena, o->nr_fail_if + 1, sizeof(*limits));

    *status = EXIT_ARGUMENTS;
    for (unsigned i = 0; i < o->nr_fail_if; i++)
        if (!gate_limit_parse(&limits[i], o->fail_if[i], err))
            return false;
    *status = EXIT_DONE;
    gate->limits = limits;
    gate->nr_limits = o->nr_fail_if;
    return true;
}

static void print(const struct options *o, const struct gate *gate)
{
    struct str out = {0};

    if (o->json)
        gate_print_json(&out, gate);
    else
        gate_print(&out, gate, o->markdown, o->verbosity > 0);
    look_print(str_text(&out));
    str_finish(&out);
}

bool cmd_compare(const struct options *o, int *status, struct err *err)
{
    struct workbench_options bench_options = options_bench(o);
    struct arena *arena = arena_create();
    struct explained before = {.file = o->paths[0]}, after = {.file = o->paths[1]};
    struct gate *gate = arena_alloc(arena, sizeof(*gate));
    struct workbench *bench = NULL;
    struct task task;
    bool ok;

    *gate = (struct gate){.before = &before, .after = &after};
    candidate_init(&before.c, arena, NULL);
    candidate_init(&after.c, arena, NULL);
    bench_options.gpus = NULL;
    ok = read_limits(o, arena, gate, status, err) && load_task(&task, arena, o, err) &&
         read_new(&after.c, &task, o, err);
    command_ends_neatly();
    ok = ok && (bench = workbench_open(&bench_options, err)) != NULL &&
         versions_evaluate(bench, &task, o->seed, &before.c, &after.c, err);
    gate->device = ok ? workbench_chip(bench)->name : "";
    ok = ok && gate_judge(gate, err);
    if (ok)
        print(o, gate);
    if (ok && !gate->passed)
        *status = EXIT_KERNEL;
    workbench_close(bench);
    arena_destroy(arena);
    return ok;
}
