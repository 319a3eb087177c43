/* Recognising global coordinates and launches that cover an extent. */
#include "propose/rewrite/thread_index.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

const char axis_name[3] = {'x', 'y', 'z'};

static int member_axis(const struct node *n, const char *object)
{
    for (int a = 0; a < 3; a++) {
        const char name[2] = {axis_name[a], '\0'};
        if (node_is_member(n, object, name))
            return a;
    }
    return -1;
}

int global_coordinate(const struct node *n)
{
    n = node_strip(n);
    if (!n || n->kind != NODE_BINARY || strcmp(n->op, "+"))
        return -1;
    const struct node *a = node_strip(n->child), *b = node_strip(n->child->next);
    if (a->kind != NODE_BINARY) {
        const struct node *t = a;
        a = b;
        b = t;
    }
    const int axis = member_axis(b, "threadIdx");
    if (axis < 0 || a->kind != NODE_BINARY || strcmp(a->op, "*"))
        return -1;
    const struct node *p = a->child, *q = a->child->next;
    const bool straight = member_axis(p, "blockIdx") == axis && member_axis(q, "blockDim") == axis;
    const bool turned = member_axis(q, "blockIdx") == axis && member_axis(p, "blockDim") == axis;
    return straight || turned ? axis : -1;
}

struct node *coordinate_variable(const struct node *function, unsigned axis)
{
    for (const struct node *n = function; n; n = node_next(function, n))
        if (n->kind == NODE_VAR && n->init && global_coordinate(n->init) == (int)axis &&
            node_is_single(function, n))
            return (struct node *)n;
    return NULL;
}

/* The member access stands in a coordinate expression. */
static bool in_coordinate(const struct node *member)
{
    const struct node *n = member;
    for (unsigned up = 0; n && up < 5; up++, n = n->parent)
        if (n->kind == NODE_BINARY && global_coordinate(n) >= 0)
            return true;
    return false;
}

bool any_block_shape(
    const struct rewrite_in *in, const struct node *function, struct rewrite_out *why)
{
    for (const struct node *n = function->body; n; n = node_next(function->body, n)) {
        if (n->kind == NODE_VAR && n->is_shared)
            return rewrite_refuse(
                in, why, "%s has shared memory, which fits its block", function->name);
        if (n->kind == NODE_CALL && call_is_barrier(n->name) && strncmp(n->name, "__threadf", 9))
            return rewrite_refuse(in, why, "%s works together as a block", function->name);
        if (n->kind == NODE_CALL && !call_is_pure(n->name) && !call_is_atomic(n->name) &&
            !call_is_barrier(n->name))
            return rewrite_refuse(in, why, "%s calls %s", function->name, n->name);
        if (n->kind == NODE_NAME && !n->decl && !strcmp(n->name, "threadIdx") && !in_coordinate(n))
            return rewrite_refuse(
                in, why, "%s uses threadIdx beside blockIdx*blockDim+threadIdx", function->name);
        if (n->in_macro && n->kind == NODE_MEMBER)
            return rewrite_refuse(in, why, "%s hides coordinates in macros", function->name);
    }
    return true;
}

static const char *without_blanks(struct arena *arena, const char *text)
{
    char *out = arena_strdup(arena, text), *to = out;
    for (const char *p = text; *p; p++)
        if (!isspace((unsigned char)*p))
            *to++ = *p;
    *to = '\0';
    return out;
}

/* "ceil_div(a, b)" with nothing after it: a and b. */
static bool ceil_div_parts(
    struct arena *arena, const char *text, const char **first, const char **second)
{
    if (!str_starts(text, "ceil_div"))
        return false;
    const char *p = text + 8, *comma = NULL;
    while (isspace((unsigned char)*p))
        p++;
    if (*p != '(')
        return false;
    const char *open = p;
    unsigned depth = 0;
    for (; *p; p++) {
        depth += *p == '(';
        depth -= *p == ')';
        if (*p == ',' && depth == 1)
            comma = p;
        if (!depth)
            break;
    }
    if (!*p || p[1] || !comma)
        return false;
    *first = arena_strndup(arena, open + 1, (size_t)(comma - open - 1));
    const char *b = comma + 1;
    while (isspace((unsigned char)*b))
        b++;
    *second = arena_strndup(arena, b, (size_t)(p - b));
    return true;
}

const char *covered_extent(struct arena *arena, const struct launch_line *launch, unsigned axis)
{
    const char *first, *second;
    if (ceil_div_parts(arena, launch->grid[axis], &first, &second) &&
        !strcmp(without_blanks(arena, second), without_blanks(arena, launch->block[axis])))
        return first;
    return NULL;
}
