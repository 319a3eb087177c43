/* shuffle_reduce: warp shuffles take the place of a tree in shared memory. A block takes the place
 * of the one thread of a <<<1, 1>>> launch, which goes through what other launches left. */
#include "base/str.h"
#include "propose/rewrite/extent.h"
#include "propose/rewrite/parallelize_row.h"
#include "propose/rewrite/rewrite.h"

#include <stdlib.h>
#include <string.h>

/* --- one thread becomes one block --- */

static bool is_alone(const struct node *function)
{
    static const char *const names[] = {"threadIdx", "blockIdx", "blockDim", "gridDim"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (node_uses_name(function, names[i]))
            return false;
    return true;
}

static bool is_one(const char *text)
{
    return !strcmp(text, "1");
}

static bool widen(const struct rewrite_in *in, struct node *function, struct rewrite_out *out)
{
    if (!is_alone(function))
        return rewrite_refuse(in, out, "%s is not the work of one thread", function->name);
    const char *threads = tree_fresh(in->tree, "THREADS");
    struct launch_lines lines;
    if (!launch_lines_read(in, function, &lines, out))
        return false;
    for (unsigned i = 0; i < lines.nr; i++) {
        struct launch_line *line = &lines.items[i];
        for (unsigned d = 0; d < 3; d++)
            if (!is_one(line->grid[d]) || !is_one(line->block[d]))
                return rewrite_refuse(
                    in, out, "%s is launched with more than one thread", function->name);
        line->block[0] = threads;
        launch_line_write(line, &out->edits);
    }
    if (!rewrite_no_alias(in, function))
        return rewrite_refuse(in, out, "one array is given twice to %s", function->name);
    struct row_lanes lanes = {.in = in,
        .edits = &out->edits,
        .function = function,
        .lane = tree_fresh(in->tree, "lane"),
        .count = "blockDim.x",
        .block = true,
        .part = tree_fresh(in->tree, "part")};
    struct node *stmts[64];
    unsigned nr = 0;
    for (struct node *n = function->body->child; n; n = n->next) {
        if (nr == 64)
            return rewrite_refuse(in, out, "%s is long", function->name);
        stmts[nr++] = n;
    }
    if (!nr || !parallelize_row(&lanes, stmts, nr))
        return rewrite_refuse(
            in, out, "%s: %s", function->name, lanes.why ? lanes.why : "nothing to spread");
    const char *indent = tree_indent(in->tree, stmts[0]->start);
    edits_insert(&out->edits, function->body->start + 1, "\n%s%sint %s = threadIdx.x;", indent,
        row_lanes_shared_decls(&lanes, indent), lanes.lane);
    pragma_add_tune(in, &out->edits, threads, 512, "128, 256, 512, 1024");
    return rewrite_done(in, out, "give %s a block of threads instead of one", function->name);
}

/* --- a tree in shared memory --- */

struct tree_pattern {
    const struct node *loop;
    const struct node *array; /* the shared array */
    const char *thread;       /* text of the thread's index in the array */
    const char *op;           /* "+", or a function: "fmaxf" */
};

static bool text_is(const struct rewrite_in *in, const struct node *n, const char *text)
{
    const char *p = tree_text(in->tree, node_strip(n));
    for (; *p && *text; p++) {
        if (*p == ' ')
            continue;
        if (*p != *text++)
            return false;
    }
    while (*p == ' ')
        p++;
    return !*p && !*text;
}

/* Whether n is threadIdx.x, or a local that always is. */
static bool is_thread(const struct node *function, const struct node *n)
{
    n = node_strip(n);
    if (node_is_member(n, "threadIdx", "x"))
        return true;
    return n->kind == NODE_NAME && n->decl && node_is_single(function, n->decl) &&
           node_is_member(n->decl->init, "threadIdx", "x");
}

/* Whether n is blockDim.x, or the text of the block's size in all launches. */
static bool is_block_size(
    const struct rewrite_in *in, const struct node *function, const struct node *n)
{
    if (node_is_member(n, "blockDim", "x"))
        return true;
    struct launch_lines lines;
    struct rewrite_out ignored = {0};
    bool same = launch_lines_read(in, function, &lines, &ignored);
    for (unsigned i = 0; same && i < lines.nr; i++)
        same = text_is(in, n, lines.items[i].block[0]);
    return same;
}

static bool is_number(const struct rewrite_in *in, const struct node *n, int64_t value)
{
    n = node_strip(n);
    return n->kind == NODE_NUMBER && strtoll(tree_text(in->tree, n), NULL, 0) == value;
}

static bool is_binary(const struct node *n, const char *op)
{
    return n->kind == NODE_BINARY && !strcmp(n->op, op);
}

/* The header of a tree's loop. Rising: stride = 1; stride < blockDim.x; stride *= 2. Falling:
 * stride = blockDim.x / 2; stride > 0; stride /= 2. */
static bool read_header(const struct rewrite_in *in, const struct node *function,
    const struct node *loop, const struct node **stride, bool *rising)
{
    if (!loop->init || !loop->cond || !loop->step || loop->init->kind != NODE_DECLS ||
        loop->init->nr_children != 1 || !loop->init->child->init)
        return false;
    const struct node *var = loop->init->child, *start = node_strip(var->init);
    const struct node *cond = node_strip(loop->cond), *step = loop->step;
    *stride = var;
    if (cond->kind != NODE_BINARY || node_base(cond->child) != var || step->kind != NODE_ASSIGN ||
        node_base(step->child) != var)
        return false;
    const struct node *bound = cond->child->next, *by = step->child->next;
    *rising = is_number(in, start, 1);
    if (*rising)
        return !strcmp(cond->op, "<") && is_block_size(in, function, bound) &&
               ((!strcmp(step->op, "*=") && is_number(in, by, 2)) ||
                   (!strcmp(step->op, "<<=") && is_number(in, by, 1)));
    const bool half = (is_binary(start, "/") && is_number(in, start->child->next, 2)) ||
                      (is_binary(start, ">>") && is_number(in, start->child->next, 1));
    return half && is_block_size(in, function, start->child) && !strcmp(cond->op, ">") &&
           is_number(in, bound, 0) &&
           ((!strcmp(step->op, "/=") && is_number(in, by, 2)) ||
               (!strcmp(step->op, ">>=") && is_number(in, by, 1)));
}

/* The condition on the thread. Rising: thread % (2 * stride) == 0. Falling: thread < stride. */
static bool read_guard(const struct rewrite_in *in, const struct node *function,
    const struct node *cond, const struct node *stride, bool rising)
{
    cond = node_strip(cond);
    if (!rising)
        return is_binary(cond, "<") && is_thread(function, cond->child) &&
               node_base(cond->child->next) == stride;
    if (!is_binary(cond, "==") || !is_number(in, cond->child->next, 0))
        return false;
    const struct node *rest = node_strip(cond->child);
    if (!is_binary(rest, "%") || !is_thread(function, rest->child))
        return false;
    const struct node *twice = node_strip(rest->child->next);
    return is_binary(twice, "*") &&
           ((is_number(in, twice->child, 2) && node_base(twice->child->next) == stride) ||
               (is_number(in, twice->child->next, 2) && node_base(twice->child) == stride));
}

static bool is_partner(const struct node *function, const struct node *n, const struct node *stride)
{
    n = node_strip(n);
    return is_binary(n, "+") &&
           ((is_thread(function, n->child) && node_base(n->child->next) == stride) ||
               (is_thread(function, n->child->next) && node_base(n->child) == stride));
}

static bool is_own(const struct node *function, const struct node *n, const struct node *array)
{
    n = node_strip(n);
    return n->kind == NODE_INDEX && node_base(n->child) == array &&
           is_thread(function, n->child->next);
}

static bool is_other(const struct node *function, const struct node *n, const struct node *array,
    const struct node *stride)
{
    n = node_strip(n);
    return n->kind == NODE_INDEX && node_base(n->child) == array &&
           is_partner(function, n->child->next, stride);
}

/* The step: s[t] += s[t + stride], s[t] = s[t] + s[t + stride], or
 * s[t] = fmaxf(s[t], s[t + stride]). */
static bool read_fold(const struct rewrite_in *in, const struct node *function,
    const struct node *assign, const struct node *stride, struct tree_pattern *p)
{
    static const char *const folds[] = {"fmaxf", "fminf", "fmax", "fmin", "max", "min", NULL};
    if (assign->kind != NODE_ASSIGN)
        return false;
    const struct node *left = node_strip(assign->child), *right = node_strip(left->next);
    right = node_strip(assign->child->next);
    if (left->kind != NODE_INDEX)
        return false;
    p->array = node_base(left);
    if (!p->array || !p->array->is_shared || p->array->type.nr_dims != 1 ||
        !is_own(function, left, p->array))
        return false;
    p->thread = tree_text(in->tree, left->child->next);
    if (!strcmp(assign->op, "+=")) {
        p->op = "+";
        return is_other(function, right, p->array, stride);
    }
    if (strcmp(assign->op, "=") || right->nr_children != 2)
        return false;
    const struct node *a = right->child, *b = a->next;
    p->op = NULL;
    if (is_binary(right, "+"))
        p->op = "+";
    if (right->kind == NODE_CALL && str_among(right->name, folds))
        p->op = right->name;
    return p->op && ((is_own(function, a, p->array) && is_other(function, b, p->array, stride)) ||
                        (is_own(function, b, p->array) && is_other(function, a, p->array, stride)));
}

/* Whether the kernel only reads element 0 after the tree. */
static bool only_first_used(
    const struct rewrite_in *in, const struct node *function, const struct tree_pattern *p)
{
    for (const struct node *n = function; n; n = node_next(function, n)) {
        if (n->kind != NODE_NAME || n->decl != p->array || n->start < p->loop->end)
            continue;
        const struct node *use = n->parent;
        if (use->kind != NODE_INDEX || use->child != n || !is_number(in, use->child->next, 0))
            return false;
        if (use->parent->kind == NODE_ASSIGN && use->parent->child == use)
            return false;
    }
    return node_enclosing(p->loop, NODE_FOR) == NULL && node_enclosing(p->loop, NODE_WHILE) == NULL;
}

static bool is_barrier(const struct node *n)
{
    return n->kind == NODE_CALL && !strcmp(n->name, "__syncthreads");
}

static bool read_tree(const struct rewrite_in *in, const struct node *function,
    const struct node *loop, struct tree_pattern *p)
{
    const struct node *stride;
    bool rising;
    *p = (struct tree_pattern){.loop = loop};
    if (loop->kind != NODE_FOR || !read_header(in, function, loop, &stride, &rising) ||
        loop->body->kind != NODE_BLOCK || loop->body->nr_children != 2 ||
        loop->parent != function->body)
        return false;
    /* { if (...) fold; barrier } or { barrier; if (...) fold } */
    const struct node *first = loop->body->child, *second = first->next;
    const struct node *test = is_barrier(first) ? second : first;
    if (!is_barrier(is_barrier(first) ? first : second) || test->kind != NODE_IF || test->other ||
        !read_guard(in, function, test->cond, stride, rising))
        return false;
    const struct node *fold = test->body;
    if (fold->kind == NODE_BLOCK && fold->nr_children == 1)
        fold = fold->child;
    return read_fold(in, function, fold, stride, p) && only_first_used(in, function, p);
}

static bool replace_tree(const struct rewrite_in *in, struct node *function,
    const struct tree_pattern *p, struct rewrite_out *out)
{
    if (!scalar_is_word(p->array->type.scalar) || !p->array->type.base)
        return rewrite_refuse(in, out, "elements of %s cannot be shuffled", p->array->name);
    struct launch_lines lines;
    if (!launch_lines_read(in, function, &lines, out))
        return false;
    for (unsigned i = 0; i < lines.nr; i++) {
        const struct launch_line *line = &lines.items[i];
        if (!is_one(line->block[1]) || !is_one(line->block[2]))
            return rewrite_refuse(in, out, "the block is not one-dimensional");
        if (!extent_whole_warps(in, line->block[0], out))
            return false;
    }
    struct row_lanes lanes = {.in = in,
        .edits = &out->edits,
        .function = function,
        .lane = "threadIdx.x",
        .count = "blockDim.x",
        .block = true,
        .part = tree_fresh(in->tree, "part")};
    const char *indent = tree_indent(in->tree, p->loop->start);
    const char *value = tree_fresh(in->tree, "value"), *array = p->array->name;
    const char *base = p->array->type.base;
    const char *code = row_lanes_reduction(&lanes, value, p->array->type.scalar, p->op, indent);
    edits_replace(&out->edits, p->loop->start, tree_stmt_end(in->tree, p->loop),
        "%s%s %s = %s[%s];\n%s%s\n%sif (%s == 0)\n%s    %s[0] = %s;\n%s__syncthreads();",
        row_lanes_shared_decls(&lanes, indent), base, value, array, p->thread, indent, code, indent,
        p->thread, indent, array, value, indent);
    return rewrite_done(
        in, out, "combine %s of %s by warp shuffles instead of a tree", array, function->name);
}

bool rewrite_shuffle_reduce(const struct rewrite_in *in, unsigned variant, struct rewrite_out *out)
{
    struct node *function;
    if (rewrite_nth_kernel(in, variant / 2, &function) < 0)
        return rewrite_refuse(in, out, "no more kernels");
    out->more = true;
    if (variant % 2)
        return widen(in, function, out);
    struct tree_pattern p;
    for (const struct node *n = function->body->child; n; n = n->next)
        if (read_tree(in, function, n, &p))
            return replace_tree(in, function, &p, out);
    return rewrite_refuse(
        in, out, "no tree in shared memory, and no kernel of a single thread with a reduction");
}
