/* split_work: the threads along y of a block share the long loop of each output, and combine their
 * partial sums in shared memory. For kernels that have too few outputs to fill the chip, and whose
 * neighbours along x are neighbours in memory. */
#include "base/str.h"
#include "cuda/kernel_form.h"
#include "cuda/subst.h"
#include "propose/rewrite/extent.h"
#include "propose/rewrite/rewrite.h"

#include <string.h>

enum { MAX_SUMS = 6, ENOUGH_THREADS = 132 * 1024 };

struct split_loop {
    const struct rewrite_in *in;
    struct rewrite_out *out;
    struct kernel_form form;
    struct for_loop loop;
    unsigned loop_at; /* work[loop_at] is the loop */
    struct node *sums[MAX_SUMS];
    unsigned nr_sums;
    const char *block;        /* the block's size along x, as text */
    const char *split, *part; /* names: the number of parts, and the thread's part */
};

static bool loads(const struct node *root)
{
    for (const struct node *n = root; n; n = node_next(root, n))
        if (node_is_load(n))
            return true;
    return false;
}

/* Whether threads beyond the guard may run the declaration too, perhaps with a value made up. */
static bool can_declare(const struct node *stmt)
{
    if (stmt->kind != NODE_DECLS)
        return false;
    for (const struct node *v = stmt->child; v; v = v->next)
        if (v->kind != NODE_VAR || v->is_shared || v->type.nr_dims || v->type.is_reference ||
            (v->init && !node_is_pure(v->init)) || node_has_macro(v))
            return false;
    return true;
}

static bool starts_at_zero(const struct split_loop *s, const struct node *var)
{
    if (!var->init)
        return false;
    const char *text = tree_text(s->in->tree, node_strip(var->init));
    return text[0] == '0' && strspn(text + 1, ".0fF") == strlen(text + 1);
}

/* Whether the loop leaves nothing behind but sums. */
static bool read_sums(struct split_loop *s)
{
    const struct node *loop = s->loop.node;
    for (const struct node *n = loop->body; n; n = node_next(loop->body, n)) {
        if (n->kind == NODE_CALL && !call_is_pure(n->name))
            return false;
        if (!node_is_change(n))
            continue;
        const struct node *left = node_strip(n->child);
        struct node *var = left->kind == NODE_NAME ? left->decl : NULL;
        if (!var)
            return false;
        if (node_within(var, loop))
            continue;
        if (n->kind != NODE_ASSIGN || (strcmp(n->op, "+=") && strcmp(n->op, "-=")) ||
            !node_is_statement(n) || node_nr_uses(loop, var) != 1 || s->nr_sums == MAX_SUMS ||
            !scalar_is_word(var->type.scalar) || var->type.is_pointer || var->type.nr_dims ||
            !var->type.base || var->kind != NODE_VAR || !starts_at_zero(s, var))
            return false;
        s->sums[s->nr_sums++] = var;
    }
    return s->nr_sums > 0;
}

static bool read_work(struct split_loop *s)
{
    const struct kernel_form *f = &s->form;
    unsigned i = 0;
    while (i < f->nr_work && f->work[i]->kind == NODE_DECLS) {
        if (!can_declare(f->work[i]))
            return false;
        i++;
    }
    for (unsigned k = 0; k < f->nr_prologue; k++)
        if (!can_declare(f->prologue[k]) || loads(f->prologue[k]))
            return false;
    s->loop_at = i;
    if (i >= f->nr_work || !node_loop_up(f->work[i], &s->loop) || node_has_macro(f->work[i]))
        return false;
    if (!node_is_pure(s->loop.start) || !node_is_pure(s->loop.bound) ||
        !node_invariant(s->loop.bound, s->loop.node, true))
        return false;
    for (unsigned k = i + 1; k < f->nr_work; k++)
        if (node_has(f->work[k], NODE_FOR) || node_has(f->work[k], NODE_WHILE) ||
            node_has(f->work[k], NODE_RETURN))
            return false;
    return read_sums(s);
}

static bool read_kernel(struct split_loop *s, struct node *function)
{
    const char *why;
    if (!kernel_form_read(&s->form, s->in->tree, function, &why))
        return rewrite_refuse(s->in, s->out, "%s", why);
    const struct form_axis *x = form_axis_along(&s->form, 0);
    if (!x || x->block_only || s->form.raw)
        return rewrite_refuse(s->in, s->out, "no plain index along thread x in %s", function->name);
    for (unsigned i = 0; i < s->form.nr_axes; i++)
        if (&s->form.axes[i] != x && !s->form.axes[i].block_only)
            return rewrite_refuse(s->in, s->out, "%s has threads along y already", function->name);
    if (node_has_shared(function) || node_has_barrier(function))
        return rewrite_refuse(s->in, s->out, "%s works together as a block", function->name);
    if (!read_work(s))
        return rewrite_refuse(s->in, s->out,
            "%s is not declarations, one loop that sums, and stores", function->name);
    return true;
}

/* Where blocks are fewer than most chips' SMs, and their size is a parameter: one warp along x and
 * 32 parts, which make several times as many blocks. The number of parts. */
static int choose_parts(struct split_loop *s)
{
    const struct tune *tune = pragma_find_tune(s->in, s->block);
    bool narrow = false;
    uint32_t grid[3];
    for (unsigned i = 0; tune && i < tune->nr_choices; i++)
        narrow = narrow || tune->choices[i] == 32;
    for (unsigned l = 0; l < s->in->plan->nr_launches; l++)
        narrow = narrow &&
                 (rewrite_kernel(s->in, l) != s->form.function ||
                     (rewrite_grid(s->in, l, grid) && (uint64_t)grid[0] * grid[1] * grid[2] < 132));
    return narrow && pragma_set_tune(s->in, &s->out->edits, s->block, 32) ? 32 : 8;
}

static bool edit_launches(struct split_loop *s)
{
    struct launch_lines lines;
    if (!launch_lines_read(s->in, s->form.function, &lines, s->out))
        return false;
    for (unsigned i = 0; i < lines.nr; i++) {
        struct launch_line *line = &lines.items[i];
        uint32_t block[3], grid[3];
        if (strcmp(line->block[1], "1") || strcmp(line->block[2], "1") ||
            (s->block && strcmp(s->block, line->block[0])) ||
            !extent_is_constant(s->in, line->block[0]))
            return rewrite_refuse(
                s->in, s->out, "the block of %s is not one constant line", s->form.function->name);
        if (!rewrite_block(s->in, line->launch, block) ||
            !rewrite_grid(s->in, line->launch, grid) || block[0] > 512 ||
            (uint64_t)grid[0] * grid[1] * grid[2] * block[0] > ENOUGH_THREADS)
            return rewrite_refuse(s->in, s->out, "%s has threads enough", s->form.function->name);
        s->block = line->block[0];
        line->block[1] = s->split;
        launch_line_write(line, &s->out->edits);
    }
    return s->block != NULL;
}

static const char *conditions(const struct split_loop *s)
{
    const char *text = "";
    for (unsigned i = 0; i < s->form.nr_conds; i++)
        text = arena_printf(s->in->arena, "%s%s%s", text, i ? " && " : "", s->form.conds[i].text);
    return text;
}

/* Write the declarations for all threads. Beyond the guard, an initialiser that loads is zero. */
static void add_decls(
    const struct split_loop *s, struct str *code, const char *guard, const char *in4)
{
    for (unsigned i = 0; i < s->loop_at; i++) {
        const struct node *stmt = s->form.work[i];
        struct substs substs = {.nr = 0};
        for (const struct node *v = stmt->child; v && *guard; v = v->next)
            if (v->init && loads(v->init))
                substs_add(&substs, v->init,
                    arena_printf(
                        s->in->arena, "%s ? %s : 0", guard, tree_text(s->in->tree, v->init)));
        const char *text =
            subst_slice(s->in->tree, stmt, stmt->start, tree_stmt_end(s->in->tree, stmt), &substs);
        str_addf(code, "%s%s\n", in4, text);
    }
}

static void add_loop(
    const struct split_loop *s, struct str *code, const char *guard, const char *in4)
{
    struct arena *arena = s->in->arena;
    const struct cuda_tree *tree = s->in->tree;
    const struct for_loop *loop = &s->loop;
    const char *step = loop->step ? text_operand(arena, tree_text(tree, loop->step)) : NULL;
    const char *start = tree_text(tree, loop->start);
    const char *offset = step ? arena_printf(arena, "%s * %s", s->part, step) : s->part;
    struct substs substs = {.nr = 0};
    substs_add(&substs, loop->start,
        strcmp(start, "0") ? arena_printf(arena, "%s + %s", text_operand(arena, start), offset)
                           : offset);
    substs_add(&substs, loop->node->step,
        step ? arena_printf(arena, "%s += %s * %s", loop->var->name, step, s->split)
             : arena_printf(arena, "%s += %s", loop->var->name, s->split));
    if (*guard)
        str_addf(code, "%sif (%s)\n    ", in4, guard);
    str_addf(code, "%s%s\n", in4,
        subst_statement(tree, loop->node, &substs, strlen(in4) + (*guard ? 4 : 0)));
}

static void add_end(
    const struct split_loop *s, struct str *code, const char *guard, const char *in4)
{
    struct arena *arena = s->in->arena;
    const struct cuda_tree *tree = s->in->tree;
    const char *k = tree_fresh(tree, "other");
    const char *parts[MAX_SUMS];
    for (unsigned i = 0; i < s->nr_sums; i++) {
        parts[i] = tree_fresh(tree, arena_printf(arena, "part_%s", s->sums[i]->name));
        str_addf(code, "%s__shared__ %s %s[%s][%s];\n", in4, s->sums[i]->type.base, parts[i],
            s->split, s->block);
    }
    for (unsigned i = 0; i < s->nr_sums; i++)
        str_addf(code, "%s%s[%s][threadIdx.x] = %s;\n", in4, parts[i], s->part, s->sums[i]->name);
    str_addf(code, "%s__syncthreads();\n%sif (%s == 0%s%s) {\n", in4, in4, s->part,
        *guard ? " && " : "", guard);
    str_addf(code, "%s    for (int %s = 1; %s < %s; %s++) {\n", in4, k, k, s->split, k);
    for (unsigned i = 0; i < s->nr_sums; i++)
        str_addf(
            code, "%s        %s += %s[%s][threadIdx.x];\n", in4, s->sums[i]->name, parts[i], k);
    str_addf(code, "%s    }\n", in4);
    for (unsigned i = s->loop_at + 1; i < s->form.nr_work; i++) {
        const struct substs none = {.nr = 0};
        str_addf(code, "%s    %s\n", in4,
            subst_statement(tree, s->form.work[i], &none, strlen(in4) + 4));
    }
    str_addf(code, "%s}", in4);
}

/* Delete early returns: every thread must come to the barrier. */
static void drop_returns(const struct split_loop *s)
{
    for (unsigned i = 0; i < s->form.nr_conds && !s->form.guard; i++) {
        const struct node *test = s->form.conds[i].node;
        while (test && test->kind != NODE_IF)
            test = test->parent;
        bool done = !test;
        for (unsigned k = 0; k < i && !done; k++)
            done = node_within(s->form.conds[k].node, test);
        if (!done)
            edits_replace(&s->out->edits, tree_line_start(s->in->tree, test->start),
                tree_stmt_end(s->in->tree, test->body->kind == NODE_BLOCK ? test->body : test) + 1,
                "%s", "");
    }
}

bool rewrite_split_work(const struct rewrite_in *in, unsigned variant, struct rewrite_out *out)
{
    struct split_loop s = {.in = in, .out = out};
    struct node *function;
    if (rewrite_nth_kernel(in, variant, &function) < 0)
        return rewrite_refuse(in, out, "no more kernels");
    out->more = true;
    if (!read_kernel(&s, function))
        return false;
    s.split = tree_fresh(in->tree, "SPLIT");
    s.part = tree_fresh(in->tree, "piece");
    if (!edit_launches(&s))
        return false;
    const struct node *first = s.form.guard ? s.form.guard : s.form.work[0];
    const struct node *last = s.form.guard ? s.form.guard : s.form.work[s.form.nr_work - 1];
    const char *indent = tree_indent(in->tree, first->start), *guard = conditions(&s);
    struct str code = {0};
    str_addf(&code, "%sint %s = threadIdx.y;\n", indent, s.part);
    add_decls(&s, &code, guard, indent);
    add_loop(&s, &code, guard, indent);
    add_end(&s, &code, guard, indent);
    drop_returns(&s);
    edits_replace(&out->edits, tree_line_start(in->tree, first->start),
        tree_stmt_end(in->tree, last), "%s", str_text(&code));
    str_finish(&code);
    pragma_add_tune(in, &out->edits, s.split, choose_parts(&s), "2, 4, 8, 16, 32");
    pragma_add_line(in, &out->edits,
        arena_printf(in->arena, "where  %s*%s <= 1024", text_operand(in->arena, s.block), s.split));
    return rewrite_done(in, out, "split the loop of %s over threads along y", function->name);
}
