/* attention: recognises it in three launches. attention_code.c writes it as one. */
#include "propose/rewrite/attention.h"

#include "base/str.h"
#include "cuda/affine.h"
#include "propose/rewrite/flash.h"

#include <stdlib.h>
#include <string.h>

static bool refuse(struct attention *a, const char *why)
{
    return rewrite_refuse(
        a->in, a->out, "launches %u to %u are no attention: %s", a->launch + 1, a->launch + 3, why);
}

/* --- indices of different kernels, in the terms of their launches --- */

enum { MAX_WORDS = 12 };

/* A product of a number and of words, in order of the alphabet. */
struct word_product {
    int64_t factor;
    const char *words[MAX_WORDS];
    unsigned nr;
    bool other; /* it is something else */
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_word(struct word_product *p, const char *word)
{
    if (p->nr == MAX_WORDS)
        p->other = true;
    else
        p->words[p->nr++] = word;
}

/* Multiply by a text such as "H*S" or "64". */
static void times_text(const struct attention *a, struct word_product *p, const char *text)
{
    while (*text && !p->other) {
        size_t len = 0;
        while (str_word_char(text[len]) || text[len] == '.')
            len++;
        const char *word = arena_strndup(a->in->arena, text, len);
        if (len && extent_is_literal(word)) /* one that is too large becomes the largest */
            p->other |= __builtin_mul_overflow(p->factor, strtoll(word, NULL, 10), &p->factor) ||
                        p->factor == INT64_MAX;
        else if (len)
            add_word(p, word);
        else
            p->other = p->other || !strchr(" ()*", *text);
        text += len ? len : 1;
    }
}

static struct word_product product_of(const struct attention *a, const char *text)
{
    struct word_product p = {.factor = 1};
    times_text(a, &p, text);
    qsort(p.words, p.nr, sizeof p.words[0], by_text);
    return p;
}

static bool same(const struct word_product *a, const struct word_product *b)
{
    if (a->other || b->other || a->factor != b->factor || a->nr != b->nr)
        return false;
    for (unsigned i = 0; i < a->nr; i++)
        if (strcmp(a->words[i], b->words[i]) != 0)
            return false;
    return true;
}

static bool same_text(const struct attention *a, const char *one, const char *two)
{
    const struct word_product p = product_of(a, one), q = product_of(a, two);
    return same(&p, &q);
}

/* What an index is: the coefficients of the coordinates x, y, z, and of a counter. */
struct score_place {
    const char *of[NR_AXES]; /* "" where there is none */
    bool counter;            /* the counter stands there by itself */
};

static const char *joined(const struct attention *a, const char *const *words, unsigned nr)
{
    const char *text = nr ? words[0] : "1";
    for (unsigned i = 1; i < nr; i++)
        text = arena_printf(a->in->arena, "%s*%s", text, words[i]);
    return text;
}

/* One term of an index: a coordinate times something, or the counter. A coordinate of threads comes
 * as threadIdx.x and as blockIdx.x * blockDim.x. False: another term. */
static bool add_term(const struct attention *a, struct score_place *p, const struct monomial *term,
    const struct node *function, const struct launch_line *line, const char *counter)
{
    const char *words[AFFINE_MAX_FACTORS];
    unsigned nr = 0, axis = NR_AXES;
    bool thread = false, block = false, wide = false, is_counter = false;
    for (unsigned k = 0; k < term->nr; k++) {
        const struct affine_symbol *s = &term->symbols[k];
        const char *dot = strchr(s->text, '.');
        const char *given = s->decl ? launch_line_argument(line, function, s->decl) : NULL;
        if (s->node)
            return false;
        if (counter && !strcmp(s->text, counter)) {
            is_counter = true;
        } else if (dot && strlen(dot) == 2) {
            axis = (unsigned)(strchr(axis_names, dot[1]) - axis_names);
            thread |= str_starts(s->text, "threadIdx.");
            block |= str_starts(s->text, "blockIdx.");
            wide |= str_starts(s->text, "blockDim.");
        } else {
            words[nr++] = given ? given : s->text;
        }
    }
    if (is_counter)
        return p->counter = term->factor == 1 && nr == 0 && axis == NR_AXES;
    if (axis >= NR_AXES || term->factor != 1 || thread == block || (thread && wide))
        return false;
    const char *text = joined(a, words, nr);
    if (p->of[axis][0] && !same_text(a, p->of[axis], text))
        return false;
    p->of[axis] = text;
    return true;
}

/* Take an index of a kernel apart. False: it is not base[that]. */
static bool read_place(const struct attention *a, const struct node *function,
    const struct launch_line *line, const struct node *access, const struct node *param,
    const char *counter, struct score_place *p)
{
    const struct node *base;
    struct affine index;
    *p = (struct score_place){{"", "", ""}, false};
    access = node_strip(access);
    if (access->kind != NODE_INDEX ||
        !affine_access(a->in->tree, function, access, &base, &index) || base != param ||
        !index.known)
        return false;
    for (unsigned i = 0; i < index.nr; i++)
        if (!add_term(a, p, &index.terms[i], function, line, counter))
            return false;
    return true;
}

/* --- the two products --- */

/* The third axis, along z; NULL: there is none. */
static const struct form_axis *other_of(const struct contraction *c)
{
    return form_axis_along(&c->form, 2);
}

static bool read_product(
    struct attention *a, struct contraction *c, struct product *p, unsigned number)
{
    const struct node *function = rewrite_kernel(a->in, a->launch + number);
    const char *why = NULL;
    if (!function || rewrite_nr_launches_of(a->in, function) != 1 ||
        !contraction_read(c, a->in, (struct node *)function, &why) || !product_read(p, c, &why))
        return refuse(a, why ? why : "a kernel is launched twice");
    if (p->scalar != SCALAR_F32 || c->nr_outer || c->cond || c->rows || c->x->dim != 0 ||
        c->y->dim != 1 || c->x->block_only || c->y->block_only || c->form.nr_axes > 3 ||
        (c->form.nr_axes == 3 && !other_of(c)) || !extent_cond(&c->form, c->x->var) ||
        !extent_cond(&c->form, c->y->var) || c->form.nr_conds != 2 ||
        strcmp(tree_text(a->in->tree, c->loop.start), "0") != 0)
        return refuse(a, "a product is not f32 of rows and columns from 0 on");
    return true;
}

/* The one store of the first kernel: a statement of its own after the loop. */
static bool find_store(struct attention *a)
{
    const struct contraction *c = &a->scores;
    const struct node *function = c->form.function;
    for (unsigned i = c->loop_at + 1; i < c->form.nr_work; i++) {
        struct node *s = c->form.work[i];
        const struct node *base = s->kind == NODE_ASSIGN && s->child ? node_base(s->child) : NULL;
        if (base && base->kind == NODE_PARAM && !strcmp(s->op, "=") && !a->store) {
            a->store = s;
            a->stored = (struct node *)base;
        }
    }
    for (unsigned i = 0; i < function_nr_params(function); i++) {
        const struct node *p = function_param(function, i);
        if (node_writes(function->body, p) && p != a->stored)
            return refuse(a, "the first kernel stores more than scores");
    }
    if (!a->store || node_nr_uses(function->body, a->stored) != 1 ||
        a->store->child->type.scalar != SCALAR_F32)
        return refuse(a, "the first kernel does not store a score in f32");
    a->between =
        rewrite_array(a->in, a->launch, (unsigned)function_param_number(function, a->stored));
    return (a->between && a->between->role == ROLE_TEMP) || refuse(a, "the scores are no temp");
}

static bool find_read(struct attention *a)
{
    const struct node *load = product_load(a->second.a->node);
    struct node *base = load ? node_base(load) : NULL;
    const int number = base ? function_param_number(a->weigh.form.function, base) : -1;
    if (number < 0 || node_nr_uses(a->weigh.form.function->body, base) != 1)
        return refuse(a, "the third kernel's rows are no array");
    a->read = base;
    a->normalised = rewrite_array(a->in, a->launch + 2, (unsigned)number);
    return (a->normalised && a->normalised->role == ROLE_TEMP) ||
           refuse(a, "the third kernel's rows are no temp");
}

static unsigned nr_uses(const struct attention *a, const struct task_array *array)
{
    unsigned nr = 0;
    for (unsigned l = 0; l < a->in->plan->nr_launches; l++)
        for (unsigned j = 0; j < a->in->plan->launches[l].nr_args; j++)
            nr += rewrite_array(a->in, l, j) == array;
    return nr;
}

/* Whether what the third kernel stores is read by none of the three. */
static bool results_are_apart(const struct attention *a)
{
    const struct node *function = a->weigh.form.function;
    for (unsigned i = 0; i < function_nr_params(function); i++) {
        const struct task_array *array = rewrite_array(a->in, a->launch + 2, i);
        if (!array || !node_writes(function->body, function_param(function, i)))
            continue;
        for (unsigned k = 0; k < a->lines[0].nr_args; k++)
            if (rewrite_array(a->in, a->launch, k) == array)
                return false;
        if (array == a->between || array == a->normalised)
            return false;
    }
    return true;
}

/* --- the softmax --- */

/* What the loops of the second kernel have found so far. */
struct softmax_read {
    const struct node *largest, *sum, *inverse;
    const char *stride; /* elements of a row */
};

static bool is_var(const struct node *n, const struct node *decl)
{
    n = node_strip(n);
    return decl && n->kind == NODE_NAME && n->decl == decl;
}

/* Element `counter` of the thread's row; counter NULL: element 0. */
static bool is_element(struct attention *a, struct softmax_read *s, const struct node *n,
    const struct node *param, const char *counter)
{
    struct score_place p;
    if (!read_place(a, a->softmax.function, &a->lines[1], n, param, counter, &p) || p.of[1][0] ||
        p.of[2][0] || !p.of[0][0] || p.counter != (counter != NULL) ||
        (s->stride && !same_text(a, s->stride, p.of[0])))
        return false;
    s->stride = p.of[0];
    return true;
}

static bool is_call(const struct node *n, const char *const *names, unsigned nr_args)
{
    return n->kind == NODE_CALL && n->nr_children == nr_args && str_among(n->name, names);
}

/* exp(element - largest) */
static bool is_weight(struct attention *a, struct softmax_read *s, const struct node *n,
    const struct node *param, const char *counter)
{
    static const char *const names[] = {"expf", "__expf", "exp", NULL};
    n = node_strip(n);
    const struct node *d = is_call(n, names, 1) ? node_strip(n->child) : NULL;
    return d && d->kind == NODE_BINARY && !strcmp(d->op, "-") &&
           is_element(a, s, d->child, param, counter) && is_var(d->child->next, s->largest);
}

/* The nth statement of a loop's body; NULL: there is none. */
static const struct node *statement(const struct node *body, unsigned nth)
{
    if (body->kind != NODE_BLOCK)
        return nth ? NULL : body;
    return node_child(body, nth);
}

static bool is_assign(const struct node *n, const char *op)
{
    return n && n->kind == NODE_ASSIGN && !strcmp(n->op, op);
}

/* largest = fmaxf(largest, element) */
static bool read_largest(struct attention *a, struct softmax_read *s, const struct for_loop *loop)
{
    static const char *const names[] = {"fmaxf", "max", "fmax", NULL};
    const struct node *n = statement(loop->node->body, 0);
    if (!is_assign(n, "=") || statement(loop->node->body, 1) ||
        node_strip(n->child)->kind != NODE_NAME)
        return false;
    s->largest = node_strip(n->child)->decl;
    const struct node *call = node_strip(n->child->next), *first, *second;
    if (!s->largest || s->largest->kind != NODE_VAR || !s->largest->init ||
        !is_call(call, names, 2))
        return false;
    first = call->child;
    second = first->next;
    if (is_var(second, s->largest)) {
        second = first;
        first = call->child->next;
    }
    const char *start = tree_text(a->in->tree, loop->start),
               *init = tree_text(a->in->tree, s->largest->init);
    const bool from_first = is_element(a, s, s->largest->init, a->rows_read, NULL);
    return is_var(first, s->largest) && is_element(a, s, second, a->rows_read, loop->var->name) &&
           (!strcmp(start, "0") || (from_first && !strcmp(start, "1"))) &&
           (from_first || !strcmp(init, "-INFINITY") || !strcmp(init, "-FLT_MAX"));
}

/* w = exp(element - largest) is stored and added up: the weight may have a local for a name. */
static bool read_weights(struct attention *a, struct softmax_read *s, const struct for_loop *loop)
{
    const char *i = loop->var->name;
    const struct node *body = loop->node->body, *local = NULL, *n = statement(body, 0);
    bool stored = false, added = false;
    for (unsigned k = 0; (n = statement(body, k)); k++) {
        if (n->kind == NODE_DECLS && n->nr_children == 1 && n->child->init && !local &&
            is_weight(a, s, n->child->init, a->rows_read, i)) {
            local = n->child;
        } else if (is_assign(n, "=") && !stored && is_element(a, s, n->child, a->rows_written, i)) {
            stored =
                is_weight(a, s, n->child->next, a->rows_read, i) || is_var(n->child->next, local);
            if (!stored)
                return false;
        } else if (is_assign(n, "+=") && !added && node_strip(n->child)->kind == NODE_NAME) {
            s->sum = node_strip(n->child)->decl;
            added = is_var(n->child->next, local) ||
                    (stored && is_element(a, s, n->child->next, a->rows_written, i));
            if (!added)
                return false;
        } else {
            return false;
        }
    }
    const char *init = s->sum && s->sum->init ? tree_text(a->in->tree, s->sum->init) : "";
    static const char *const zeros[] = {"0", "0.0f", "0.f", NULL};
    return stored && added && s->sum->kind == NODE_VAR && str_among(init, zeros);
}

/* element /= sum, or element *= 1 / sum */
static bool read_division(struct attention *a, struct softmax_read *s, const struct for_loop *loop)
{
    const struct node *n = statement(loop->node->body, 0);
    const char *i = loop->var->name;
    if (!n || n->kind != NODE_ASSIGN || statement(loop->node->body, 1) ||
        !is_element(a, s, n->child, a->rows_written, i))
        return false;
    const struct node *by = n->child->next;
    const char *op = n->op;
    if (!strcmp(op, "=")) {
        by = node_strip(by);
        if (by->kind != NODE_BINARY || !is_element(a, s, by->child, a->rows_written, i))
            return false;
        op = !strcmp(by->op, "/") ? "/=" : !strcmp(by->op, "*") ? "*=" : "";
        by = by->child->next;
    }
    return (!strcmp(op, "/=") && is_var(by, s->sum)) ||
           (!strcmp(op, "*=") && is_var(by, s->inverse));
}

/* Locals beside the loops: the two that the loops change, and one over the sum. */
static bool read_locals(struct softmax_read *s, const struct node *decls)
{
    for (const struct node *v = decls->child; v; v = v->next) {
        const struct node *d = v->init ? node_strip(v->init) : NULL;
        if (v == s->largest || v == s->sum || !d)
            continue;
        if (!s->sum || d->kind != NODE_BINARY || strcmp(d->op, "/") != 0 ||
            d->child->kind != NODE_NUMBER ||
            !str_starts(d->child->name ? d->child->name : "1", "1") ||
            !is_var(d->child->next, s->sum))
            return false;
        s->inverse = v;
    }
    return true;
}

static bool read_loops(struct attention *a, struct softmax_read *s)
{
    const struct kernel_form *form = &a->softmax;
    unsigned nr = 0;
    /* the loops first: they say which locals there are */
    for (unsigned i = 0; i < form->nr_work; i++) {
        struct node *n = form->work[i];
        struct for_loop loop;
        if (n->kind == NODE_DECLS && nr == 2 && !read_locals(s, n))
            return false;
        if (n->kind == NODE_DECLS)
            continue;
        if (n->kind != NODE_FOR || !node_loop_up(n, &loop) || loop.step ||
            strcmp(loop.compare, "<") != 0 || node_strip(loop.bound)->kind != NODE_NAME)
            return false;
        const char *bound =
            launch_line_argument(&a->lines[1], form->function, node_strip(loop.bound)->decl);
        const char *start = tree_text(a->in->tree, loop.start);
        if (nr > 2 || (nr && strcmp(start, "0") != 0) ||
            !(nr == 0     ? read_largest(a, s, &loop)
                : nr == 1 ? read_weights(a, s, &loop)
                          : read_division(a, s, &loop)) ||
            !bound || !same_text(a, bound, s->stride))
            return false;
        nr++;
    }
    for (unsigned i = 0; i < form->nr_work; i++)
        if (form->work[i]->kind == NODE_DECLS && !read_locals(s, form->work[i]))
            return false;
    return nr == 3;
}

static struct node *param_of(const struct attention *a, const struct task_array *array)
{
    struct node *found = NULL;
    for (unsigned i = 0; i < function_nr_params(a->softmax.function); i++)
        if (rewrite_array(a->in, a->launch + 1, i) == array)
            found = function_param(a->softmax.function, i);
    return found;
}

static bool read_softmax(struct attention *a, const char **stride)
{
    struct node *function = rewrite_kernel(a->in, a->launch + 1);
    struct kernel_form *form = &a->softmax;
    struct softmax_read s = {.largest = NULL};
    const char *why = NULL;
    if (!function || rewrite_nr_launches_of(a->in, function) != 1 ||
        !kernel_form_read(form, a->in->tree, function, &why) || form->raw || form->nr_axes != 1 ||
        form->axes[0].dim || form->axes[0].block_only || form->nr_conds != 1 ||
        !extent_cond(form, form->axes[0].var) || form->nr_prologue > 1)
        return refuse(a, "the second kernel is not a row in each thread");
    a->rows_read = param_of(a, a->between);
    a->rows_written = param_of(a, a->normalised);
    if (!a->rows_read || !a->rows_written || !read_loops(a, &s))
        return refuse(a, "the second kernel is no softmax of its rows");
    *stride = s.stride;
    return true;
}

/* --- what belongs together --- */

/* Whether the rows that softmax goes over are all rows of the first product, and the third's. */
static bool rows_agree(struct attention *a, const char *stride)
{
    struct score_place stored, read;
    const struct contraction *c1 = &a->scores, *c2 = &a->weigh;
    const struct form_axis *z1 = other_of(c1), *z2 = other_of(c2);
    const char *rows = extent_text(a->in, &a->lines[0], &c1->form, c1->y),
               *keys = extent_text(a->in, &a->lines[0], &c1->form, c1->x);
    const struct node *bound = node_strip(c2->loop.bound);
    const char *summed = bound->kind == NODE_NAME
                             ? launch_line_argument(&a->lines[2], c2->form.function, bound->decl)
                             : NULL;
    if (!read_place(
            a, c1->form.function, &a->lines[0], a->store->child, a->stored, NULL, &stored) ||
        !read_place(a, c2->form.function, &a->lines[2], product_load(a->second.a->node), a->read,
            c2->loop.var->name, &read) ||
        strcmp(stored.of[0], "1") != 0 || read.of[0][0] || !read.counter)
        return false;
    if (!summed || !same_text(a, keys, stride) || !same_text(a, summed, stride) ||
        !same_text(a, stored.of[1], stride) || !same_text(a, read.of[1], stride) ||
        !same_text(a, rows, extent_text(a->in, &a->lines[2], &c2->form, c2->y)) || !z1 != !z2)
        return false;
    const char *all = rows;
    if (z1) {
        const char *matrices = extent_text(a->in, &a->lines[0], &c1->form, z1);
        const char *matrix = arena_printf(a->in->arena, "%s*%s", rows, stride);
        if (!same_text(a, matrices, extent_text(a->in, &a->lines[2], &c2->form, z2)) ||
            !same_text(a, stored.of[2], matrix) || !same_text(a, read.of[2], matrix))
            return false;
        all = arena_printf(a->in->arena, "%s*%s", rows, matrices);
    }
    return same_text(a, all, extent_text(a->in, &a->lines[1], &a->softmax, &a->softmax.axes[0]));
}

bool attention_read(struct attention *a)
{
    const char *stride = NULL;
    for (unsigned i = 0; i < 3; i++)
        if (!launch_line_read(a->in, a->launch + i, &a->lines[i], a->out) ||
            source_line_continues(a->in, a->in->plan->launches[a->launch + i].line))
            return refuse(a, "a launch cannot be read");
    if (!read_product(a, &a->scores, &a->first, 0) || !find_store(a) ||
        !read_product(a, &a->weigh, &a->second, 2) || !find_read(a) || !read_softmax(a, &stride))
        return false;
    const unsigned nr = nr_uses(a, a->between);
    if (a->between == a->normalised ? nr != 3 : nr != 2 || nr_uses(a, a->normalised) != 2)
        return refuse(a, "the scores are used elsewhere, too");
    if (!rows_agree(a, stride))
        return refuse(a, "the rows of the three are not the same");
    if (!results_are_apart(a))
        return refuse(a, "what is stored is read by others");
    return !a->in->task->inputs_nan || refuse(a, "elements beyond the edges may be NaN");
}

bool rewrite_attention(const struct rewrite_in *in, unsigned variant, struct rewrite_out *out)
{
    struct attention *a = arena_alloc(in->arena, sizeof *a);
    *a = (struct attention){.in = in, .out = out, .launch = variant};
    const unsigned triples = in->plan->nr_launches > 2 ? in->plan->nr_launches - 2 : 0;
    if (variant >= triples)
        return rewrite_flash(in, variant - triples, out);
    out->more = true;
    return attention_read(a) && attention_write(a);
}
