/* Owns the launches of a winner and of the contract, read into one form. */
#include "intake/patch/patch_parts.h"

#include "base/mem.h"
#include "core/elem.h"
#include "intake/eval/resolver.h"
#include "intake/syntax/spelling.h"

#include <string.h>

/* The kernel that an id names with its namespaces and template arguments. */
static const struct decl *kernel_of(const struct decls *decls, struct arena *arena, const char *id)
{
    const char *name = arena_strndup(arena, id, strcspn(id, "<"));

    for (const char *p; (p = strstr(name, "::")) != NULL;)
        name = p + 2;
    return decls_function(decls, spelling_dense(arena, name));
}

static const char *argument(
    struct arena *arena, const struct plan *plan, const struct launch_arg *arg)
{
    const char *value = arg->value ? expr_text(arg->value) : NULL;

    if (arg->kind == ARG_TEXTURE)
        return scope_names_plain(arena, plan, arg->texture->written);
    if (arg->kind == ARG_TENSOR_MAP)
        return spelling_dense(arena, scope_names_plain(arena, plan, arg->tensor->written));
    if (arg->kind == ARG_ARRAY && value) /* x + 4 */
        value = arena_printf(arena, "%s + %s", arg->name, value);
    return scope_names_plain(arena, plan, value ? value : arg->name);
}

/* Reads a launch of a plan, whose kernel is among decls. False: p->why. */
static bool read_launch(struct relaunch *l, struct launch_words *w, const struct plan *plan,
    const struct launch *launch, const struct decls *decls)
{
    struct arena *arena = l->p->arena;

    w->id = launch->kernel;
    for (unsigned t = 0; t < plan->nr_tunes; t++)
        w->id = spelling_with_number(
            arena, w->id, plan->tunes[t].name, (long long)plan->tunes[t].value);
    w->id = spelling_dense(arena, w->id);
    for (unsigned i = 0; i < 3; i++) {
        w->dims[0][i] = scope_names_plain(arena, plan, expr_text(launch->grid[i]));
        w->dims[1][i] = scope_names_plain(arena, plan, expr_text(launch->block[i]));
        w->dims[2][i] = scope_names_plain(arena, plan, expr_text(launch->cluster[i]));
    }
    w->smem = scope_names_plain(arena, plan, expr_text(launch->smem_bytes));
    w->nr_args = launch->nr_args;
    w->said = launch->args;
    if (w->nr_args > LAUNCH_MAX_ARGS)
        return patcher_refuse(l->p, "%s has too many arguments", w->id);
    for (unsigned i = 0; i < w->nr_args; i++)
        w->args[i] = argument(arena, plan, &launch->args[i]);
    w->decls = decls;
    w->kernel = kernel_of(decls, arena, w->id);
    return true;
}

static bool read_launches(struct relaunch *l, struct launch_words *words, unsigned *nr,
    const struct plan *plan, const struct decls *decls)
{
    if (plan->nr_launches > INTAKE_MAX_LAUNCHES)
        return patcher_refuse(l->p, "there are too many launches");
    for (; *nr < plan->nr_launches; ++*nr)
        if (!read_launch(l, &words[*nr], plan, &plan->launches[*nr], decls))
            return false;
    return true;
}

/* ---- scratch memory ---- */

/* The scratch array is the user's own memory: the user's plan has it, with the same extents. */
static bool is_users(const struct plan *plan, const struct task_array *temp)
{
    for (unsigned i = 0; i < plan->nr_temps; i++) {
        const struct task_array *a = &plan->temps[i];
        bool same = strcmp(a->name, temp->name) == 0 && a->elem == temp->elem &&
                    !a->record == !temp->record && a->nr_dims == temp->nr_dims &&
                    (!a->record || strcmp(a->record->text, temp->record->text) == 0);

        for (unsigned d = 0; same && d < a->nr_dims; d++)
            same = strcmp(expr_text(a->dims[d]), expr_text(temp->dims[d])) == 0;
        if (same)
            return true;
    }
    return false;
}

static void add_scratch(struct relaunch *l, const struct plan *users, const struct task_array *temp)
{
    const char *variable = temp->name, *type = spelling_c_type(elem_name(temp->elem));

    if (is_users(users, temp) || l->nr_scratch == ARRAY_SIZE(l->scratch))
        return;
    while (strstr(l->p->set->text, variable))
        variable = arena_printf(l->p->arena, "%s_", variable);
    l->scratch[l->nr_scratch++] =
        (struct scratch){temp->name, variable, type ? type : "char", temp};
}

bool relaunch_read(struct relaunch *l)
{
    struct patcher *p = l->p;

    if (!read_launches(l, l->old, &l->nr_old, &p->task->plan, &p->set->decls) ||
        !read_launches(l, l->new_, &l->nr_new, p->plan, &p->decls))
        return false;
    for (unsigned i = 0; i < p->plan->nr_temps; i++)
        add_scratch(l, &p->task->plan, &p->plan->temps[i]);
    return true;
}

bool relaunch_is_clustered(const struct launch_words *w)
{
    return strcmp(w->dims[2][0], "1") != 0 || strcmp(w->dims[2][1], "1") != 0 ||
           strcmp(w->dims[2][2], "1") != 0;
}

bool relaunch_is_long(const struct launch_words *w, const struct launch_words *old)
{
    bool is_long = relaunch_is_clustered(w);

    for (unsigned i = 0; i < w->nr_args && !is_long; i++) {
        bool passed = false;

        for (unsigned k = 0; k < old->nr_args && !passed; k++)
            passed = strcmp(old->args[k], w->args[i]) == 0;
        is_long = w->said[i].kind == ARG_TENSOR_MAP && !passed;
    }
    return is_long;
}

bool relaunch_same(const struct launch_words *a, const struct launch_words *b)
{
    bool same =
        strcmp(a->id, b->id) == 0 && strcmp(a->smem, b->smem) == 0 && a->nr_args == b->nr_args;

    for (unsigned i = 0; same && i < 9; i++)
        same = strcmp(a->dims[i / 3][i % 3], b->dims[i / 3][i % 3]) == 0;
    for (unsigned i = 0; same && i < a->nr_args; i++)
        same = strcmp(a->args[i], b->args[i]) == 0;
    return same;
}
