/* Extents of axes, and tuning parameters without a use. */
#include "propose/rewrite/extent.h"

#include "base/str.h"
#include "cuda/subst.h"

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

/* Sums and products of parameters and literals in the terms of a launch; NULL: it is another
 * expression. */
static const char *text_at_launch(const struct rewrite_in *in, const struct launch_line *line,
    const struct kernel_form *form, const struct node *n)
{
    n = node_strip(n);
    const char *text = tree_text(in->tree, n);
    if (n->kind == NODE_NAME && n->decl)
        return launch_line_argument(line, form->function, n->decl);
    if (n->kind == NODE_BINARY && n->type.scalar <= SCALAR_U64 && strchr("+-*", *n->op) &&
        !n->op[1]) {
        const char *left = text_at_launch(in, line, form, n->child),
                   *right = text_at_launch(in, line, form, n->child->next);
        return left && right ? arena_printf(in->arena, "%s %s %s", text_operand(in->arena, left),
                                   n->op, text_operand(in->arena, right))
                             : NULL;
    }
    return extent_is_literal(text) ? text : NULL;
}

const char *extent_text(const struct rewrite_in *in, const struct launch_line *line,
    const struct kernel_form *form, const struct form_axis *axis)
{
    const struct form_cond *cond = extent_cond(form, axis->var);
    const char *given = cond ? text_at_launch(in, line, form, cond->high) : NULL;
    if (given)
        return given;
    const char *grid = line->grid[axis->dim], *block = line->block[axis->dim];
    if (axis->block_only)
        return grid;
    return arena_printf(
        in->arena, "%s*%s", text_operand(in->arena, grid), text_operand(in->arena, block));
}

void extent_cover(const struct rewrite_in *in, struct launch_line *line,
    const struct kernel_form *form, const struct form_axis *axis, const char *piece)
{
    line->grid[axis->dim] =
        arena_printf(in->arena, "ceil_div(%s, %s)", extent_text(in, line, form, axis), piece);
}

bool extent_at_timed(const struct rewrite_in *in, const char *text, int64_t *value)
{
    struct err err = {0};
    const struct expr *expr = expr_parse(in->arena, text, strlen(text), &err);
    if (!expr)
        return false;
    struct env env = plan_env(in->arena, in->plan, &in->task->timed);
    return expr_eval(expr, &env, value, &err);
}

bool extent_is_literal(const char *text)
{
    return text[0] && strspn(text, "0123456789") == strlen(text);
}

bool extent_whole_warps(const struct rewrite_in *in, const char *text, struct rewrite_out *out)
{
    int64_t value;
    if (!extent_at_timed(in, text, &value) || value % 32 != 0)
        return rewrite_refuse(in, out, "the block size %s is no multiple of 32", text);
    if (extent_is_literal(text))
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
        while (str_word_char(p[len]))
            len++;
        if (!pragma_find_tune(in, arena_strndup(in->arena, p, len)))
            return false;
        p += len;
    }
    return true;
}

/* --- tuning parameters that a rewrite leaves without a use --- */

static bool is_pragma(const struct rewrite_in *in, unsigned line_start, const char *what)
{
    const char *p = in->source + line_start;
    static const char head[] = "#pragma keet";
    if (strncmp(p, head, sizeof head - 1) != 0)
        return false;
    p += sizeof head - 1;
    while (*p == ' ')
        p++;
    return strncmp(p, what, strlen(what)) == 0;
}

/* Bytes [*start, *end): the function's __launch_bounds__(...) and the blank after it. */
static bool bounds_attribute(
    const struct rewrite_in *in, const struct node *function, unsigned *start, unsigned *end)
{
    static const char word[] = "__launch_bounds__";
    const char *body = in->source + function->body->start;
    const char *at = strstr(in->source + tree_line_start(in->tree, function->start), word);
    const char *close = at && at < body ? strchr(at, '(') : NULL;
    unsigned depth = 0;
    for (; close && close < body; close++) {
        depth += *close == '(';
        depth -= *close == ')';
        if (depth)
            continue;
        *start = (unsigned)(at - in->source);
        *end = (unsigned)(close + 1 - in->source) + (close[1] == ' ');
        return true;
    }
    return false;
}

/* Functions whose bodies and launches a rewrite replaces. */
struct replaced_functions {
    const struct rewrite_in *in;
    const struct node *const *functions;
    struct launch_lines *lines; /* of each */
    unsigned nr;
};

/* Whether byte `at` belongs to what the rewrite replaces: the body, the launches, the bounds. */
static bool replaced(const struct replaced_functions *r, unsigned at)
{
    const struct rewrite_in *in = r->in;
    for (unsigned k = 0; k < r->nr; k++) {
        const struct node *function = r->functions[k];
        const struct launch_lines *lines = &r->lines[k];
        if (at >= function->body->start && at < function->body->end)
            return true;
        for (unsigned i = 0; i < lines->nr; i++)
            if (at >= lines->items[i].start && at < lines->items[i].end)
                return true;
        unsigned start, end;
        if (bounds_attribute(in, function, &start, &end) && at >= start && at < end)
            return true;
    }
    unsigned line = tree_line_start(in->tree, at);
    return is_pragma(in, line, "tune") || is_pragma(in, line, "where");
}

static bool has_other_use(const struct replaced_functions *r, const char *name)
{
    const char *end = r->in->source + r->in->bytes;
    size_t len = strlen(name);
    for (const char *p = r->in->source; (p = str_find_word(p, end, name, len)); p += len)
        if (!replaced(r, (unsigned)(p - r->in->source)))
            return true;
    return false;
}

static bool stands_in_launches(const struct replaced_functions *r, const char *name)
{
    for (unsigned l = 0; l < r->in->plan->nr_launches; l++) {
        const struct launch *launch = &r->in->plan->launches[l];
        bool one = false;
        for (unsigned k = 0; k < r->nr; k++)
            one = one || rewrite_kernel(r->in, l) == r->functions[k];
        for (unsigned d = 0; one && d < 3; d++)
            if (expr_uses(launch->grid[d], name) || expr_uses(launch->block[d], name))
                return true;
    }
    return false;
}

static void drop_line(const struct rewrite_in *in, unsigned start, struct edits *edits)
{
    const char *end = strchr(in->source + start, '\n');
    while (end && end[-1] == '\\')
        end = strchr(end + 1, '\n');
    unsigned stop = end ? (unsigned)(end - in->source) + 1 : (unsigned)in->bytes;
    edits_replace(edits, start, stop, "%s", "");
}

static bool line_has_word(const struct rewrite_in *in, unsigned start, const char *name)
{
    const char *line = in->source + start;
    return str_find_word(line, str_next_line(line), name, strlen(name)) != NULL;
}

void extent_drop_tunes_of(const struct rewrite_in *in, const struct node *const *functions,
    unsigned nr_functions, struct edits *edits)
{
    struct rewrite_out ignored = {.why = NULL};
    struct replaced_functions r = {in, functions,
        arena_array(in->arena, nr_functions, sizeof(struct launch_lines)), nr_functions};
    bool dropped[64] = {false};
    unsigned nr = in->plan->nr_tunes < 64 ? in->plan->nr_tunes : 64;
    for (unsigned k = 0; k < nr_functions; k++)
        if (!launch_lines_read(in, functions[k], &r.lines[k], &ignored))
            return;
    for (unsigned i = 0; i < nr; i++) {
        const char *name = in->plan->tunes[i].name;
        dropped[i] = stands_in_launches(&r, name) && !has_other_use(&r, name);
        if (dropped[i])
            drop_line(in, source_line_at(in, in->plan->tunes[i].line), edits);
    }
    for (unsigned at = 0; at < in->bytes;) {
        bool drop = false;
        for (unsigned i = 0; i < nr && is_pragma(in, at, "where"); i++)
            drop = drop || (dropped[i] && line_has_word(in, at, in->plan->tunes[i].name));
        if (drop)
            drop_line(in, at, edits);
        at = (unsigned)(str_next_line(in->source + at) - in->source);
    }
}

void extent_drop_tunes(
    const struct rewrite_in *in, const struct node *function, struct edits *edits)
{
    extent_drop_tunes_of(in, &function, 1, edits);
}

void extent_drop_bounds(
    const struct rewrite_in *in, const struct node *function, struct edits *edits)
{
    unsigned start, end;
    if (bounds_attribute(in, function, &start, &end))
        edits_replace(edits, start, end, "%s", "");
}
