/* What a launch line says about a kernel's axes. */
#include "propose/extent.h"

#include <ctype.h>
#include <string.h>

const struct form_cond *extent_cond(const struct kernel_form *form, const struct node *var)
{
    for (unsigned i = 0; i < form->nr_conds; i++) {
        const struct node *low = form->conds[i].low ? node_strip(form->conds[i].low) : NULL;
        if (low && low->kind == NODE_NAME && low->decl == var)
            return &form->conds[i];
    }
    return NULL;
}

const char *extent_text(const struct rewrite_in *in, const struct launch_text *text,
    const struct kernel_form *form, const struct form_axis *axis)
{
    const struct form_cond *cond = extent_cond(form, axis->var);
    const struct node *high = cond ? node_strip(cond->high) : NULL;
    if (high && high->kind == NODE_NAME && high->decl && high->decl->kind == NODE_PARAM) {
        unsigned nr = function_nr_params(form->function);
        for (unsigned i = 0; i < nr && i < text->nr_args; i++)
            if (function_param(form->function, i) == high->decl
                && !node_assigns(form->function, high->decl))
                return text->args[i];
    }
    const char *grid = text->grid[axis->dim], *block = text->block[axis->dim];
    if (axis->block_only)
        return grid;
    return arena_printf(
        in->arena, "%s*%s", text_operand(in->arena, grid), text_operand(in->arena, block));
}

bool extent_eval(const struct rewrite_in *in, const char *text, int64_t *value)
{
    struct err err = {0};
    const struct expr *expr = expr_parse(in->arena, text, strlen(text), &err);
    if (!expr)
        return false;
    struct env env = plan_env(in->arena, in->plan, &in->task->timed);
    return expr_eval(expr, &env, value, &err);
}

static bool is_literal(const char *text)
{
    return text[0] && strspn(text, "0123456789") == strlen(text);
}

bool extent_whole_warps(const struct rewrite_in *in, const char *text, struct rewrite_out *out)
{
    int64_t value;
    if (!extent_eval(in, text, &value) || value % 32 != 0)
        return rewrite_refuse(in, out, "the block size %s is no multiple of 32", text);
    if (is_literal(text))
        return true;
    const struct tune *tune = pragma_find_tune(in, text);
    bool all = tune != NULL;
    for (unsigned i = 0; tune && i < tune->nr_choices; i++)
        all = all && tune->choices[i] % 32 == 0;
    if (!all)
        pragma_add_line(in, &out->edits,
            arena_printf(in->arena, "where  %s %% 32 == 0", text_operand(in->arena, text)));
    return true;
}

bool extent_is_constant(const struct rewrite_in *in, const char *text)
{
    for (const char *p = text; *p;) {
        if (!isalpha((unsigned char)*p) && *p != '_') {
            p++;
            continue;
        }
        size_t len = 0;
        while (isalnum((unsigned char)p[len]) || p[len] == '_')
            len++;
        if (!pragma_find_tune(in, arena_strndup(in->arena, p, len)))
            return false;
        p += len;
    }
    return true;
}
