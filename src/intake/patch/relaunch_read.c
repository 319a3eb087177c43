/* Owns the launches of a winner and of the contract, read into one form. */
#include "intake/patch/patch_launch.h"

#include "base/mem.h"
#include "core/elem.h"
#include "intake/eval/params.h"
#include "intake/syntax/spelling.h"

#include <string.h>

static const char launch_pragma[] = "#pragma keet launch ";

/* An expression in one form; an expression that cannot be read stays as it is. */
static const char *plain(struct relaunch *l, const char *text)
{
    const char *done = scope_names_expr(&l->scope, text);

    return spelling_dense(l->p->arena, done ? done : text);
}

/* The kernel that an id names with its namespaces and template arguments. */
static const struct decl *kernel_of(const struct decls *decls, struct arena *arena, const char *id)
{
    const char *name = arena_strndup(arena, id, strcspn(id, "<"));

    for (const char *p; (p = strstr(name, "::")) != NULL;)
        name = p + 2;
    return decls_function(decls, spelling_dense(arena, name));
}

static void read_dims(struct relaunch *l, struct tok_range r, const char *dims[3])
{
    struct tok_range parts[3];
    const struct toks *toks = r.toks;

    for (unsigned i = 0; i < 3; i++)
        dims[i] = "1";
    if (r.from < r.to && tok_is(&toks->tok[r.from], "dim3") && toks->tok[r.from + 1].match)
        r = (struct tok_range){toks, r.from + 2, toks->tok[r.from + 1].match};
    unsigned nr = tok_range_split(r, parts, 3);

    for (unsigned i = 0; i < nr; i++)
        dims[i] = plain(l, toks_text(toks, l->p->arena, parts[i].from, parts[i].to));
}

/* Reads a launch of the contract from its line. */
static bool read_old(struct relaunch *l, struct launch_words *w, const char *text)
{
    struct arena *arena = l->p->arena;
    struct tok_range config[3], args[LAUNCH_MAX_ARGS];
    struct toks toks;

    if (!toks_lex(&toks, arena, text, strlen(text)))
        return false;
    const unsigned at = toks_find(&toks, 0, toks.nr, "<<<"),
                   close = toks_find(&toks, 0, toks.nr, ">>>");

    if (close + 1 >= toks.nr || at > close)
        return patcher_refuse(l->p, "the task's launch cannot be read again: %s", text);
    w->id = spelling_dense(arena, toks_text(&toks, arena, 0, at));
    w->smem = "0";
    const unsigned nr = tok_range_split((struct tok_range){&toks, at + 1, close}, config, 3);

    for (unsigned i = 0; i < 2 && i < nr; i++)
        read_dims(l, config[i], w->dims[i]);
    if (nr > 2)
        w->smem = plain(l, toks_text(&toks, arena, config[2].from, config[2].to));
    w->nr_args = tok_range_split(
        (struct tok_range){&toks, close + 2, toks.tok[close + 1].match}, args, LAUNCH_MAX_ARGS);
    for (unsigned i = 0; i < w->nr_args; i++)
        w->args[i] = plain(l, toks_text(&toks, arena, args[i].from, args[i].to));
    w->decls = &l->p->set->decls;
    w->kernel = kernel_of(w->decls, arena, w->id);
    return w->kernel != NULL && nr >= 2;
}

static const char *argument(struct relaunch *l, const struct launch_arg *arg)
{
    const char *value = arg->value ? expr_text(arg->value) : NULL;

    if (arg->kind == ARG_TEXTURE)
        return plain(l, arg->texture->written);
    if (arg->kind == ARG_TENSOR_MAP)
        return plain(l, arg->tensor->written);
    if (arg->kind == ARG_ARRAY && value) /* x + 4 */
        value = arena_printf(l->p->arena, "%s + %s", arg->name, value);
    return value ? plain(l, value) : spelling_dense(l->p->arena, arg->name);
}

static bool read_new(struct relaunch *l, struct launch_words *w, const struct launch *launch)
{
    const struct plan *plan = l->p->plan;
    struct arena *arena = l->p->arena;

    w->id = launch->kernel;
    for (unsigned t = 0; t < plan->nr_tunes; t++)
        w->id = spelling_with_number(
            arena, w->id, plan->tunes[t].name, (long long)plan->tunes[t].value);
    w->id = spelling_dense(arena, w->id);
    for (unsigned i = 0; i < 3; i++) {
        w->dims[0][i] = plain(l, expr_text(launch->grid[i]));
        w->dims[1][i] = plain(l, expr_text(launch->block[i]));
        if (strcmp(plain(l, expr_text(launch->cluster[i])), "1") != 0)
            return patcher_refuse(l->p,
                "%s is launched in clusters, which <<<>>> cannot say: use cudaLaunchKernelEx",
                w->id);
    }
    w->smem = plain(l, expr_text(launch->smem_bytes));
    w->nr_args = launch->nr_args;
    if (w->nr_args > LAUNCH_MAX_ARGS)
        return patcher_refuse(l->p, "%s has too many arguments", w->id);
    for (unsigned i = 0; i < w->nr_args; i++)
        w->args[i] = argument(l, &launch->args[i]);
    w->decls = &l->p->decls;
    w->kernel = kernel_of(w->decls, arena, w->id);
    return w->kernel || patcher_refuse(l->p, "%s is not in the winner's code", w->id);
}

/* ---- scratch memory ---- */

/* The scratch array is the user's own memory: the contract has it, with the same extents. */
static bool is_users(struct relaunch *l, const struct task_array *temp)
{
    const struct intake *in = &l->p->set->in;
    struct arena *arena = l->p->arena;
    struct str text = {0};
    bool found = false;

    str_addf(&text, "#pragmakeettemp%s:%s", temp->name,
        temp->record ? temp->record->text : elem_name(temp->elem));
    for (unsigned d = 0; d < temp->nr_dims; d++)
        str_addf(&text, "[%s]", spelling_dense(arena, expr_text(temp->dims[d])));
    for (unsigned i = 0; i < in->nr_lines && !found; i++)
        found = strcmp(spelling_dense(arena, in->lines[i].pragma), str_text(&text)) == 0;
    str_finish(&text);
    return found;
}

static void add_scratch(struct relaunch *l, const struct task_array *temp)
{
    const char *variable = temp->name, *type = spelling_c_type(elem_name(temp->elem));

    if (is_users(l, temp) || l->nr_scratch == ARRAY_SIZE(l->scratch))
        return;
    while (strstr(l->p->set->text, variable))
        variable = arena_printf(l->p->arena, "%s_", variable);
    l->scratch[l->nr_scratch++] =
        (struct scratch){temp->name, variable, type ? type : "char", temp};
}

bool relaunch_read(struct relaunch *l)
{
    struct patcher *p = l->p;
    const struct intake *in = &p->set->in;
    bool ok = true;

    scope_names_init(&l->scope, p, 0);
    l->scope.contract = true;
    for (unsigned i = 0; ok && i < in->nr_lines; i++) {
        const char *text = in->lines[i].pragma;

        if (str_starts(text, launch_pragma) && l->nr_old < INTAKE_MAX_LAUNCHES)
            ok = read_old(l, &l->old[l->nr_old++], text + sizeof(launch_pragma) - 1);
    }
    if (p->plan->nr_launches > INTAKE_MAX_LAUNCHES)
        return patcher_refuse(p, "the winner has too many launches");
    for (unsigned i = 0; ok && i < p->plan->nr_launches; i++)
        ok = read_new(l, &l->new_[l->nr_new++], &p->plan->launches[i]);
    for (unsigned i = 0; ok && i < p->plan->nr_temps; i++)
        add_scratch(l, &p->plan->temps[i]);
    return ok || patcher_refuse(p, "the task's launch cannot be read again");
}

bool relaunch_same(const struct launch_words *a, const struct launch_words *b)
{
    bool same =
        strcmp(a->id, b->id) == 0 && strcmp(a->smem, b->smem) == 0 && a->nr_args == b->nr_args;

    for (unsigned i = 0; same && i < 6; i++)
        same = strcmp(a->dims[i / 3][i % 3], b->dims[i / 3][i % 3]) == 0;
    for (unsigned i = 0; same && i < a->nr_args; i++)
        same = strcmp(a->args[i], b->args[i]) == 0;
    return same;
}
