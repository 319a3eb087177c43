/* privatize: a block adds into its own copy of a small array in shared memory, and adds the copy to
 * the array in the end. Where each thread takes one element, the blocks are made to take many, or
 * the copies would cost more than they save. */
#include "base/str.h"
#include "cuda/subst.h"
#include "propose/rewrite/extent.h"
#include "propose/rewrite/grid_stride.h"

#include <string.h>

enum { MAX_SHARED_BYTES = 40 * 1024 };

struct target {
    const struct node *function, *param;
    unsigned arg;
    const char *size; /* the number of elements, as text for the kernel */
    const char *smem; /* bytes of dynamic shared memory, as text for the launch; NULL: static */
    const char *copy; /* the name of the copy */
};

/* The atomicAdd whose address n is, if it is a statement by itself; else NULL. */
static const struct node *atomic_of(const struct node *n)
{
    const struct node *up = n;
    while (up->parent && up->parent->kind != NODE_CALL && !node_is_statement(up))
        up = up->parent;
    const struct node *call = up->parent;
    if (!call || call->kind != NODE_CALL || strcmp(call->name, "atomicAdd") || call->child != up ||
        !node_is_statement(call) || n->in_macro)
        return NULL;
    return node_base(up) == n->decl ? call : NULL;
}

/* Whether the kernel does nothing with the array but add to it. */
static bool only_added_to(const struct node *function, const struct node *param)
{
    unsigned nr = 0;
    for (const struct node *n = function->body; n; n = node_next(function->body, n))
        if (n->kind == NODE_NAME && n->decl == param) {
            if (!atomic_of(n))
                return false;
            nr++;
        }
    return nr > 0;
}

static bool can_add(enum scalar s)
{
    return s == SCALAR_I32 || s == SCALAR_U32 || s == SCALAR_F32 || s == SCALAR_U64;
}

static const char *elements_text(struct arena *arena, const struct task_array *array)
{
    const char *text = "1";
    for (unsigned d = 0; d < array->nr_dims; d++) {
        const char *dim = expr_text(array->dims[d]);
        text = d ? arena_printf(arena, "%s*%s", text, text_operand(arena, dim)) : dim;
    }
    return text;
}

/* Find the size: a literal, or an integer parameter that is the size in every launch. */
static bool find_size(const struct rewrite_in *in, struct target *t, struct rewrite_out *out)
{
    struct launch_lines lines;
    if (!launch_lines_read(in, t->function, &lines, out))
        return false;
    for (unsigned l = 0; l < lines.nr; l++) {
        const struct launch_line *line = &lines.items[l];
        const struct task_array *array = rewrite_array(in, line->launch, t->arg);
        if (!array)
            return false;
        const struct env env = plan_env(in->arena, in->plan, &in->task->timed);
        struct err err;
        uint64_t nr;
        if (!array_elems(array, &env, &nr, &err) || nr * elem_bytes(array->elem) > MAX_SHARED_BYTES)
            return rewrite_refuse(in, out, "%s is too large for shared memory", array->name);
        const char *elements = elements_text(in->arena, array), *size = NULL;
        if (extent_is_literal(elements))
            size = elements;
        for (unsigned i = 0; i < line->nr_args && !size; i++)
            if (!strcmp(line->args[i], elements) && function_param(t->function, i) &&
                !node_assigns(t->function->body, function_param(t->function, i)))
                size = function_param(t->function, i)->name;
        if (!size || (t->size && strcmp(size, t->size)) || (line->smem && strcmp(line->smem, "0")))
            return rewrite_refuse(
                in, out, "%s does not know how long %s is", t->function->name, array->name);
        t->size = size;
        if (!extent_is_literal(size))
            t->smem = arena_printf(
                in->arena, "%zu*%s", elem_bytes(array->elem), text_operand(in->arena, elements));
    }
    return t->size != NULL;
}

static bool find_target(const struct rewrite_in *in, const struct node *function, struct target *t,
    struct rewrite_out *out)
{
    *t = (struct target){.function = function};
    if (node_has_shared(function) || !rewrite_no_alias(in, function))
        return rewrite_refuse(in, out, "%s has shared memory already", function->name);
    for (unsigned i = 0; i < function_nr_params(function); i++) {
        const struct node *p = function_param(function, i);
        if (!p->type.is_pointer || !can_add(p->type.scalar) || !only_added_to(function, p))
            continue;
        t->param = p;
        t->arg = i;
        t->copy = tree_fresh(in->tree, arena_printf(in->arena, "block_%s", p->name));
        return find_size(in, t, out);
    }
    return rewrite_refuse(in, out, "%s does not only add to a small array", function->name);
}

/* The head of a loop in which the block goes over its copy. */
static const char *walk(const struct rewrite_in *in, const struct target *t, unsigned launch)
{
    uint32_t block[3];
    const bool line = rewrite_block(in, launch, block) && block[1] == 1 && block[2] == 1;
    const char *k = tree_fresh(in->tree, "bin");
    return arena_printf(in->arena, "for (int %s = %s; %s < %s; %s += %s)", k,
        line ? "threadIdx.x"
             : "(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x",
        k, t->size, k, line ? "blockDim.x" : "blockDim.x * blockDim.y * blockDim.z");
}

/* Whether every thread comes to the end of the body. */
static bool reaches_end(const struct node *function)
{
    return !node_has(function->body, NODE_RETURN);
}

static void edit_code(
    const struct rewrite_in *in, const struct target *t, unsigned launch, struct edits *edits)
{
    const struct node *body = t->function->body;
    const char *indent = tree_indent(in->tree, body->child->start);
    const char *base = t->param->type.base, *name = t->param->name;
    const char *head = walk(in, t, launch), *k = tree_fresh(in->tree, "bin");
    const char *declaration =
        t->smem ? arena_printf(in->arena, "extern __shared__ %s %s[];", base, t->copy)
                : arena_printf(in->arena, "__shared__ %s %s[%s];", base, t->copy, t->size);
    edits_insert(edits, body->start + 1, "\n%s%s\n%s%s\n%s    %s[%s] = 0;\n%s__syncthreads();",
        indent, declaration, indent, head, indent, t->copy, k, indent);
    for (const struct node *n = body; n; n = node_next(body, n))
        if (n->kind == NODE_NAME && n->decl == t->param)
            edits_replace(edits, n->start, n->end, "%s", t->copy);
    unsigned close = body->end - 1;
    while (close > body->start && (in->source[close - 1] == ' ' || in->source[close - 1] == '\t'))
        close--;
    edits_insert(edits, close,
        "%s__syncthreads();\n%s%s\n%s    if (%s[%s] != 0)\n%s        atomicAdd(&%s[%s], "
        "%s[%s]);\n",
        indent, indent, head, indent, t->copy, k, indent, name, k, t->copy, k);
}

bool rewrite_privatize(const struct rewrite_in *in, unsigned variant, struct rewrite_out *out)
{
    struct node *function;
    const int launch = rewrite_nth_kernel(in, variant / 2, &function);
    const bool with_loop = variant % 2 == 0;
    if (launch < 0)
        return rewrite_refuse(in, out, "no more kernels");
    out->more = true;
    struct target t;
    if (!node_calls(function, "atomicAdd"))
        return rewrite_refuse(in, out, "%s has no atomicAdd", function->name);
    if (!find_target(in, function, &t, out))
        return false;
    /* few blocks: each clears its copy, and adds it to the array in the end */
    if (with_loop &&
        !grid_stride_edit(in, function, (unsigned)launch, 264, "132, 264, 528, 1056", out))
        return false;
    if (!with_loop && !reaches_end(function))
        return rewrite_refuse(in, out, "some threads of %s return early", function->name);
    edit_code(in, &t, (unsigned)launch, &out->edits);
    struct launch_lines lines;
    if (t.smem && (with_loop || !launch_lines_read(in, function, &lines, out)))
        return rewrite_refuse(in, out, "one change of the launch at a time");
    for (unsigned i = 0; t.smem && i < lines.nr; i++) {
        lines.items[i].smem = t.smem;
        launch_line_write(&lines.items[i], &out->edits);
    }
    return rewrite_done(in, out, "give each block its own copy of %s%s", t.param->name,
        with_loop ? ", and many elements" : "");
}
