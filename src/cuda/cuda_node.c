/* Walking the tree, its text, and what code does: uses, writes, purity, counted loops. */
#include "base/mem.h"
#include "base/str.h"
#include "cuda/cuda_tree.h"

#include <ctype.h>
#include <string.h>

/* --- walking --- */

struct node *node_skip(const struct node *root, const struct node *n)
{
    while (n != root) {
        if (n->next)
            return n->next;
        n = n->parent;
        if (!n)
            return NULL;
    }
    return NULL;
}

struct node *node_next(const struct node *root, const struct node *n)
{
    return n->child ? n->child : node_skip(root, n);
}

struct node *node_child(const struct node *n, unsigned i)
{
    struct node *c = n->child;
    while (c && i--)
        c = c->next;
    return c;
}

bool node_within(const struct node *n, const struct node *root)
{
    for (; n; n = n->parent)
        if (n == root)
            return true;
    return false;
}

struct node *node_strip(const struct node *n)
{
    while (n && (n->kind == NODE_PAREN || n->kind == NODE_CAST) && n->child)
        n = n->child;
    return (struct node *)n;
}

bool node_is_statement(const struct node *n)
{
    if (n->kind >= NODE_DECLS && n->kind <= NODE_CONTINUE)
        return true;
    const struct node *p = n->parent;
    if (!p)
        return false;
    return p->kind == NODE_BLOCK || p->body == n || p->other == n ||
           (p->kind == NODE_CASE && n->kind != NODE_NUMBER);
}

struct node *node_statement(const struct node *n)
{
    while (n && !node_is_statement(n))
        n = n->parent;
    /* The declaration in `for (int i = 0; ...)` is part of the loop. */
    if (n && n->parent && n->parent->kind == NODE_FOR && n->parent->init == n)
        n = n->parent;
    return (struct node *)n;
}

struct node *node_enclosing(const struct node *n, enum node_kind kind)
{
    for (n = n->parent; n; n = n->parent)
        if (n->kind == kind)
            break;
    return (struct node *)n;
}

struct node *tree_function(const struct cuda_tree *tree, const char *name)
{
    size_t len = strcspn(name, "< \t");
    for (struct node *f = tree->root->child; f; f = f->next)
        if (f->kind == NODE_FUNCTION && f->body && strlen(f->name) == len &&
            !strncmp(f->name, name, len))
            return f;
    return NULL;
}

struct node *function_param(const struct node *function, unsigned i)
{
    for (struct node *p = function->child; p && p->kind == NODE_PARAM; p = p->next)
        if (!i--)
            return p;
    return NULL;
}

unsigned function_nr_params(const struct node *function)
{
    unsigned nr = 0;
    for (struct node *p = function->child; p && p->kind == NODE_PARAM; p = p->next)
        nr++;
    return nr;
}

int function_param_number(const struct node *function, const struct node *decl)
{
    int number = 0;
    for (struct node *p = function->child; p && p->kind == NODE_PARAM; p = p->next, number++)
        if (p == decl)
            return number;
    return -1;
}

/* --- text --- */

const char *tree_slice(const struct cuda_tree *tree, unsigned start, unsigned end)
{
    return arena_strndup(tree->arena, tree->source + start, end > start ? end - start : 0);
}

const char *tree_text(const struct cuda_tree *tree, const struct node *n)
{
    return tree_slice(tree, n->start, n->end);
}

unsigned tree_stmt_end(const struct cuda_tree *tree, const struct node *n)
{
    unsigned at = n->end;
    if (at > n->start && tree->source[at - 1] == ';')
        return at;
    while (at < tree->bytes && isspace((unsigned char)tree->source[at]))
        at++;
    return at < tree->bytes && tree->source[at] == ';' ? at + 1 : n->end;
}

unsigned tree_line_start(const struct cuda_tree *tree, unsigned at)
{
    while (at > 0 && tree->source[at - 1] != '\n')
        at--;
    return at;
}

const char *tree_indent(const struct cuda_tree *tree, unsigned at)
{
    const unsigned start = tree_line_start(tree, at);
    unsigned end = start;
    while (end < tree->bytes && (tree->source[end] == ' ' || tree->source[end] == '\t'))
        end++;
    return tree_slice(tree, start, end);
}

bool tree_word_used(const struct cuda_tree *tree, const char *word)
{
    return str_find_word(tree->source, tree->source + tree->bytes, word, strlen(word)) != NULL;
}

const char *tree_fresh(const struct cuda_tree *tree, const char *base)
{
    if (!tree_word_used(tree, base))
        return arena_strdup(tree->arena, base);
    for (unsigned i = 2;; i++) {
        const char *name = arena_printf(tree->arena, "%s%u", base, i);
        if (!tree_word_used(tree, name))
            return name;
    }
}

/* --- what code does --- */

bool node_is_name(const struct node *n, const char *name)
{
    n = node_strip(n);
    return n && n->kind == NODE_NAME && !strcmp(n->name, name);
}

bool node_is_member(const struct node *n, const char *object, const char *name)
{
    n = node_strip(n);
    return n && n->kind == NODE_MEMBER && !strcmp(n->name, name) && n->child &&
           node_is_name(n->child, object);
}

bool node_uses(const struct node *root, const struct node *decl)
{
    for (const struct node *n = root; n; n = node_next(root, n))
        if (n->kind == NODE_NAME && n->decl == decl)
            return true;
    return false;
}

unsigned node_nr_uses(const struct node *root, const struct node *decl)
{
    unsigned nr = 0;
    for (const struct node *n = root; n; n = node_next(root, n))
        nr += n->kind == NODE_NAME && n->decl == decl;
    return nr;
}

bool node_uses_name(const struct node *root, const char *name)
{
    for (const struct node *n = root; n; n = node_next(root, n))
        if (n->kind == NODE_NAME && !strcmp(n->name, name))
            return true;
    return false;
}

bool node_has_name(const struct node *root, const char *name)
{
    for (const struct node *n = root; n; n = node_next(root, n))
        if ((n->kind == NODE_PARAM || n->kind == NODE_VAR || n->kind == NODE_NAME) &&
            !strcmp(n->name, name))
            return true;
    return false;
}

bool node_calls(const struct node *root, const char *name)
{
    for (const struct node *n = root; n; n = node_next(root, n))
        if (n->kind == NODE_CALL && (!name || !strcmp(n->name, name)))
            return true;
    return false;
}

bool node_has(const struct node *root, enum node_kind kind)
{
    for (const struct node *n = root; n; n = node_next(root, n))
        if (n->kind == kind)
            return true;
    return false;
}

bool node_has_macro(const struct node *root)
{
    for (const struct node *n = root; n; n = node_next(root, n))
        if (n->in_macro)
            return true;
    return false;
}

bool node_has_barrier(const struct node *root)
{
    for (const struct node *n = root; n; n = node_next(root, n))
        if (n->kind == NODE_CALL && call_is_barrier(n->name))
            return true;
    return false;
}

bool node_has_shared(const struct node *root)
{
    for (const struct node *n = root; n; n = node_next(root, n))
        if (n->kind == NODE_VAR && n->is_shared)
            return true;
    return false;
}

struct node *node_base(const struct node *n)
{
    while (n) {
        n = node_strip(n);
        if (!n)
            break;
        if (n->kind == NODE_NAME)
            return n->decl;
        if (n->kind == NODE_INDEX || n->kind == NODE_MEMBER ||
            (n->kind == NODE_UNARY && (!strcmp(n->op, "*") || !strcmp(n->op, "&"))) ||
            (n->kind == NODE_UNARY && strchr("+-", n->op[0]) && n->op[1])) {
            n = n->child;
        } else if (n->kind == NODE_BINARY && (!strcmp(n->op, "+") || !strcmp(n->op, "-"))) {
            /* pointer arithmetic: go on with the side that is a pointer */
            struct node *a = n->child, *b = a ? a->next : NULL;
            const bool left = a && (a->type.is_pointer || a->type.nr_dims);
            n = left || !b ? a : b;
        } else if (n->kind == NODE_COND) {
            return NULL;
        } else {
            return NULL;
        }
    }
    return NULL;
}

bool call_is_barrier(const char *name)
{
    return str_starts(name, "__sync") || str_starts(name, "__threadfence") ||
           str_starts(name, "__shfl") || str_starts(name, "__ballot") ||
           str_starts(name, "__any_") || str_starts(name, "__all_") ||
           str_starts(name, "__reduce_") || str_starts(name, "__match_");
}

bool call_is_atomic(const char *name)
{
    return str_starts(name, "atomic");
}

bool call_is_pure(const char *name)
{
    static const char *const names[] = {"sqrt", "rsqrt", "cbrt", "exp", "exp2", "exp10", "expm1",
        "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
        "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "ceil", "floor", "trunc", "round",
        "rint", "nearbyint", "fabs", "pow", "fmod", "atan2", "hypot", "fmax", "fmin", "copysign",
        "fdim", "remainder", "fma", "ldexp", "abs", "llabs", "min", "max", "umin", "umax", "isnan",
        "isinf", "isfinite", "signbit", "normcdf", "sinpi", "cospi", "lgamma", "tgamma", "erfinv",
        "lround", "lrint"};
    static const char *const prefixes[] = {"make_", "__float2", "__int2", "__uint2", "__half",
        "__float22", "__bfloat", "__low", "__high", "__h", "__mul", "__umul", "__popc", "__clz",
        "__ffs", "__brev", "__byte_perm", "__funnel", "__dp4a", "__fdiv", "__frcp", "__frsqrt",
        "__fsqrt", "__fadd", "__fmul", "__fma", "__exp", "__log", "__sin", "__cos", "__tan",
        "__pow", "__saturate", "__ldg", "__float_as", "__int_as", "__uint_as", "__double",
        "__longlong", "__nv_bfloat", "half", "nv_bfloat"};
    static const char *const operators[] = {"operator+", "operator-", "operator*", "operator/",
        "operator<", "operator>", "operator<=", "operator>=", "operator==", "operator!=", NULL};
    if (str_starts(name, "std::"))
        name += 5;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        const size_t len = strlen(names[i]);
        if (!strncmp(name, names[i], len) && (!name[len] || (name[len] == 'f' && !name[len + 1])))
            return true;
    }
    for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
        if (str_starts(name, prefixes[i]))
            return true;
    return str_among(name, operators) || str_starts(name, "operator ") || !strcmp(name, "dim3");
}

bool node_is_change(const struct node *n)
{
    return n->kind == NODE_ASSIGN ||
           (n->kind == NODE_UNARY && (!strcmp(n->op, "++") || !strcmp(n->op, "--")));
}

bool scalar_is_word(enum scalar scalar)
{
    return scalar == SCALAR_I32 || scalar == SCALAR_U32 || scalar == SCALAR_I64 ||
           scalar == SCALAR_U64 || scalar == SCALAR_F32 || scalar == SCALAR_F64;
}

/* Is one of these nodes the variable's name? */
static bool names(const struct node *first, const struct node *decl)
{
    for (const struct node *n = first; n; n = n->next)
        if (n->kind == NODE_NAME && n->decl == decl)
            return true;
    return false;
}

bool node_assigns(const struct node *root, const struct node *decl)
{
    for (const struct node *n = root; n; n = node_next(root, n)) {
        const struct node *left = NULL;
        if (node_is_change(n))
            left = node_strip(n->child);
        else if (n->kind == NODE_UNARY && !strcmp(n->op, "&"))
            left = node_strip(n->child);
        else if (n->kind == NODE_CALL && str_starts(n->name, "operator") && strchr(n->name, '=') &&
                 !call_is_pure(n->name))
            left = node_strip(n->child);
        while (left && left->kind == NODE_MEMBER)
            left = node_strip(left->child);
        if (left && left->kind == NODE_NAME && left->decl == decl)
            return true;
        /* an unknown function may take it by reference */
        if (n->kind == NODE_CALL && !decl->type.is_pointer && names(n->child, decl) &&
            !call_is_pure(n->name) && !call_is_barrier(n->name) && !call_is_atomic(n->name))
            return true;
    }
    return false;
}

static bool is_address(const struct node *n)
{
    return n->kind == NODE_UNARY && !strcmp(n->op, "&");
}

/* Whether the memory at an address that is taken may be written. It is only read where the address
 * is read through at once, as in the casts *(const float4 *)&A[i] of vector loads. */
static bool address_may_write(const struct node *address)
{
    const struct node *up = address->parent;
    if (up->kind == NODE_CALL && call_is_pure(up->name))
        return false;
    while (up->kind == NODE_CAST || up->kind == NODE_PAREN)
        up = up->parent;
    const bool through = (up->kind == NODE_UNARY && !strcmp(up->op, "*")) || up->kind == NODE_INDEX;
    return !through || (up->parent->kind == NODE_ASSIGN && up->parent->child == up);
}

/* Whether the call may write the variable, or memory behind it, by one of its arguments. */
static bool call_may_write(const struct node *call, const struct node *decl)
{
    if (call_is_pure(call->name) || call_is_barrier(call->name))
        return false;
    for (const struct node *a = call->child; a; a = a->next)
        if (node_base(a) == decl &&
            (decl->type.is_pointer || decl->type.nr_dims || a->kind == NODE_NAME))
            return true;
    return false;
}

/* Whether n declares a second way to write the same memory: a pointer or a reference. */
static bool is_second_name(const struct node *n, const struct node *decl)
{
    if (n->kind != NODE_VAR || !(n->type.is_pointer || n->type.is_reference) || n->type.is_const ||
        !n->init)
        return false;
    const struct node *init = node_strip(n->init); /* a choice names both */
    return node_base(init) == decl ||
           (init->kind == NODE_COND && (node_base(init->child->next) == decl ||
                                           node_base(init->child->next->next) == decl));
}

bool node_writes(const struct node *root, const struct node *decl)
{
    for (const struct node *n = root; decl && n; n = node_next(root, n)) {
        if (node_is_change(n) && node_base(n->child) == decl)
            return true;
        if (is_address(n) && node_base(n->child) == decl && address_may_write(n))
            return true;
        if ((n->kind == NODE_CALL && call_may_write(n, decl)) || is_second_name(n, decl))
            return true;
    }
    return false;
}

bool node_is_single(const struct node *function, const struct node *decl)
{
    return decl && decl->kind == NODE_VAR && decl->init && !node_assigns(function->body, decl);
}

bool node_is_pure(const struct node *root)
{
    for (const struct node *n = root; n; n = node_next(root, n)) {
        if (node_is_change(n))
            return false;
        if (n->kind == NODE_CALL && !call_is_pure(n->name))
            return false;
    }
    return true;
}

static bool stores_memory(const struct node *root)
{
    for (const struct node *n = root; n; n = node_next(root, n)) {
        if (n->kind == NODE_CALL && !call_is_pure(n->name))
            return true;
        if (!node_is_change(n))
            continue;
        const struct node *left = node_strip(n->child);
        if (left && left->kind != NODE_NAME)
            return true;
    }
    return false;
}

bool node_is_load(const struct node *n)
{
    return n->kind == NODE_INDEX || (n->kind == NODE_UNARY && n->op && !strcmp(n->op, "*")) ||
           (n->kind == NODE_CALL && str_starts(n->name, "__ld"));
}

bool node_invariant(const struct node *n, const struct node *root, bool all_restrict)
{
    if (!node_is_pure(n))
        return false;
    for (const struct node *m = n; m; m = node_next(n, m)) {
        if (m->kind == NODE_NAME && m->decl) {
            if (node_assigns(root, m->decl))
                return false;
            /* a local that root declares has no value outside root */
            if (m->decl->kind == NODE_VAR && node_within(m->decl, root) && m->decl != n)
                return false;
        }
        if (node_is_load(m)) {
            const struct node *base = node_base(m);
            if (!base || node_has_barrier(root))
                return false;
            const bool constant = base->kind == NODE_PARAM && base->type.is_const;
            if (node_writes(root, base) || (stores_memory(root) && !(constant && all_restrict)))
                return false;
        }
    }
    return true;
}

/* --- loops --- */

bool node_is_loop(const struct node *n)
{
    return n->kind == NODE_FOR || n->kind == NODE_WHILE || n->kind == NODE_DO;
}

static bool leaves_early(const struct node *body)
{
    for (const struct node *n = body; n; n = node_next(body, n)) {
        if (n->kind == NODE_RETURN)
            return true;
        if (n->kind == NODE_BREAK) {
            const struct node *up = n->parent;
            while (up != body->parent && !node_is_loop(up) && up->kind != NODE_SWITCH)
                up = up->parent;
            if (up == body->parent)
                return true;
        }
    }
    return false;
}

static bool loop_step(struct for_loop *loop, const struct node *step)
{
    if (step->kind == NODE_UNARY && node_is_change(step) && node_base(step->child) == loop->var) {
        loop->down = step->op[0] == '-';
        return true;
    }
    if (step->kind != NODE_ASSIGN || node_base(step->child) != loop->var)
        return false;
    struct node *right = step->child->next;
    if (!strcmp(step->op, "+=") || !strcmp(step->op, "-=")) {
        loop->down = step->op[0] == '-';
        loop->step = right;
        return true;
    }
    const struct node *sum = node_strip(right);
    if (strcmp(step->op, "=") || sum->kind != NODE_BINARY || strcmp(sum->op, "+"))
        return false;
    if (node_strip(sum->child)->kind == NODE_NAME && node_strip(sum->child)->decl == loop->var) {
        loop->step = sum->child->next;
        return true;
    }
    return false;
}

bool node_loop(const struct node *n, struct for_loop *loop)
{
    *loop = (struct for_loop){.node = (struct node *)n};
    if (n->kind != NODE_FOR || !n->init || !n->cond || !n->step || !n->body)
        return false;
    if (n->init->kind == NODE_DECLS && n->init->nr_children == 1) {
        loop->var = n->init->child;
        loop->start = loop->var->init;
        loop->declares = true;
    } else if (n->init->kind == NODE_ASSIGN && !strcmp(n->init->op, "=")) {
        const struct node *left = node_strip(n->init->child);
        loop->var = left->kind == NODE_NAME ? left->decl : NULL;
        loop->start = n->init->child->next;
    }
    if (!loop->var || !loop->start || loop->var->type.is_pointer)
        return false;
    const struct node *cond = node_strip(n->cond);
    if (cond->kind != NODE_BINARY || node_strip(cond->child)->kind != NODE_NAME ||
        node_strip(cond->child)->decl != loop->var)
        return false;
    loop->compare = cond->op;
    loop->bound = cond->child->next;
    if (!strchr("<>!", cond->op[0]) || !strcmp(cond->op, "<<") || !strcmp(cond->op, ">>") ||
        node_uses(loop->bound, loop->var) || !loop_step(loop, n->step))
        return false;
    if (loop->step && node_uses(loop->step, loop->var))
        return false;
    loop->counted = !node_assigns(n->body, loop->var) && !leaves_early(n->body);
    return true;
}

bool node_loop_up(const struct node *n, struct for_loop *loop)
{
    return node_loop(n, loop) && loop->counted && loop->declares && !loop->down &&
           loop->compare[0] == '<';
}

bool node_innermost(const struct node *loop)
{
    for (const struct node *n = node_next(loop, loop); n; n = node_next(loop, n))
        if (node_is_loop(n))
            return false;
    return true;
}
