/* Owns the meaning of a task under one set of sizes: environments, element counts, launches. Also
 * makes the code without its pragmas. */
#include "base/mem.h"
#include "core/task.h"
#include "core/task_lines.h"

#include <inttypes.h>
#include <string.h>

struct env plan_env(struct arena *arena, const struct plan *plan, const struct shape *shape)
{
    struct binding *bindings;

    if (plan->nr_tunes == 0)
        return shape->sizes;
    bindings = arena_array(arena, shape->sizes.nr + plan->nr_tunes, sizeof(*bindings));
    for (size_t i = 0; i < shape->sizes.nr; i++)
        bindings[i] = shape->sizes.bindings[i];
    for (unsigned i = 0; i < plan->nr_tunes; i++)
        bindings[shape->sizes.nr + i] = (struct binding){plan->tunes[i].name, plan->tunes[i].value};
    return (struct env){bindings, shape->sizes.nr + plan->nr_tunes};
}

bool plan_allows(const struct plan *plan, const struct env *env)
{
    struct err ignored;
    int64_t value;

    for (unsigned i = 0; i < plan->nr_wheres; i++) {
        if (!expr_eval(plan->wheres[i], env, &value, &ignored) || !value)
            return false;
    }
    return true;
}

bool array_elems(
    const struct task_array *array, const struct env *env, uint64_t *nr, struct err *err)
{
    int64_t dim;

    *nr = 1;
    for (unsigned i = 0; i < array->nr_dims; i++) {
        if (!expr_eval(array->dims[i], env, &dim, err))
            return false;
        if (dim < 0)
            return err_set(err, "dimension [%s] is %" PRId64 "; expected at least 0",
                expr_text(array->dims[i]), dim);
        if (__builtin_mul_overflow(*nr, (uint64_t)dim, nr) || *nr > (uint64_t)1 << 40)
            return err_set(err, "more than 2^40 elements; expected a smaller array");
    }
    *nr *= array->record ? array->record->nr : 1;
    return true;
}

/* The elements of all arrays; UINT64_MAX where array_elems fails for one. */
static uint64_t total_of(const struct task *task, const struct env *env, bool bytes)
{
    struct err ignored;
    uint64_t total = 0, nr;

    for (unsigned i = 0; i < task->nr_arrays; i++) {
        if (!array_elems(&task->arrays[i], env, &nr, &ignored))
            return UINT64_MAX;
        total += bytes ? array_bytes(&task->arrays[i], nr) : nr;
    }
    return total;
}

uint64_t task_elems(const struct task *task, const struct env *env)
{
    return total_of(task, env, false);
}

uint64_t task_bytes(const struct task *task, const struct env *env)
{
    return total_of(task, env, true);
}

const struct launch_arg *launch_leaf(const struct launch *launch, unsigned i)
{
    for (unsigned a = 0; a < launch->nr_args; a++) {
        const struct launch_arg *arg = &launch->args[a];
        const unsigned nr = arg->kind == ARG_STRUCT ? arg->nr_fields : 1;

        if (i < nr)
            return arg->kind == ARG_STRUCT ? &arg->fields[i] : arg;
        i -= nr;
    }
    return NULL;
}

bool array_dims_use(const struct task_array *array, const char *name)
{
    for (unsigned d = 0; d < array->nr_dims; d++)
        if (expr_uses(array->dims[d], name))
            return true;
    return false;
}

bool launch_config_uses(const struct launch *launch, const char *name)
{
    bool uses = expr_uses(launch->smem_bytes, name);

    for (unsigned d = 0; d < 3; d++)
        uses = uses || expr_uses(launch->grid[d], name) || expr_uses(launch->block[d], name) ||
               expr_uses(launch->cluster[d], name);
    return uses;
}

static bool tensor_uses(const struct tensor_view *v, const char *name)
{
    bool uses = v->swizzle && expr_uses(v->swizzle, name);

    for (unsigned d = 0; d < TENSOR_VIEW_DIMS; d++)
        uses = uses || (v->box[d] && expr_uses(v->box[d], name)) ||
               (v->size[d] && expr_uses(v->size[d], name)) ||
               (v->stride[d] && expr_uses(v->stride[d], name)) ||
               (v->step[d] && expr_uses(v->step[d], name));
    return uses;
}

static bool arg_uses(const struct launch_arg *arg, const char *name)
{
    bool uses = arg->value && expr_uses(arg->value, name);

    for (unsigned d = 0; arg->texture && d < arg->texture->nr_dims; d++)
        uses = uses || expr_uses(arg->texture->size[d], name);
    return uses || (arg->tensor && tensor_uses(arg->tensor, name));
}

bool launch_uses(const struct launch *launch, const char *name)
{
    const struct launch_arg *arg;
    bool uses = launch_config_uses(launch, name);

    for (unsigned i = 0; !uses && (arg = launch_leaf(launch, i)) != NULL; i++)
        uses = arg_uses(arg, name);
    return uses;
}

static bool resolve(const struct launch *launch, const char *what, const struct expr *expr,
    const struct env *env, int64_t least, int64_t most, uint32_t *out, struct err *why)
{
    int64_t value;
    struct err inner;

    if (!expr_eval(expr, env, &value, &inner))
        return err_set(why, "line %u: %s: %.1000s", launch->line, what, inner.text);
    if (value < least || value > most)
        return err_set(why,
            "line %u: %s is %" PRId64 " (`%.200s`); expected %" PRId64 " to %" PRId64, launch->line,
            what, value, expr_text(expr), least, most);
    *out = (uint32_t)value;
    return true;
}

/* The limits are those of every CUDA device since compute capability 3.0 (CUDA C++ programming
 * guide, table of technical specifications). The device checks the further limits of a chip. */
bool launch_resolve(const struct launch *launch, const struct env *env,
    struct launch_config *config, struct err *why)
{
    static const char *const grid[] = {"grid.x", "grid.y", "grid.z"};
    static const char *const block[] = {"block.x", "block.y", "block.z"};
    static const char *const cluster[] = {"cluster.x", "cluster.y", "cluster.z"};
    static const int64_t grid_most[] = {INT32_MAX, 65535, 65535};
    static const int64_t block_most[] = {1024, 1024, 64};
    uint64_t threads = 1, blocks = 1;

    config->kernel = launch->kernel;
    for (int i = 0; i < 3; i++) {
        if (!resolve(launch, block[i], launch->block[i], env, 1, block_most[i], &config->block[i],
                why) ||
            !resolve(
                launch, grid[i], launch->grid[i], env, 1, grid_most[i], &config->grid[i], why) ||
            !resolve(launch, cluster[i], launch->cluster[i], env, 1, 16, &config->cluster[i], why))
            return false;
        threads *= config->block[i];
        blocks *= config->cluster[i];
        if (config->grid[i] % config->cluster[i] != 0)
            return err_set(why,
                "line %u: %s is %u, not a multiple of %s = %u; expected whole "
                "clusters",
                launch->line, grid[i], config->grid[i], cluster[i], config->cluster[i]);
    }
    if (threads > 1024)
        return err_set(why,
            "line %u: %" PRIu64 " threads per block (%u x %u x %u); expected at "
            "most 1024",
            launch->line, threads, config->block[0], config->block[1], config->block[2]);
    if (blocks > 16)
        return err_set(why, "line %u: %" PRIu64 " blocks per cluster; expected at most 16",
            launch->line, blocks);
    return resolve(launch, "the shared memory in bytes", launch->smem_bytes, env, 0, INT32_MAX,
        &config->smem_bytes, why);
}

const struct task_array *task_find_array(
    const struct task *task, const struct plan *plan, const char *name)
{
    for (unsigned i = 0; i < task->nr_arrays; i++) {
        if (strcmp(task->arrays[i].name, name) == 0)
            return &task->arrays[i];
    }
    for (unsigned i = 0; plan && i < plan->nr_temps; i++) {
        if (strcmp(plan->temps[i].name, name) == 0)
            return &plan->temps[i];
    }
    return NULL;
}

const struct task_scalar *task_find_scalar(const struct task *task, const char *name)
{
    for (unsigned i = 0; i < task->nr_scalars; i++) {
        if (strcmp(task->scalars[i].name, name) == 0)
            return &task->scalars[i];
    }
    return NULL;
}

char *task_code(const char *source, size_t source_bytes)
{
    char *code = xmalloc(source_bytes + 1);
    struct arena *arena = arena_create();
    struct task_lines lines;
    struct err ignored;

    if (source_bytes)
        memcpy(code, source, source_bytes);
    code[source_bytes] = 0;
    if (task_lines_find(&lines, arena, "", source, source_bytes, &ignored)) {
        for (unsigned i = 0; i < lines.nr; i++) {
            for (size_t at = lines.pragmas[i].begin; at < lines.pragmas[i].end; at++) {
                if (code[at] != '\n')
                    code[at] = ' ';
            }
        }
    }
    arena_destroy(arena);
    return code;
}
